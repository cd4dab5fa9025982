/// How far a task has come, by its own account.
package struct TaskProgress: Equatable, Sendable {
    package let completed: Int
    /// Of how many; `nil` where it does not know.
    package let total: Int?

    package init(completed: Int, total: Int? = nil) {
        self.completed = completed
        self.total = total
    }
}

/// What a program says of a task: what is left out stays as it was.
package struct TaskReport: Equatable, Sendable {
    /// An empty one takes the last away.
    package var text: String?
    package var progress: TaskProgress?

    package init(text: String? = nil, progress: TaskProgress? = nil) {
        self.text = text
        self.progress = progress
    }
}

/// What programs have reported of tasks that have not ended, which most never do.
struct TaskReports: Sendable {
    private var reports: [TaskID: TaskReport] = [:]

    subscript(id: TaskID) -> TaskReport? { reports.isEmpty ? nil : reports[id] }

    /// Takes a report down.
    ///
    /// - Returns: whether it says anything new.
    mutating func add(_ report: TaskReport, of id: TaskID) -> Bool {
        let before = reports[id]
        var after = before ?? TaskReport()
        if let text = report.text { after.text = text.isEmpty ? nil : text }
        after.progress = report.progress ?? after.progress
        guard after != before ?? TaskReport() else { return false }
        reports[id] = after
        return true
    }

    mutating func forget(_ id: TaskID) {
        if !reports.isEmpty { reports[id] = nil }
    }
}
