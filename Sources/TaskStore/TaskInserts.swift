/// New tasks on their way into the table, several of them in one statement.
///
/// A statement opens the table and each of its indexes anew, which takes longer than to write a row.
struct TaskInserts {
    /// How many rows a statement takes, and the statement.
    private typealias Insert = (rowCount: Int, statement: Statement)

    private static let rowCounts = [8, 4, 2, 1]

    /// The largest first.
    private var ofLive: [Insert] = []
    private let ofEnded: Statement
    /// Live tasks that are not in the table yet.
    private var waiting: [TaskRow] = []

    init(_ connection: Connection) throws(StoreError) {
        ofEnded = try connection.statement(SQL.insert(ColumnNames.ofTask), "submit")
        for count in TaskInserts.rowCounts {
            let sql = SQL.insert(ColumnNames.ofLiveTask, rowCount: count)
            ofLive.append((count, try connection.statement(sql, "submit")))
        }
    }

    /// Takes a task that has not ended; it is in the table after `finish`.
    mutating func add(live row: TaskRow) throws(StoreError) {
        waiting.append(row)
        if waiting.count == TaskInserts.rowCounts[0] { try finish() }
    }

    /// Writes a task that has ended already.
    mutating func insert(ended row: TaskRow) throws(StoreError) {
        var row = row
        var binder = ColumnBinder(statement: ofEnded)
        try row.visit(&binder)
        try ofEnded.run()
    }

    /// Writes what waits.
    mutating func finish() throws(StoreError) {
        var next = 0
        for (rowCount, statement) in ofLive {
            while waiting.count - next >= rowCount {
                var binder = ColumnBinder(statement: statement)
                for index in next..<next + rowCount { try waiting[index].visitLive(&binder) }
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
}
