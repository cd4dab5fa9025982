internal import Containers

// What the queue keeps of a task that waits.

extension TaskQueue {
    /// Where a task is.
    enum Place: Sendable {
        case nowhere
        /// Among those that wait for a time.
        case timed
        /// Behind its gate.
        case ready
    }

    struct Entry: Sendable {
        let rank: Rank
        let owner: OwnerID
        let gate: Int
        /// Beside it, since few have one.
        private let sharedLine: CopyOnWrite<LineKey>?
        var place = Place.nowhere
        var isInLine = false
        /// Whether it has waited for its own time.
        var isDue = false

        var line: LineKey? { sharedLine?.value }

        init(rank: Rank, owner: OwnerID, gate: Int, line: LineKey?) {
            self.rank = rank
            self.owner = owner
            self.gate = gate
            sharedLine = line.map { CopyOnWrite($0) }
        }
    }
}
