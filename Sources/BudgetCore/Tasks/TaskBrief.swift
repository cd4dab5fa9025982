/// What has to be known of a task to say who is to hear of it: little, and it is asked for whenever something
/// happens to one.
package struct TaskBrief: Sendable {
    package let kind: TaskKind
    package let owner: OwnerID
    package let outcome: Outcome?
}

extension TaskBrief {
    init(_ task: BackgroundTask) {
        self.init(kind: task.kind, owner: task.owner, outcome: task.outcome)
    }
}
