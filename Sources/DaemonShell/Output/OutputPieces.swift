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
        let piece = Piece(message: SharedMessage(Tasks.Output.Output(found)), next: found.next)
        if made.count == OutputPieces.countMax { made.removeFirst() }
        made.append((task, position, piece))
        return piece
    }

    /// Forgets them, once nobody waits for any.
    mutating func removeAll() {
        if !made.isEmpty { made = [] }
    }
}

extension Tasks.Output.Output {
    /// A piece of a task's output.
    init(_ piece: OutputLog.Piece) {
        self.init()
        stream = piece.stream.rawValue
        text = String(decoding: piece.bytes, as: UTF8.self)
        dropped = piece.dropped > 0 ? piece.dropped : nil
        next = piece.next
    }

    /// The last reply, for a reader who has come to a position.
    init(end: Int, from position: Int) {
        self.init()
        stream = OutputStream.stdout.rawValue
        dropped = end > position ? end - position : nil
        next = max(position, end)
    }
}
