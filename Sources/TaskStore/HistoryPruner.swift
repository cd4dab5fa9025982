package import BudgetCore

/// What a step of `TaskStore.prune` came to.
package struct PruneStep: Equatable, Sendable {
    /// The ended tasks that it removed.
    package let tasks: [TaskID]
    /// Whether nothing is left to do.
    package let isComplete: Bool

    package var removed: Int { tasks.count }
}

/// Keeps the history within its bounds, a step at a time.
///
/// `@unchecked Sendable`: used only by who holds the connection.
final class HistoryPruner: @unchecked Sendable {
    private let connection: Connection
    private let account: HistoryAccount
    private let spans: SpanHistory
    private let successes: SuccessQueries
    private let successWrites: SuccessWrites
    private let removal: TaskRemoval

    init(
        _ connection: Connection, _ account: HistoryAccount, _ spans: SpanHistory
    ) throws(StoreError) {
        self.connection = connection
        self.account = account
        self.spans = spans
        successes = SuccessQueries(connection)
        successWrites = try SuccessWrites(connection, account)
        removal = try TaskRemoval(connection, account)
    }

    /// One step: removes what is too old, then what is too much, then cuts the file. See `TaskStore.prune`.
    func step(
        to bounds: HistoryBounds, at now: WallTime, rowsMax: Int
    ) throws(StoreError) -> PruneStep {
        // Beside the tasks, and in each step: tasks that are too many are not to keep spans from being pruned, nor the
        // other way round.
        let hadSpans = try removesSpans(to: bounds, at: now, rowsMax: rowsMax)
        if let removed = try remove(old(bounds, at: now, rowsMax: rowsMax)) { return removed }
        let over = try successes.over(at: now, rowsMax: rowsMax)
        if let removed = try remove(over.map { .success($0) }) { return removed }
        if try countsBytes(for: bounds) { return PruneStep(tasks: [], isComplete: false) }
        if let removed = try remove(excess(over: bounds, rowsMax: rowsMax)) { return removed }
        let hasMore = try connection.giveRoomBack() || hadSpans
        return PruneStep(tasks: [], isComplete: !hasMore)
    }

    /// What all of the history takes on the disk, about; counts all of it, where that was not done.
    func countedBytes() throws(StoreError) -> Int {
        while !account.isComplete {
            try account.countBytes(rowsMax: HistoryPruner.rowsCountedAtOnce)
        }
        return account.bytes
    }

    /// Removes some of what is within the bounds, of those who have most the oldest.
    ///
    /// - Parameters:
    ///   - bytes: about how much is to go.
    ///   - bytesKept: what stays in any case.
    /// - Returns: the tasks that are gone; `nil` where no more may go.
    func relieve(
        of bytes: Int, keeping bytesKept: Int, _ bounds: HistoryBounds, rowsMax: Int
    ) throws(StoreError) -> [TaskID]? {
        var tight = bounds
        tight.countMax = .max
        tight.bytesMax = max(try countedBytes() - bytes, bytesKept)
        return try remove(excess(over: tight, rowsMax: rowsMax))?.tasks
    }

    /// - Returns: whether some spans of applications were too old, or too many.
    private func removesSpans(
        to bounds: HistoryBounds, at now: WallTime, rowsMax: Int
    ) throws(StoreError) -> Bool {
        let excess = try spans.excess(over: bounds, at: now, rowsMax: rowsMax)
        guard !excess.isEmpty else { return false }
        spans.begin()
        try connection.transaction("prune") { () throws(StoreError) in
            try spans.remove(excess)
        }
        spans.committed()
        return true
    }

    private func remove(_ excess: [Kept]) throws(StoreError) -> PruneStep? {
        guard !excess.isEmpty else { return nil }
        try account.transaction("prune") { () throws(StoreError) in
            for kept in excess { try remove(kept) }
        }
        return PruneStep(tasks: excess.compactMap(\.task), isComplete: false)
    }

    /// Removes an ended task, or forgets a success.
    private func remove(_ kept: Kept) throws(StoreError) {
        switch kept {
        case .task(let row): try removal.remove(row)
        case .success(let success):
            try successWrites.forget(success)
            if connection.changedRows > 0 { account.remove(kept) }
        }
    }

