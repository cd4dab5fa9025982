/// Takes ended tasks out of the store, with all that is kept of them.
///
/// `@unchecked Sendable`: used only by who holds the connection.
final class TaskRemoval: @unchecked Sendable {
    private let connection: Connection
    private let account: HistoryAccount
    private let task: Statement
    private let attempts: Statement
    private let submission: Statement

    /// - Parameter account: what counts the ended tasks.
    init(_ connection: Connection, _ account: HistoryAccount) throws(StoreError) {
        self.connection = connection
        self.account = account
        task = try connection.statement("DELETE FROM tasks WHERE id = ?", "remove")
        attempts = try connection.statement("DELETE FROM attempts WHERE task = ?", "remove")
        submission = try connection.statement(SQL.forgetSubmission, "remove")
    }

    /// Removes a task that has ended, inside a transaction of `HistoryAccount`.
    func remove(_ row: KeptRow) throws(StoreError) {
        try task.bind(row.id)
        try task.run()
        if connection.changedRows > 0 { account.remove(.task(row)) }
        for statement in [attempts, submission] {
            try statement.bind(row.id)
            try statement.run()
        }
    }
}
