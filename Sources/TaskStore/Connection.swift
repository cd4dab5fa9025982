internal import CSQLite
internal import Glibc

/// One connection to a database, for one thread at a time.
///
/// `@unchecked Sendable`: the connection, its statements and what it counts are touched only by who holds
/// `mutex`, which is what `exclusively` is for.
final class Connection: @unchecked Sendable {
    let path: String
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var handle: OpaquePointer?
    private var statements: [String: Statement] = [:]
    /// Whether commits wait for the disk.
    private var waits = true
    /// Pages in the write-ahead log after the last commit that wrote.
    fileprivate(set) var logPages = 0

    /// Has SQLite not count its memory, which nobody asks for and which takes a seventh of an insertion. If something
    /// else in the process has used SQLite before, it goes on counting, which does no harm.
    private static let countsNoMemory = csqlite_count_no_memory() == SQLITE_OK

    /// How long a statement waits for another process that writes.
    private static let busyMilliseconds: Int32 = 2000

    /// - Parameters:
    ///   - flags: `SQLITE_OPEN_…`.
    ///   - vfs: SQLite's name of the layer below it; `nil` is the system's own.
    init(path: String, flags: Int32, vfs: String? = nil) throws(StoreError) {
        self.path = path
        _ = Connection.countsNoMemory
        pthread_mutex_init(mutex, nil)
        var opened: OpaquePointer?
        errno = 0
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, vfs)
        handle = opened
        guard code == SQLITE_OK else {
            throw StoreError(
                code: code, errno: errno, handle: opened, operation: "open", path: path)
        }
        sqlite3_extended_result_codes(opened, 1)
        sqlite3_busy_timeout(opened, Connection.busyMilliseconds)
        // Unretained: the hook is called from statements of this connection, which ends with this object.
        sqlite3_wal_hook(
            opened,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages =
                    Int(pages)
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        close()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread uses the connection.
    func exclusively<Result>(
        _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Ends the connection; whatever is asked of it afterwards throws.
    func close() {
        for statement in statements.values { statement.finish() }
        statements.removeAll()
        sqlite3_close_v2(handle)
        handle = nil
    }

    /// Settings that the file itself keeps; they come before the first table.
    func configureFile(journal: String) throws(StoreError) {
        try execute("PRAGMA auto_vacuum = INCREMENTAL", "open")
        let statement = try statement("PRAGMA journal_mode = \(journal)", "open")
        defer { statement.reset() }
        guard try statement.step(), statement.text(0) == journal else {
            throw StoreError(
                cause: .other, operation: "open", path: path,
                text: "this file system cannot hold the database (no write-ahead log); "
                    + "give --state-dir a folder on a local disk")
        }
    }

    /// Runs statements that answer nothing.
    func execute(_ sql: String, _ operation: String) throws(StoreError) {
        let handle = try open(operation)
        errno = 0
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, operation) }
    }

    /// The statement with this text. It is prepared once and kept, so there must be few different texts.
    func statement(_ sql: String, _ operation: String) throws(StoreError) -> Statement {
        if let statement = statements[sql] { return statement }
        let handle = try open(operation)
        var prepared: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        errno = 0
        let code = sqlite3_prepare_v3(handle, sql, -1, flags, &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw error(code, operation) }
        let statement = Statement(prepared, of: self, operation)
        statements[sql] = statement
        return statement
    }

    /// The number that a statement answers with.
    func number(_ sql: String, _ operation: String) throws(StoreError) -> Int64 {
        let statement = try statement(sql, operation)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Does all of `body` in one transaction, or nothing of it.
    ///
    /// After an error the connection is in no transaction. The changes of a failed commit are not there, for other
    /// connections neither. Only a crash before the next commit may bring them back, where the disk took them and
    /// answered with an error.
    func transaction(
        _ operation: String, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try run("BEGIN IMMEDIATE", operation)
            try body()
            try run("COMMIT", operation)
        } catch {
            // SQLite itself has rolled back after some errors.
            if let handle, sqlite3_get_autocommit(handle) == 0 {
                sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            }
            throw error
        }
    }

    /// Does what may be lost if the machine stops at once, and never if this process does: its commits do not wait for
    /// the disk.
    func withoutWaiting(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try execute("PRAGMA synchronous = NORMAL", "commit")
        waits = false
        // Where that fails, the next commit that has to wait refuses instead.
        defer { try? waitAgain() }
        try body()
    }

    /// Has commits wait for the disk, after some that did not.
    func waitAgain() throws(StoreError) {
        guard !waits else { return }
        try execute("PRAGMA synchronous = FULL", "commit")
        waits = true
    }

    /// Reads what belongs together as it is at one moment.
    func snapshot<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try run("BEGIN", "read")
        do throws(StoreError) {
            let result = try body()
            try run("COMMIT", "read")
            return result
        } catch {
            if let handle, sqlite3_get_autocommit(handle) == 0 {
                sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            }
            throw error
        }
    }

    /// Brings what is in the write-ahead log into the database.
    ///
    /// - Parameter isLast: waits for readers, and leaves an empty log.
    func checkpoint(isLast: Bool) throws(StoreError) {
        let mode = isLast ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        var pages: Int32 = 0
        var written: Int32 = 0
        let handle = try open("checkpoint")
        errno = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &written)
        guard code == SQLITE_OK else { throw error(code, "checkpoint") }
        // While a reader keeps the log from being started anew, the count stays.
        if written == pages { logPages = 0 }
    }

    /// The error of a call that has just failed, before which `errno` was 0.
    func error(_ code: Int32, _ operation: String) -> StoreError {
        StoreError(code: code, errno: errno, handle: handle, operation: operation, path: path)
    }

    /// How many rows the last statement has changed.
    var changedRows: Int { Int(sqlite3_changes(handle)) }

    private func run(_ sql: String, _ operation: String) throws(StoreError) {
        let statement = try statement(sql, operation)
        defer { statement.reset() }
        _ = try statement.step(as: operation)
    }

    private func open(_ operation: String) throws(StoreError) -> OpaquePointer {
        guard let handle else {
            throw StoreError(
                cause: .closed, operation: operation, path: path, text: "the store is closed")
        }
        return handle
    }
}
