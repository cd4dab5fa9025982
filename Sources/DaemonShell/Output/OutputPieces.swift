internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Pieces of output as their readers get them: those who follow a task are mostly at the same place, and what is long
/// in JSON is written once for them.
struct OutputPieces {
    /// A piece of a task's output.
    struct Piece {
        let message: SharedMessage
        /// Where the next one is.
        let next: Int
    }

    private static let countMax = 8

    /// Those that were made last, the newest at the end.
    private var made: [(task: TaskID, position: Int, piece: Piece)] = []

    /// The piece at a position, or the first one behind it; `nil` at the end.
    mutating func piece(of task: TaskID, at position: Int, in log: OutputLog?) -> Piece? {
        if let known = made.last(where: { $0.task == task && $0.position == position }) {
            return known.piece
        }
        guard let found = log?.piece(at: position) else { return nil }
        var output = Tasks.Output.Output()
        output.stream = found.stream.rawValue
        output.text = String(decoding: found.bytes, as: UTF8.self)
        output.dropped = found.dropped > 0 ? found.dropped : nil
        let piece = Piece(message: SharedMessage(output), next: found.next)
        if made.count == OutputPieces.countMax { made.removeFirst() }
        made.append((task, position, piece))
        return piece
    }

    /// Forgets them, once nobody waits for any.
    mutating func removeAll() {
        if !made.isEmpty { made = [] }
    }
}
