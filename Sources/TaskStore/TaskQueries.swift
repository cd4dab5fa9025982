internal import BudgetCore

/// What can be asked of a database; each runs while its caller holds the connection.
struct TaskQueries {
    let connection: Connection

    private static let columns = ColumnNames.ofTask.joined(separator: ", ")

    /// Queued and started tasks in the order of their ids.
    func live() throws(StoreError) -> [StoredTask] {
        try tasks(
            "SELECT \(Self.columns) FROM tasks INDEXED BY tasks_live "
                + "WHERE ended_at_us IS NULL ORDER BY id")
    }

    /// A task, where it is this owner's; `nil`: whosever it is.
    func task(_ id: TaskID, of owner: OwnerID?) throws(StoreError) -> StoredTask? {
        let sql = "SELECT \(Self.columns) FROM tasks WHERE id = ?"
        let number = SQLValue.number(Int64(clamping: id.rawValue))
        guard let owner else { return try tasks(sql, [number]).first }
        return try tasks(sql + " AND owner = ?", [number, .number(Int64(owner.rawValue))]).first
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

extension TaskQueries {
    /// When a task of this owner and name last completed; `nil` where none is known.
    func lastSuccess(owner: OwnerID, name: String) throws(StoreError) -> StoredSuccess? {
        if let kept = try successes("owner = ? AND name = ?", owner, name).first { return kept }
        let statement = try connection.statement(
            "SELECT ended_at_us FROM tasks INDEXED BY tasks_ended_name "
                + "WHERE ended_at_us IS NOT NULL AND name = ? AND owner = ? AND outcome = 0 "
                + "ORDER BY ended_at_us DESC LIMIT 1", "read")
        defer { statement.reset() }
        try statement.bind(name)
        try statement.bind(Int64(owner.rawValue))
        guard try statement.step(), let time = statement.integer(0) else { return nil }
        return StoredSuccess(
            owner: owner, name: name, endedAt: WallTime(microseconds: time), minimumInterval: .zero)
    }

    /// The last successes from which a minimum interval may still run, by owner and name.
    func lastSuccesses() throws(StoreError) -> [StoredSuccess] {
        try successes("true", nil, nil)
    }

    private func successes(
        _ condition: String, _ owner: OwnerID?, _ name: String?
    ) throws(StoreError) -> [StoredSuccess] {
        let statement = try connection.statement(
            "SELECT owner, name, ended_at_us, minimum_interval_ms FROM last_successes "
                + "WHERE \(condition) ORDER BY owner, name", "read")
        defer { statement.reset() }
        if let owner, let name {
            try statement.bind(Int64(owner.rawValue))
            try statement.bind(name)
        }
        let check = RowCheck(path: connection.path, subject: "a last success")
        var successes: [StoredSuccess] = []
        while try statement.step() {
            let owner: UInt32? = try check.number(statement.integer(0), "owner")
            successes.append(
                StoredSuccess(
                    owner: OwnerID(rawValue: try check.known(owner, "owner")),
                    name: try check.known(statement.text(1), "name"),
                    endedAt: WallTime(microseconds: statement.integer(2) ?? 0),
                    minimumInterval: .milliseconds(statement.integer(3) ?? 0)))
        }
        return successes
    }
}
