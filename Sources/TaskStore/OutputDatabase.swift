package import BudgetCore
internal import CSQLite

/// The output of tasks that have ended, and of those that one daemon leaves to the next, in a database of its own, so that
/// no commit of the tasks carries it.
///
/// A commit here is not brought to the disk at once (`synchronous = NORMAL`): a crash of the daemon loses nothing, a cut
/// of the power the last outputs. For one thread, which is that of the store.
package final class OutputDatabase {
    private let connection: Connection
    private var shares = OutputShares()

    /// Opens it, and makes it where there is none.
    ///
    /// - Parameters:
    ///   - first: the first id of this run. What is there of it or above is of other tasks, whose store is gone.
    ///   - vfs: the name of the layer below SQLite; `nil` is the system's own.
    package init(path: String, first: TaskID, vfs: String? = nil) throws(StoreError) {
        try StoreFile.makeMissing(path)
        connection = try Connection(path: path, flags: SQLITE_OPEN_READWRITE, vfs: vfs)
        let migration = Migration(
            connection: connection, applicationID: OutputSchema.applicationID,
            steps: OutputSchema.steps)
        let version = try migration.check()
        try connection.configureFile(journal: "wal")
        try connection.execute(
            "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = "
                + "\(connection.logBytes(atMost: Self.logBytesMax)); "
                + "PRAGMA cache_size = -2048", "open")
        try migration.run(from: version)
        try removeStrangers(from: first)
        try countShares()
    }

    private func removeStrangers(from first: TaskID) throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            for table in ["outputs", "chunks"] {
                let statement = try connection.statement(
                    "DELETE FROM \(table) WHERE task >= ?", "open")
                try statement.bind(Int64(clamping: first.rawValue))
                try statement.run()
            }
        }
    }

    private func countShares() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            let statement = try connection.statement(
                "SELECT owner, sum(size) FROM outputs INDEXED BY outputs_owner GROUP BY owner",
                "open")
            defer { statement.reset() }
            while try statement.step() {
                let owner = OwnerID(rawValue: UInt32(clamping: statement.integer(0) ?? 0))
                shares.add(Int(clamping: statement.integer(1) ?? 0), of: owner)
            }
        }
    }

    // MARK: - What is kept

    /// What all outputs take that are kept.
    package var keptBytes: Int { shares.total }

    /// Keeps outputs, the oldest end first: all of them, or none. One that is kept already stays as it is, unless it was
    /// handed over: then the new one takes its place.
    ///
    /// - Parameter isHandedOver: whether their tasks have not ended, and the next daemon is to go on with them.
    package func keep(
        _ outputs: [StoredOutput], isHandedOver: Bool = false
    ) throws(StoreError) {
        guard !outputs.isEmpty else { return }
        try checkRoom(for: outputs.reduce(0) { $0 + $1.size })
        var changes: [(owner: OwnerID, size: Int)] = []
        try connection.exclusively { () throws(StoreError) in
            try connection.transaction("keep output") { () throws(StoreError) in
                for output in outputs { try replace(output, isHandedOver, &changes) }
            }
        }
        for (owner, size) in changes { shares.add(size, of: owner) }
    }

    private func replace(
        _ output: StoredOutput, _ isHandedOver: Bool,
        _ changes: inout [(owner: OwnerID, size: Int)]
    ) throws(StoreError) {
        if try !insert(output, isHandedOver) {
            guard try self.isHandedOver(output.task),
                let earlier = try remove(Int64(clamping: output.task.rawValue))
            else { return }
            changes.append((earlier.owner, -earlier.size))
            guard try insert(output, isHandedOver) else { return }
        }
        changes.append((output.owner, output.size))
    }

    private func isHandedOver(_ task: TaskID) throws(StoreError) -> Bool {
        let statement = try connection.statement(
            "SELECT handed_over FROM outputs WHERE task = ?", "keep output")
        defer { statement.reset() }
        try statement.bind(Int64(clamping: task.rawValue))
        return try statement.step() && statement.integer(0) != 0
    }

    /// Refuses what would take the last room from the tasks: it goes to the write-ahead log and to the database.
    private func checkRoom(for bytes: Int) throws(StoreError) {
        guard let room = DiskSpace(of: connection.path)?.left,
            room < Self.roomLeftMin + 3 * bytes
        else { return }
        throw StoreError(
            cause: .diskFull, operation: "keep output", path: connection.path,
            text: "no space left on the disk (\(room) bytes)")
    }

    /// - Returns: whether it is new.
    private func insert(
        _ output: StoredOutput, _ isHandedOver: Bool
    ) throws(StoreError) -> Bool {
        let row = try connection.statement(
            "INSERT OR IGNORE INTO outputs "
                + "(task, owner, start_byte, end_byte, size, times, handed_over) "
                + "VALUES (?, ?, ?, ?, ?, ?, ?)", "keep output")
        try row.bind(Int64(clamping: output.task.rawValue))
        try row.bind(Int64(output.owner.rawValue))
        try row.bind(Int64(output.start))
        try row.bind(Int64(output.end))
        try row.bind(Int64(output.size))
        try row.bind(output.times.bytes)
        try row.bind(isHandedOver ? 1 : 0)
        try row.run()
        guard connection.changedRows > 0 else { return false }
        let statement = try connection.statement(
            "INSERT INTO chunks (task, start_byte, text, runs) VALUES (?, ?, ?, ?)", "keep output")
        for chunk in output.chunks {
            try statement.bind(Int64(clamping: output.task.rawValue))
            try statement.bind(Int64(chunk.start))
            try statement.bind(chunk.text)
            try statement.bind(
                chunk.runs.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
            try statement.run()
        }
        return true
    }

    /// Takes what an earlier daemon handed over of the tasks that it left. It stays here until their ends, for a daemon
    /// after this one that finds nothing newer.
    ///
    /// - Parameter live: the tasks that have not ended. What there is of others is as of ended ones from now on.
    package func takeHandedOver(of live: Set<TaskID>) throws(StoreError) -> [HandedOverOutput] {
        var taken: [HandedOverOutput] = []
        try connection.exclusively { () throws(StoreError) in
            try connection.transaction("take output over") { () throws(StoreError) in
                let queries = OutputQueries(connection)
                for (task, owner, isTaken) in try queries.handedOver() {
                    try mark(task, live.contains(task) ? 2 : 0)
                    guard live.contains(task) else { continue }
                    // One that makes no sense is as good as lost.
                    guard let output = try? queries.whole(of: task, owner) else { continue }
                    taken.append(HandedOverOutput(output: output, isLatest: !isTaken))
                }
            }
        }
        return taken
    }

    private func mark(_ task: TaskID, _ value: Int64) throws(StoreError) {
        let statement = try connection.statement(
            "UPDATE outputs SET handed_over = ? WHERE task = ?", "take output over")
        try statement.bind(value)
        try statement.bind(Int64(clamping: task.rawValue))
        try statement.run()
    }

    /// Forgets the outputs of tasks that the history has forgotten; those of which none is kept are passed over.
    package func forget(_ tasks: [TaskID]) throws(StoreError) {
        guard !tasks.isEmpty else { return }
        var gone: [(owner: OwnerID, size: Int)] = []
        try connection.exclusively { () throws(StoreError) in
            try connection.transaction("forget output") { () throws(StoreError) in
                for task in tasks {
                    if let share = try remove(Int64(clamping: task.rawValue)) { gone.append(share) }
                }
            }
        }
        for (owner, size) in gone { shares.add(-size, of: owner) }
    }

    private func remove(_ task: Int64) throws(StoreError) -> (owner: OwnerID, size: Int)? {
        let row = try connection.statement(
            "SELECT owner, size FROM outputs WHERE task = ?", "forget output")
        defer { row.reset() }
        try row.bind(task)
        guard try row.step() else { return nil }
        let owner = OwnerID(rawValue: UInt32(clamping: row.integer(0) ?? 0))
        let size = Int(clamping: row.integer(1) ?? 0)
        row.reset()
        for table in ["outputs", "chunks"] {
            let statement = try connection.statement(
                "DELETE FROM \(table) WHERE task = ?", "forget output")
            try statement.bind(task)
            try statement.run()
        }
        return (owner, size)
    }

    /// The tasks of which output is kept, in the order of their ids.
    package func tasks(after task: TaskID, countMax: Int) throws(StoreError) -> [TaskID] {
        try connection.exclusively { () throws(StoreError) in
            let statement = try connection.statement(
                "SELECT task FROM outputs WHERE task > ? ORDER BY task LIMIT ?", "read output")
            defer { statement.reset() }
            try statement.bind(Int64(clamping: task.rawValue))
            try statement.bind(Int64(countMax))
            var tasks: [TaskID] = []
            while try statement.step() {
                tasks.append(TaskID(rawValue: UInt64(clamping: statement.integer(0) ?? 0)))
            }
            return tasks
        }
    }

    // MARK: - Its bounds

    /// Removes some of what is too much, on this disk: the oldest of who has most; then gives room that has become free back to the
    /// file system. To be called again until it is complete.
    ///
    /// - Returns: whether nothing is left to do.
    package func prune(to bounds: HistoryBounds) throws(StoreError) -> Bool {
        let bounds = bounds.limited(toDiskOf: connection.path)
        guard let (owner, bytes) = shares.excess(over: bounds.outputBytesMax, bounds.accounts)
        else {
            return try connection.exclusively { () throws(StoreError) in
                try !connection.giveRoomBack()
            }
        }
        let oldest = try oldest(of: owner, bytes: bytes)
        try forget(oldest)
        return oldest.isEmpty
    }

    /// Makes room on a full disk: removes some of it, however far within its bounds that is, of who has most the oldest,
    /// and gives the room back to the file system. The reserve of the store is to be given up before.
    ///
    /// - Parameter bytes: about how much is to go.
    /// - Returns: of how many tasks it is gone.
    package func makeRoom(_ bytes: Int, _ accounts: Accounts) -> Int {
        let kept = DiskSpace(of: connection.path)?.keptPast ?? 0
        let wanted = max(shares.total - bytes, kept)
        var (count, rows) = (0, RowsAtOnce())
        try? checkpoint()
        while shares.total > wanted, let (owner, bytes) = shares.excess(over: wanted, accounts) {
            do throws(StoreError) {
                let oldest = try oldest(of: owner, bytes: bytes, countMax: rows.count)
                guard !oldest.isEmpty else { break }
                try forget(oldest)
                count += oldest.count
                rows.fitted()
            } catch {
                guard error.cause == .diskFull, rows.didNotFit() else { break }
            }
            try? checkpoint()
        }
        try? connection.exclusively { () throws(StoreError) in try connection.giveAllRoomBack() }
        return count
    }

    private func checkpoint() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            try connection.checkpoint(isLast: false)
        }
    }

    /// The oldest of an owner, until what they take is enough.
    private func oldest(
        of owner: OwnerID, bytes: Int, countMax: Int = removedAtOnce
    ) throws(StoreError) -> [TaskID] {
        try connection.exclusively { () throws(StoreError) in
            let statement = try connection.statement(
                "SELECT task, size FROM outputs INDEXED BY outputs_owner WHERE owner = ? "
                    + "ORDER BY number LIMIT ?", "forget output")
            defer { statement.reset() }
            try statement.bind(Int64(owner.rawValue))
            try statement.bind(Int64(countMax))
            var tasks: [TaskID] = []
            var taken = 0
            while taken < bytes, try statement.step() {
                tasks.append(TaskID(rawValue: UInt64(clamping: statement.integer(0) ?? 0)))
                taken += Int(clamping: statement.integer(1) ?? 0)
            }
            return tasks
        }
    }

    // MARK: - The write-ahead log

    /// Brings the log into the database when it has grown; to be called after what writes.
    package func checkpointIfDue() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            guard connection.logPages >= Self.logPagesDue else { return }
            try connection.checkpoint(isLast: false)
        }
    }

    /// Brings all of the log into the database and ends it. Readers end first.
    package func close() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in
            defer { connection.close() }
            try connection.checkpoint(isLast: true)
        }
    }

    private static let logPagesDue = 1000
    private static let logBytesMax = 16_777_216
    private static let removedAtOnce = 64
    /// What the disk has to have besides.
    private static let roomLeftMin = 1_048_576
}