    /// Ended tasks that are older than they may be.
    private func old(
        _ bounds: HistoryBounds, at now: WallTime, rowsMax: Int
    ) throws(StoreError) -> [Kept] {
        guard let ageMax = bounds.ageMax else { return [] }
        let statement = try connection.statement(
            "SELECT \(SQL.keptRow) FROM tasks INDEXED BY tasks_ended "
                + "WHERE ended_at_us IS NOT NULL AND ended_at_us < ? "
                + "ORDER BY ended_at_us, id LIMIT ?", "prune")
        try statement.bind(now.earlier(by: ageMax).microseconds)
        try statement.bind(Int64(rowsMax))
        return try rows(of: statement, bytesMax: .max).map { .task($0) }
    }

    /// Counts the bytes that each owner has, where the file holds more than the history may take.
    ///
    /// - Returns: whether there is more to be counted.
    private func countsBytes(for bounds: HistoryBounds) throws(StoreError) -> Bool {
        guard !account.isComplete else { return false }
        let used = try connection.number("PRAGMA page_count", "prune") - connection.freePages()
        let bytes = try used * connection.number("PRAGMA page_size", "prune")
        guard bytes > Int64(clamping: bounds.bytesMax) else { return false }
        try account.countBytes(rowsMax: HistoryPruner.rowsCountedAtOnce)
        return !account.isComplete
    }

    /// What is to be removed from those who have most.
    private func excess(
        over bounds: HistoryBounds, rowsMax: Int
    ) throws(StoreError) -> [Kept] {
        var excess: [Kept] = []
        defer { for kept in excess { account.putBack(kept) } }
        var taken: [OwnerID: (tasks: Int, successes: Int)] = [:]
        for _ in 0..<HistoryPruner.ownersAtOnce where excess.count < rowsMax {
            guard let next = account.excess(over: bounds) else { break }
            var before = taken[next.owner] ?? (0, 0)
            let found = try oldest(next, behind: before, rowsMax: rowsMax - excess.count)
            guard !found.isEmpty else { break }
            for kept in found { account.setAside(kept) }
            let tasks = found.reduce(0) { $0 + $1.taskCount }
            before = (before.tasks + tasks, before.successes + found.count - tasks)
            taken[next.owner] = before
            excess += found
        }
        return excess
    }

    /// The oldest that an owner has, after what is chosen already. Ended tasks are removed before any success, because a
    /// success still holds tasks back.
    private func oldest(
        _ excess: HistoryShares.Excess, behind taken: (tasks: Int, successes: Int), rowsMax: Int
    ) throws(StoreError) -> [Kept] {
        let statement = try connection.statement(
            "SELECT \(SQL.keptRow) FROM tasks INDEXED BY tasks_ended_owner "
                + "WHERE owner = ? AND ended_at_us IS NOT NULL "
                + "ORDER BY ended_at_us, id LIMIT ? OFFSET ?", "prune")
        try statement.bind(Int64(excess.owner.rawValue))
        try statement.bind(Int64(min(excess.countMax, rowsMax)))
        try statement.bind(Int64(taken.tasks))
        let rows = try rows(of: statement, bytesMax: excess.bytesMax)
        guard rows.isEmpty else { return rows.map { .task($0) } }
        return try successes.oldest(
            of: excess.owner, behind: taken.successes, rowsMax: rowsMax, bytesMax: excess.bytesMax
        ).map { .success($0) }
    }

    /// The rows that a statement answers with, until what they take is enough.
    private func rows(of statement: Statement, bytesMax: Int) throws(StoreError) -> [KeptRow] {
        defer { statement.reset() }
        var rows: [KeptRow] = []
        var bytes = 0
        while bytes < bytesMax, try statement.step() {
            rows.append(KeptRow(statement))
            bytes += rows[rows.endIndex - 1].bytes
        }
        return rows
    }

    /// Rows whose bytes are counted in a step, and owners who lose some.
    private static let rowsCountedAtOnce = 1000
    private static let ownersAtOnce = 64
}
