internal import BudgetCore
internal import TaskAPI

/// Where a list of applications has come to, which is one answer.
struct ApplicationListCursor {
    /// Applications that are looked at before others have their turn.
    private static let pieceMax = 8
    /// What an application takes in memory until the answer is made, about.
    private static let overhead = 512

    private var keys: ArraySlice<ApplicationKey>
    var found: [Applications.Application] = []

    init(_ keys: [ApplicationKey]) {
        self.keys = keys[...]
    }

    var isAtEnd: Bool { keys.isEmpty }

    /// What it holds in memory, about.
    var heldBytes: Int { (keys.count + found.count) * ApplicationListCursor.overhead }

    /// Those whose turn it is.
    mutating func nextKeys() -> ArraySlice<ApplicationKey> {
        let next = keys.prefix(ApplicationListCursor.pieceMax)
        keys = keys.dropFirst(next.count)
        return next
    }
}
