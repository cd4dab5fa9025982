package import BudgetCore

/// Answers questions about stored tasks on a thread of its own: with a connection that only reads, so that
/// it never holds up who writes, nor is held up. A store in memory has one connection for both.
package final class HistoryReader: Sendable {
    private let connection: Connection
    private let queries: TaskQueries
    private let spanQueries: SpanQueries
    private let submissions: SubmissionQueries
    // Keeps a store in memory alive, and the lock on the folder.
    private let store: TaskStore
    /// Whether the connection is the store's own.
    private let isShared: Bool

    init(_ connection: Connection, of store: TaskStore, isShared: Bool) {
        self.connection = connection
        self.store = store
        self.isShared = isShared
        queries = TaskQueries(connection)
        spanQueries = SpanQueries(connection)
        submissions = SubmissionQueries(connection)
    }

    /// A page of the ended tasks that the filter lets through, newest end first.
    ///
    /// - Parameter cursor: where the page before ended; `nil`: from the newest.
    package func history(
        _ filter: HistoryFilter = HistoryFilter(),
        after cursor: HistoryCursor? = nil,
        countMax: Int
    ) throws(StoreError) -> HistoryPage {
        try connection.exclusively { () throws(StoreError) in
            try queries.history(filter, after: cursor, countMax: countMax)
        }
    }

    /// A page of the spans of applications that have ended and that the filter lets through, newest end first.
    ///
    /// - Parameters:
    ///   - last: the highest number of a span that is asked for.
    ///   - cursor: where the page before ended; `nil`: from the newest.
    package func spans(
        _ filter: SpanFilter = SpanFilter(), through last: UInt64 = UInt64(Int64.max),
        after cursor: SpanCursor? = nil, countMax: Int
    ) throws(StoreError) -> SpanPage {
        try connection.exclusively { () throws(StoreError) in
            try spanQueries.page(filter, through: last, after: cursor, countMax: countMax)
        }
    }

    /// A task with its attempts, queued, started or ended; `nil` where there is none, or no longer.
    ///
    /// - Parameter owner: whose it is, where another's is to take no longer than none; `nil`: anybody's.
    package func task(_ id: TaskID, of owner: OwnerID? = nil) throws(StoreError) -> StoredTask? {
        try connection.exclusively { () throws(StoreError) in try queries.task(id, of: owner) }
    }

    /// A task of an owner, with what it was submitted with; `nil` where there is none, or no longer.
    package func submission(
        _ id: TaskID, of owner: OwnerID
    ) throws(StoreError) -> EndedSubmission? {
        try connection.exclusively { () throws(StoreError) in
            try submissions.submission(id, of: owner)
        }
    }

    /// Those of some ids that are ended tasks of an owner, or of anybody.
    package func ended(
        of ids: [TaskID], owner: OwnerID?
    ) throws(StoreError) -> Set<TaskID> {
        try connection.exclusively { () throws(StoreError) in
            var ended: Set<TaskID> = []
            for id in ids {
                guard let row = try queries.keptRow(Int64(clamping: id.rawValue)),
                    owner == nil || row.owner == owner
                else { continue }
                ended.insert(id)
            }
            return ended
        }
    }

    /// The attempts after which a task was queued again, from the first.
    package func attempts(of id: TaskID) throws(StoreError) -> [StoredAttempt] {
        try connection.exclusively { () throws(StoreError) in try queries.attempts(of: id) }
    }

    /// How many ended tasks are kept.
    package func endedCount() throws(StoreError) -> Int {
        try connection.exclusively { () throws(StoreError) in try queries.endedCount() }
    }

    /// Ends the connection; a store in memory keeps its own.
    package func close() throws(StoreError) {
        guard !isShared else { return }
        try connection.exclusively { () throws(StoreError) in connection.close() }
    }
}
