internal import BudgetCore

/// The statements that change the store; each runs inside a transaction.
///
/// `@unchecked Sendable`: used only by who holds the connection.
final class TaskWrites: @unchecked Sendable {
    /// Ended tasks in the database, as of the last commit.
    private(set) var endedCount: Int
    private var endedSince = 0
    private let connection: Connection
    private let insert: Statement
    private let start: Statement
    private let undoStart: Statement
    private let end: Statement
    private let succeed: Statement
    private let succeedAgain: Statement
    private let keepAttempt: Statement
    private let requeue: Statement
    private let reserve: Statement
    private let remove: Statement
    private let removeAttempts: Statement

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        endedCount = try TaskQueries(connection: connection).endedCount()
        insert = try connection.statement(SQL.insert, "submit")
        start = try connection.statement(SQL.start, "start")
        undoStart = try connection.statement(SQL.undoStart, "undo the start")
        end = try connection.statement(SQL.end, "end")
        succeed = try connection.statement(SQL.succeed, "end")
        succeedAgain = try connection.statement(SQL.succeedAgain, "end")
        keepAttempt = try connection.statement(SQL.keepAttempt, "queue again")
        requeue = try connection.statement(SQL.requeue, "queue again")
        reserve = try connection.statement(SQL.reserve, "reserve ids")
        remove = try connection.statement("DELETE FROM tasks WHERE id = ?", "prune")
        removeAttempts = try connection.statement("DELETE FROM attempts WHERE task = ?", "prune")
    }

    /// Does all of `body` in one transaction, or nothing.
    func transaction(
        _ operation: String, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        endedSince = 0
        try connection.transaction(operation, body)
        endedCount += endedSince
    }

    func write(_ change: StoreChange) throws(StoreError) {
        switch change {
        case .submitted(let task): try write(task)
        case .started(let id, let time):
            try start.bind(Int64(clamping: id.rawValue))
            try start.bind(time.microseconds)
            try start.run()
            try checkChanged(id, "queued", "start")
        case .startUndone(let id):
            try undoStart.bind(Int64(clamping: id.rawValue))
            try undoStart.run()
            try checkChanged(id, "started", "undo the start")
        case .ended(let id, let end): try write(end, of: id)
        case .requeued(let id, let requeue): try write(requeue, of: id)
        case .identifiersReserved(let id):
            try reserve.bind(Int64(clamping: id.rawValue))
            try reserve.run()
        }
    }

    /// Writes what nobody reads; SQLite leaves out what would stay the same.
    func probe() throws(StoreError) {
        try connection.statement("UPDATE probes SET count = count + 1", "probe").run()
    }

    /// Removes an ended task.
    func remove(_ id: Int64) throws(StoreError) {
        try remove.bind(id)
        try remove.run()
        endedSince -= connection.changedRows
        try removeAttempts.bind(id)
        try removeAttempts.run()
    }

    private func write(_ task: StoredTask) throws(StoreError) {
        var row = TaskRow(task)
        var binder = ColumnBinder(statement: insert)
        try row.visit(&binder)
        try insert.run()
        guard let end = task.end else { return }
        endedSince += 1
        try noteSuccess(task.id, end)
    }

    private func write(_ value: StoredEnd, of id: TaskID) throws(StoreError) {
        var row = EndRow(value)
        var binder = ColumnBinder(statement: end)
        try row.visit(&binder)
        try end.bind(Int64(clamping: id.rawValue))
        try end.run()
        try checkChanged(id, "queued or started", "end")
        endedSince += 1
        try noteSuccess(id, value)
    }

    /// An interval runs from the last success, of whatever task of that owner and name.
    private func noteSuccess(_ id: TaskID, _ end: StoredEnd) throws(StoreError) {
        guard end.outcome == .completed else { return }
        try succeedAgain.bind(Int64(clamping: id.rawValue))
        try succeedAgain.bind(end.at.microseconds)
        try succeedAgain.run()
        try succeed.bind(Int64(clamping: id.rawValue))
        try succeed.run()
    }

    private func write(_ value: StoredRequeue, of id: TaskID) throws(StoreError) {
        var row = EndRow(value.end)
        var binder = ColumnBinder(statement: keepAttempt)
        try keepAttempt.bind(Int64(clamping: id.rawValue))
        try row.visit(&binder)
        try keepAttempt.run()
        try checkChanged(id, "started", "queue again")
        try requeue.bind(Int64(clamping: id.rawValue))
        try requeue.bind(Int64(value.attempt))
        try requeue.bind(value.end.at.microseconds)
        try requeue.bind(value.earliestBegin.map(milliseconds))
        try requeue.run()
    }

    private func checkChanged(
        _ id: TaskID, _ state: String, _ operation: String
    ) throws(StoreError) {
        guard connection.changedRows == 0 else { return }
        throw StoreError(
            cause: .contradiction, operation: operation, path: connection.path,
            text: "task \(id) is not \(state) in the store")
    }
}

/// The texts of the statements that change the store.
private enum SQL {
    private static let endColumns = ColumnNames.ofEnd
    private static let taskColumns = ColumnNames.ofTask

    static let insert =
        "INSERT INTO tasks (\(taskColumns.joined(separator: ", "))) VALUES "
        + "(\(taskColumns.map { _ in "?" }.joined(separator: ", ")))"

    static let start =
        "UPDATE tasks SET started_at_us = ?2 "
        + "WHERE id = ?1 AND started_at_us IS NULL AND ended_at_us IS NULL"

    static let undoStart =
        "UPDATE tasks SET started_at_us = NULL "
        + "WHERE id = ? AND started_at_us IS NOT NULL AND ended_at_us IS NULL"

    /// Of a long command its first word is kept.
    static let end =
        "UPDATE tasks SET \(endColumns.map { "\($0) = ?" }.joined(separator: ", ")), "
        + "environment = NULL, handler_command = NULL, "
        + "command = CASE WHEN length(command) <= \(commandLengthMax) THEN command "
        + "ELSE json_array(substr(json_extract(command, '$[0]'), 1, \(commandLengthMax)), '…') "
        + "END WHERE id = ? AND ended_at_us IS NULL"

    private static let commandLengthMax = 4096

    static let succeed =
        "INSERT INTO last_successes SELECT owner, name, ended_at_us, minimum_interval_ms "
        + "FROM tasks WHERE id = ? AND minimum_interval_ms IS NOT NULL "
        + "ON CONFLICT (owner, name) DO UPDATE SET ended_at_us = excluded.ended_at_us, "
        + "minimum_interval_ms = max(minimum_interval_ms, excluded.minimum_interval_ms)"

    static let succeedAgain =
        "UPDATE last_successes SET ended_at_us = ?2 "
        + "WHERE (owner, name) = (SELECT owner, name FROM tasks WHERE id = ?1)"

    static let keepAttempt =
        "INSERT INTO attempts (task, attempt, started_at_us, "
        + "\(endColumns.joined(separator: ", "))) SELECT id, attempt, started_at_us, "
        + "\(endColumns.indices.map { "?\($0 + 2)" }.joined(separator: ", ")) FROM tasks "
        + "WHERE id = ?1 AND started_at_us IS NOT NULL AND ended_at_us IS NULL"

    static let requeue =
        "UPDATE tasks SET attempt = ?2, queued_at_us = ?3, earliest_begin_ms = ?4, "
        + "started_at_us = NULL WHERE id = ?1"

    static let reserve = "UPDATE identifiers SET reserved_through = ?"
}
