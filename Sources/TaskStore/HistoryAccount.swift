internal import BudgetCore

/// How much of each owner's past is kept, as of the last commit. Those who write and those who remove share it.
///
/// `@unchecked Sendable`: used only by who holds the connection.
final class HistoryAccount: @unchecked Sendable {
    private let connection: Connection
    private let tasks: TaskQueries
    private let successes: SuccessQueries
    private var shares: HistoryShares
    /// What the transaction under way has changed, which counts when it is committed.
    private var pending: [(owner: OwnerID, change: HistoryShares.Share)] = []

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        tasks = TaskQueries(connection)
        successes = SuccessQueries(connection)
        shares = HistoryShares(counts: try tasks.endedCounts())
    }

    /// Ended tasks in the database.
    var endedCount: Int { shares.total.count }

    /// What all of it takes on the disk, as far as it is counted.
    var bytes: Int { shares.total.bytes }

    /// Whether it is known what all of it takes on the disk.
    var isComplete: Bool { shares.isComplete }

    /// Does all of `body` in one transaction, or nothing.
    func transaction(
        _ operation: String, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        pending.removeAll(keepingCapacity: true)
        try connection.transaction(operation, body)
        for (owner, change) in pending { shares.add(change, of: owner) }
    }

    /// In the transaction under way something is kept from now on.
    func add(_ kept: Kept) { pending.append((kept.owner, shares.share(of: kept, count: 1))) }

    /// In the transaction under way something goes.
    func remove(_ kept: Kept) { pending.append((kept.owner, shares.share(of: kept, count: -1))) }

    /// Counts what some rows take that were not counted yet.
    func countBytes(rowsMax: Int) throws(StoreError) {
        switch shares.counted {
        case .tasks(let id):
            let (bytes, last) = try tasks.keptBytes(after: id, rowsMax: rowsMax)
            shares.count(
                bytes, through: last.map { .tasks(through: $0) } ?? .successes(through: nil))
        case .successes(let success):
            let (bytes, last) = try successes.bytes(after: success, rowsMax: rowsMax)
            shares.count(bytes, through: last.map { .successes(through: $0) } ?? .all)
        case .all: break
        }
    }

    /// What of the history is to go first.
    func excess(over bounds: HistoryBounds) -> HistoryShares.Excess? {
        shares.excess(over: bounds)
    }

    /// Counts something as gone while more is chosen that is to go with it.
    func setAside(_ kept: Kept) {
        shares.add(shares.share(of: kept, count: -1), of: kept.owner)
    }

    /// Undoes `setAside`.
    func putBack(_ kept: Kept) {
        shares.add(shares.share(of: kept, count: 1), of: kept.owner)
    }
}
