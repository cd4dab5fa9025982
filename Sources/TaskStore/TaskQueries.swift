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
