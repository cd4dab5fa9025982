package import BudgetCore
internal import CSQLite

/// What must survive a restart: run tasks, their ends, intervals, paused groups, applications, and the ids
/// that may have been used.
///
/// One database, `tasks.db`, whose layout is written in it (`sqlite3 tasks.db .schema`). Changes are on
/// disk when `apply` returns. Calls wait for the disk, so they belong on a thread of their own; calls from
/// several threads wait for one another.
package final class TaskStore: Sendable {
    /// When what `apply` has taken is safe.
    package enum Durability: Sendable {
        /// When `apply` returns: the disk has it.
        case commit
        /// Never: there is no file, and the path means nothing.
        case memory
    }

    private let connection: Connection
    private let queries: TaskQueries
    private let successes: SuccessQueries
    private let account: HistoryAccount
    private let spans: SpanHistory
    private let writes: TaskWrites
    private let pruner: HistoryPruner
    private let isInMemory: Bool
    private let reserve: KeptReserve
    private let vfs: String?
    private let file: FolderLock

    /// Keeps the lock on the folder until the store is closed, or gone.
    ///
    /// `@unchecked Sendable`: let go only by who holds the connection.
    private final class FolderLock: @unchecked Sendable {
        private var file: StoreFile?

        init(_ file: consuming StoreFile?) {
            self.file = file
        }

        func release() {
            file = nil
        }
    }

    /// The room that is kept for a full disk.
    ///
    /// `@unchecked Sendable`: used only by who holds the connection.
    private final class KeptReserve: @unchecked Sendable {
        var value: StoreReserve

        init(_ value: StoreReserve) {
            self.value = value
        }
    }

    /// Opens a store, and makes it where there is none.
    ///
    /// A file that is damaged, of another program or of a later version is refused and left as it is.
    ///
    /// - Parameter vfs: the name of the layer below SQLite; `nil` is the system's own.
    /// - Throws: a `StoreError` whose text is one line for people, with what to do.
    package static func open(
        path: String,
        durability: Durability,
        vfs: String? = nil
    ) throws(StoreError) -> TaskStore {
        switch durability {
        case .commit:
            let file = try StoreFile(path)
            let connection = try Connection(
                path: path, flags: SQLITE_OPEN_READWRITE, vfs: vfs)
            return try TaskStore(connection, FolderLock(file), vfs: vfs)
        case .memory:
            let connection = try Connection(
                path: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
            return try TaskStore(connection, FolderLock(nil), isInMemory: true)
        }
    }

    private init(
        _ connection: Connection, _ file: FolderLock, isInMemory: Bool = false, vfs: String? = nil
    ) throws(StoreError) {
        self.connection = connection
        self.file = file
        self.isInMemory = isInMemory
        self.vfs = vfs
        reserve = KeptReserve(StoreReserve(beside: connection.path))
        let migration = Migration(connection: connection)
        let version = try migration.check()
        try TaskStore.configure(connection, journal: isInMemory ? "memory" : "wal")
        try migration.run(from: version)
        queries = TaskQueries(connection)
        successes = SuccessQueries(connection)
        account = try HistoryAccount(connection)
        spans = try SpanHistory(connection)
        writes = try TaskWrites(connection, account)
        pruner = try HistoryPruner(connection, account, spans)
    }

    private static func configure(
        _ connection: Connection, journal: String
    ) throws(StoreError) {
        try connection.configureFile(journal: journal)
        try connection.execute(
            "PRAGMA synchronous = FULL; "
                + "PRAGMA journal_size_limit = \(connection.logBytes(atMost: logBytesMax)); "
                + "PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY", "open")
    }

    /// What the write-ahead log takes at most once it has been brought into the database.
    private static let logBytesMax = 67_108_864

    /// Writes all of it, or nothing.
    ///
    /// - Parameter spans: of applications, which are written with them.
    /// - Returns: what was found on the way that the writer needs.
    /// - Throws: what kept it from the disk. Nothing has changed then, and the store goes on: the same
    ///   changes may be given again.
    @discardableResult
    package func apply(
        _ changes: [StoreChange], with spans: [StoredSpan] = []
    ) throws(StoreError) -> Applied {
        var applied = Applied()
        guard !changes.isEmpty else {
            try keep(spans)
            return applied
        }
        try connection.exclusively { () throws(StoreError) in
            try connection.waitAgain()
            self.spans.begin()
            try account.transaction("commit") { () throws(StoreError) in
                try writes.write(changes, &applied)
                try self.spans.write(spans)
                try checkRoomForLog()
            }
            self.spans.committed()
        }
        return applied
    }

    /// Writes spans of applications, all of them or none. They survive the process at once, and the machine with the
    /// next changes: nothing waits for the disk.
    package func keep(_ spans: [StoredSpan]) throws(StoreError) {
        guard !spans.isEmpty else { return }
        try connection.exclusively { () throws(StoreError) in
            self.spans.begin()
            try connection.withoutWaiting { () throws(StoreError) in
                try connection.transaction("save spans") { () throws(StoreError) in
                    try self.spans.write(spans)
                }
            }
            self.spans.committed()
        }
    }

    /// How many spans of applications are kept that have ended.
    package func endedSpanCount() throws(StoreError) -> Int {
        try connection.exclusively { () throws(StoreError) in spans.endedCount }
    }

    /// What an earlier daemon wrote of spans that went on.
    package func openSpans() throws(StoreError) -> OpenSpans {
        try connection.exclusively { () throws(StoreError) in
            try SpanQueries(connection).open()
        }
    }

    /// Whether the store takes changes again; really writes, and changes nothing that matters.
    ///
    /// A disk that is full may have room for this one write and for nothing after it, so some room is asked
    /// for too.
    package func probe() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            try account.transaction("probe") { () throws(StoreError) in
                try writes.probe()
            }
            try checkRoom(Self.roomMin, "probe")
        }
    }

    /// Bytes that a commit of some tasks takes.
    private static let roomMin = 131_072

    private func checkRoom(_ bytes: Int, _ operation: String) throws(StoreError) {
        guard !isInMemory, let left = DiskSpace(of: connection.path)?.left, left < bytes
        else { return }
        throw StoreError(
            cause: .diskFull, operation: operation, path: connection.path,
            text: "no space left on the disk (\(left) bytes)")
    }

    /// Refuses a commit that the disk has room for in the log and not in the database: as long as the log cannot be brought
    /// into that, it grows with whatever is written, also with what is to make room.
    private func checkRoomForLog() throws(StoreError) {
        guard !isInMemory else { return }
        let pages = try connection.number("PRAGMA page_count", "commit")
        let bytes = Int(clamping: pages * (try connection.number("PRAGMA page_size", "commit")))
        let growth = bytes - StoreFile.size(ofDatabase: connection.path)
        guard growth > max(reserve.value.bytes, Self.growthUnchecked) else { return }
        // For the log, and for the database.
        try checkRoom(2 * growth, "commit")
    }

    /// By how much the database may grow with what is in its log without a look at the disk.
    private static let growthUnchecked = 1_048_576

    /// What there is of it, and room for more.
    package func use() throws(StoreError) -> StoreUse {
        let endedCount = try endedCount()
        guard !isInMemory else { return StoreUse(endedCount: endedCount) }
        return StoreUse(
            endedCount: endedCount, fileBytes: StoreFile.size(of: connection.path),
            freeBytes: DiskSpace(of: connection.path)?.left)
    }

    /// How many ended tasks are kept.
    package func endedCount() throws(StoreError) -> Int {
        try connection.exclusively { () throws(StoreError) in account.endedCount }
    }

    /// Ids up to this one may have been used.
    package func reservedIdentifiers() throws(StoreError) -> TaskID {
        try connection.exclusively { () throws(StoreError) in
            let number = try connection.number(
                "SELECT max(reserved_through, (SELECT coalesce(max(id), 0) FROM tasks)) "
                    + "FROM identifiers", "read")
            return TaskID(rawValue: UInt64(max(number, 0)))
        }
    }

    /// The number of the state folder that the store is in.
    package func identity() throws(StoreError) -> StateFolderIdentity {
        try connection.exclusively { () throws(StoreError) in try queries.identity() }
    }

    // MARK: - What is kept

    /// Queued and started tasks in the order of their ids, with their attempts; what a restart begins with.
    package func live() throws(StoreError) -> [StoredTask] {
        try connection.exclusively { () throws(StoreError) in try queries.live() }
    }

    /// When a task of this owner and name last ended as `completed`; `nil` where none is known.
    ///
    /// Known as long as the longest interval lasts for which tasks of this name have waited or asked, and
    /// beyond that as long as the history goes back.
    package func lastSuccess(owner: OwnerID, name: String) throws(StoreError) -> WallTime? {
        try connection.exclusively { () throws(StoreError) in
            try successes.lastSuccess(owner: owner, name: name)
        }
    }

    /// The same for each of these tasks that has a minimum interval; where none is known it is left out.
    package func lastSuccesses(of tasks: [StoredTask]) throws(StoreError) -> [TaskID: WallTime] {
        try connection.exclusively { () throws(StoreError) in
            try successes.lastSuccesses(of: tasks)
        }
    }

    /// The groups that are paused, in the order of their names.
    package func pausedGroups() throws(StoreError) -> [String] {
        try connection.exclusively { () throws(StoreError) in try queries.pausedGroups() }
    }

    /// The owners whose tasks are paused, in the order of their uids.
    package func pausedOwners() throws(StoreError) -> [OwnerID] {
        try connection.exclusively { () throws(StoreError) in try queries.pausedOwners() }
    }

    /// How many slots there are by order.
    package func slotOrders() throws(StoreError) -> SlotOrders {
        try connection.exclusively { () throws(StoreError) in try queries.slotOrders() }
    }

    /// What tasks that have not ended come after, with how it ended.
    package func dependencies() throws(StoreError) -> [TaskID: [Dependency]] {
        try connection.exclusively { () throws(StoreError) in try queries.dependencies() }
    }

    /// All applications, in the order of their owners and of their ids.
    package func applications() throws(StoreError) -> [StoredApplication] {
        try connection.exclusively { () throws(StoreError) in try queries.applications() }
    }

    /// Reads what is committed, for another thread.
    package func historyReader() throws(StoreError) -> HistoryReader {
        if isInMemory { return HistoryReader(connection, of: self, isShared: true) }
        let own = try Connection(path: connection.path, flags: SQLITE_OPEN_READONLY, vfs: vfs)
        return HistoryReader(own, of: self, isShared: false)
    }

    // MARK: - The bounds of the history

    /// Removes some of what is out of the bounds, as they are on this disk: what is too old, and of those owners who have
    /// most the oldest ends, until all together are within the bounds; then gives room that has become free back to
    /// the file system, where it is much. One short transaction each: to be called again until it is complete,
    /// with commits between.
    ///
    /// The file stays within what the bounds need: removed rows leave pages that new ones take, and where
    /// more than a quarter is free the file is cut (`auto_vacuum = INCREMENTAL`).
    package func prune(
        to bounds: HistoryBounds, at now: WallTime, rowsMax: Int = 500
    ) throws(StoreError) -> PruneStep {
        try connection.exclusively { () throws(StoreError) in
            try pruner.step(to: limited(bounds), at: now, rowsMax: rowsMax)
        }
    }

    /// The bounds that hold on the disk that the store is on.
    package func limited(_ bounds: HistoryBounds) -> HistoryBounds {
        isInMemory ? bounds : bounds.limited(toDiskOf: connection.path)
    }

    // MARK: - A full disk

    /// Takes some room for `makeRoom`, where it has none.
    ///
    /// - Parameter isBack: whether that was given up just now, and nothing came of it; else only where the disk has plenty.
    package func takeReserve(back isBack: Bool = false) {
        guard !isInMemory else { return }
        try? connection.exclusively { () throws(StoreError) in reserve.value.take(back: isBack) }
    }

    /// Gives that up, where the disk is full.
    package func giveUpReserve() {
        try? connection.exclusively { () throws(StoreError) in reserve.value.giveUp() }
    }

    /// What all of the history takes on the disk, about.
    package func historyBytes() throws(StoreError) -> Int {
        try connection.exclusively { () throws(StoreError) in try pruner.countedBytes() }
    }

    /// Makes room on a full disk: removes some of the history, however far within its bounds that is, of those who have
    /// most the oldest, and gives the room back to the file system. The reserve is to be given up before.
    ///
    /// - Parameter bytes: about how much is to go.
    /// - Returns: the tasks that are gone; `nil` where no more may go, or nothing can.
    package func makeRoom(_ bytes: Int, _ bounds: HistoryBounds) -> [TaskID]? {
        guard !isInMemory else { return nil }
        let kept = DiskSpace(of: connection.path)?.keptPast ?? 0
        return try? connection.exclusively { () throws(StoreError) -> [TaskID]? in
            var gone: [TaskID]?
            // What is in the log is brought into the database each time: the log has room for the next then.
            try? connection.checkpoint(isLast: false)
            let before = try pruner.countedBytes()
            var rows = RowsAtOnce()
            while let left = try? bytes - (before - pruner.countedBytes()), left > 0 {
                do throws(StoreError) {
                    guard
                        let some = try pruner.relieve(
                            of: left, keeping: kept, bounds, rowsMax: rows.count)
                    else { break }
                    gone = (gone ?? []) + some
                    rows.fitted()
                } catch {
                    guard error.cause == .diskFull, rows.didNotFit() else { break }
                }
                try? connection.checkpoint(isLast: false)
            }
            try? connection.giveAllRoomBack()
            return gone
        }
    }

    /// Those of some ids that are no task's, or no longer.
    package func unknown(of ids: [TaskID]) throws(StoreError) -> [TaskID] {
        try connection.exclusively { () throws(StoreError) in
            var unknown: [TaskID] = []
            for id in ids where try !queries.isThere(id) { unknown.append(id) }
            return unknown
        }
    }

    // MARK: - The write-ahead log

    /// Brings the log into the database when it has grown. To be called after each `apply`, when the
    /// answers have left, for it may take longer than a commit; nothing else keeps the log short.
    package func checkpointIfDue() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            guard connection.logPages >= TaskStore.logPagesDue else { return }
            try connection.checkpoint(isLast: false)
        }
    }

    /// Brings as much of the log into the database as readers let through.
    package func checkpoint() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            try connection.checkpoint(isLast: false)
        }
    }

    /// Brings all of the log into the database and ends the store. Readers of the history end first.
    ///
    /// What the checkpoint throws costs nothing that was committed: the next start reads the log.
    package func close() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            defer {
                connection.close()
                file.release()
            }
            reserve.value.giveUp()
            try connection.checkpoint(isLast: true)
        }
    }

    private static let logPagesDue = 1000
}
