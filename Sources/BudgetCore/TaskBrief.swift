/// What has to be known of a task to say who is to hear of it: little, and it is asked for whenever something
/// happens to one.
package struct TaskBrief: Sendable {
    package let kind: TaskKind
    package let owner: OwnerID
    package let outcome: Outcome?
}

extension BackgroundTaskRegistry {
    /// The same tasks as `record(_:)`, without their records. Mutating, as `applicationClock(at:)` says.
    package mutating func brief(of id: TaskID) -> TaskBrief? {
        if let slot = table.slot(of: id) {
            return TaskBrief(
                kind: table[slot].kind, owner: table[slot].owner, outcome: table[slot].outcome)
        }
        if let brief = ended.brief(of: id) { return brief }
        return unstoredEnds[id].map {
            TaskBrief(kind: $0.task.kind, owner: $0.task.owner, outcome: $0.task.outcome)
        }
    }

    /// What a task has left; `nil` for one that has ended or never was.
    package mutating func remaining(of id: TaskID, at now: Instant) -> Remaining? {
        table.slot(of: id).map { remaining(of: table[$0], at: now) }
    }
}
