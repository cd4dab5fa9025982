internal import BudgetCore

/// What can be asked of a database; each runs while its caller holds the connection.
struct TaskQueries {
    let connection: Connection

    private static let columns = ColumnNames.ofTask.joined(separator: ", ")

    /// Queued and started tasks in the order of their ids, with their attempts.
    func live() throws(StoreError) -> [StoredTask] {
        try withAttempts(
            tasks(
                "SELECT \(Self.columns) FROM tasks INDEXED BY tasks_live "
                    + "WHERE ended_at_us IS NULL ORDER BY id"))
    }

    /// A task with its attempts, where it is this owner's; `nil`: whosever it is.
    func task(_ id: TaskID, of owner: OwnerID?) throws(StoreError) -> StoredTask? {
        let sql = "SELECT \(Self.columns) FROM tasks WHERE id = ?"
        let number = SQLValue.number(Int64(clamping: id.rawValue))
        guard let owner else { return try withAttempts(tasks(sql, [number])).first }
        return try withAttempts(
            tasks(sql + " AND owner = ?", [number, .number(Int64(owner.rawValue))])
        ).first
    }

    private func withAttempts(_ tasks: [StoredTask]) throws(StoreError) -> [StoredTask] {
        var tasks = tasks
        for index in tasks.indices where tasks[index].attempt > 1 {
            let task = tasks[index]
            // A reader may see attempts that have ended since it read the task.
            tasks[index].attempts = try attempts(of: task.id).filter { $0.attempt < task.attempt }
        }
        return tasks
    }

    /// The attempts after which a task was queued again, from the first.
    func attempts(of id: TaskID) throws(StoreError) -> [StoredAttempt] {
        let sql =
            "SELECT attempt, started_at_us, \(ColumnNames.ofEnd.joined(separator: ", ")) "
            + "FROM attempts WHERE task = ? ORDER BY attempt"
        let statement = try connection.statement(sql, "read")
        defer { statement.reset() }
        try statement.bind(Int64(clamping: id.rawValue))
        let check = RowCheck(path: connection.path, subject: "an attempt of task \(id)")
        var attempts: [StoredAttempt] = []
        while try statement.step() {
            var reader = ColumnReader(statement: statement, path: connection.path, next: 2)
            var row = EndRow()
            try row.visit(&reader)
            attempts.append(
                StoredAttempt(
                    attempt: Int(statement.integer(0) ?? 0),
                    startedAt: statement.integer(1).map(WallTime.init(microseconds:)),
                    end: try check.known(row.end(check), "ended_at_us")))
        }
        return attempts
    }

    func endedCount() throws(StoreError) -> Int {
        Int(
            try connection.number(
                "SELECT count(*) FROM tasks INDEXED BY tasks_ended "
                    + "WHERE ended_at_us IS NOT NULL", "read"))
    }

    /// How many ended tasks each owner has; the index alone is read.
    func endedCounts() throws(StoreError) -> [OwnerID: Int] {
        let statement = try connection.statement(
            "SELECT owner, count(*) FROM tasks INDEXED BY tasks_ended_owner "
                + "WHERE ended_at_us IS NOT NULL GROUP BY owner", "read")
        defer { statement.reset() }
        var counts: [OwnerID: Int] = [:]
        while try statement.step() {
            let owner = OwnerID(rawValue: UInt32(clamping: statement.integer(0) ?? 0))
            counts[owner, default: 0] += Int(clamping: statement.integer(1) ?? 0)
        }
        return counts
    }

    /// What an ended task takes.
    func keptRow(_ id: Int64) throws(StoreError) -> KeptRow? {
        let statement = try connection.statement(
            "SELECT \(SQL.keptRow) FROM tasks WHERE id = ? AND ended_at_us IS NOT NULL", "read")
        try statement.bind(id)
        return try KeptRow.only(of: statement)
    }

    /// What the next ended tasks take in the order of their ids, by their owners.
    ///
    /// - Returns: with the last of these ids; `nil` where there are no more.
    func keptBytes(
        after id: Int64, rowsMax: Int
    ) throws(StoreError) -> (bytes: [OwnerID: Int], last: Int64?) {
        let statement = try connection.statement(
            "SELECT \(SQL.keptRow), ended_at_us IS NULL FROM tasks WHERE id > ? ORDER BY id LIMIT ?",
            "read")
        defer { statement.reset() }
        try statement.bind(id)
        try statement.bind(Int64(rowsMax))
        var bytes: [OwnerID: Int] = [:]
        var (last, count) = (id, 0)
        while try statement.step() {
            let row = KeptRow(statement)
            (last, count) = (row.id, count + 1)
            if statement.integer(3) == 0 { bytes[row.owner, default: 0] += row.bytes }
        }
        return (bytes, count < rowsMax ? nil : last)
    }

    /// The tasks that a statement answers with, whose columns are those of a row.
    func tasks(
        _ sql: String, _ parameters: [SQLValue] = []
    ) throws(StoreError) -> [StoredTask] {
        let statement = try connection.statement(sql, "read")
        defer { statement.reset() }
        for parameter in parameters { try statement.bind(parameter) }
        var tasks: [StoredTask] = []
        while try statement.step() {
            var reader = ColumnReader(statement: statement, path: connection.path)
            var row = TaskRow()
            try row.visit(&reader)
            tasks.append(try row.task(connection.path))
        }
        return tasks
    }
}

/// An ended task, and what it takes on the disk.
struct KeptRow {
    let id: Int64
    let owner: OwnerID
    let bytes: Int

    /// From the columns of `SQL.keptRow`, which come first.
    init(_ statement: Statement) {
        id = statement.integer(0) ?? 0
        owner = OwnerID(rawValue: UInt32(clamping: statement.integer(1) ?? 0))
        bytes = Int(clamping: statement.integer(2) ?? 0)
    }

    /// The only one that a statement answers with, where it does; the statement is run to its end.
    static func only(of statement: Statement) throws(StoreError) -> KeptRow? {
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let row = KeptRow(statement)
        while try statement.step() {}
        return row
    }
}

/// A parameter of a statement that is put together.
enum SQLValue {
    case number(Int64)
    case text(String)
}

extension Statement {
    /// Gives the next parameter.
    func bind(_ value: SQLValue) throws(StoreError) {
        switch value {
        case .number(let number): try bind(number)
        case .text(let text): try bind(text)
        }
    }
}
