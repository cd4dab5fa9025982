internal import BudgetCore

/// A task of the store, with what it was submitted with, so that it can be run again.
package struct EndedSubmission: Equatable, Sendable {
    /// Its work is what was submitted, where that is whole; of one that has not ended, what is to run.
    package var task: StoredTask
    /// Whether all of it is kept: of a task that ended under an older bgtaskd it is not.
    package var isWhole: Bool
}

/// Reads what ended tasks were submitted with; runs while its caller holds the connection.
struct SubmissionQueries {
    private let connection: Connection
    private let tasks: TaskQueries

    init(_ connection: Connection) {
        self.connection = connection
        tasks = TaskQueries(connection)
    }

    /// A task of an owner; `nil` where there is none, or no longer.
    ///
    /// Both of its rows are of one moment: else a prune between them would make a command that was cut look whole.
    func submission(_ id: TaskID, of owner: OwnerID) throws(StoreError) -> EndedSubmission? {
        try connection.snapshot { () throws(StoreError) in try read(id, of: owner) }
    }

    private func read(_ id: TaskID, of owner: OwnerID) throws(StoreError) -> EndedSubmission? {
        guard let task = try tasks.task(id, of: owner) else { return nil }
        var submission = EndedSubmission(task: task, isWhole: true)
        let statement = try connection.statement(
            "SELECT is_lost, command, directory, environment, handler_command, input "
                + "FROM submissions WHERE task = ?", "read")
        defer { statement.reset() }
        try statement.bind(Int64(clamping: id.rawValue))
        guard try statement.step() else { return submission }
        submission.isWhole = statement.integer(0) == 0
        try fill(&submission.task.work, from: statement, of: id)
        return submission
    }

    private func fill(
        _ work: inout Work, from statement: Statement, of id: TaskID
    ) throws(StoreError) {
        let check = RowCheck(path: connection.path, subject: "the submission of task \(id)")
        if let command = statement.text(1) {
            work.command = try check.known(JSONText.strings(command), "command")
        }
        if let directory = statement.text(2) { work.directory = directory }
        if let environment = statement.text(3) {
            work.environment = try check.known(JSONText.members(environment), "environment")
        }
        if let command = statement.text(4) {
            work.expiration.command = try check.known(JSONText.strings(command), "handler_command")
        }
        work.input = statement.text(5)
    }
}
