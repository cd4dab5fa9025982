/// New tasks on their way into the table, several of them in one statement.
///
/// A statement opens the table and each of its indexes anew, which takes longer than to write a row.
struct TaskInserts {
    /// How many rows a statement takes, the most first.
    private static let rowCounts = [8, 4, 2, 1]

    private let connection: Connection
    /// For each of the counts, once it was needed: a daemon that does nothing holds none.
    private var statements: [Statement?]
    private let ofEnded: Statement
    /// Live tasks that are not in the table yet.
    private var waiting: [TaskRow] = []

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        statements = TaskInserts.rowCounts.map { _ in nil }
        ofEnded = try connection.statement(SQL.insert(ColumnNames.ofTask), "submit")
    }

    /// Takes a task that has not ended; it is in the table after `finish`.
    mutating func add(live row: consuming TaskRow) throws(StoreError) {
        waiting.append(row)
        if waiting.count == TaskInserts.rowCounts[0] { try finish() }
    }

    /// Writes a task that has ended already.
    func insert(ended row: consuming TaskRow) throws(StoreError) {
        var binder = ColumnBinder(statement: ofEnded)
        try row.visit(&binder)
        try ofEnded.run()
    }

    /// Writes what waits.
    mutating func finish() throws(StoreError) {
        var next = 0
        for (index, rowCount) in TaskInserts.rowCounts.enumerated() {
            while waiting.count - next >= rowCount {
                let statement = try statement(index)
                var binder = ColumnBinder(statement: statement)
                for row in next..<next + rowCount { try waiting[row].visitLive(&binder) }
                try statement.run()
                next += rowCount
            }
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Forgets what waits, after an error.
    mutating func discard() {
        waiting.removeAll(keepingCapacity: true)
    }

    private mutating func statement(_ index: Int) throws(StoreError) -> Statement {
        if let statement = statements[index] { return statement }
        let sql = SQL.insert(ColumnNames.ofLiveTask, rowCount: TaskInserts.rowCounts[index])
        let statement = try connection.statement(sql, "submit")
        statements[index] = statement
        return statement
    }
}
