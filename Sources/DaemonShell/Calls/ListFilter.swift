internal import BudgetCore
internal import TaskAPI

/// Which tasks a listing is about.
struct ListFilter {
    private let states: Set<Tasks.State>?
    private let outcomes: Set<Tasks.Outcome>?
    private let name: String?
    private let application: String?
    private let group: String?
    private let since: Duration?

    init(_ input: Tasks.List.Input) {
        states = input.states.map(Set.init)
        outcomes = input.outcomes.map(Set.init)
        name = input.name
        application = input.application
        group = input.group
        since = input.sinceMs.map { .milliseconds($0) }
    }

    /// Whether tasks that have ended are asked for.
    static func includesEnded(_ input: Tasks.List.Input) -> Bool {
        input.ended == true || input.outcomes != nil || input.sinceMs != nil
            || input.states?.contains(.ended) == true
    }

    func includes(_ record: TaskRecord, at now: Instant) -> Bool {
        let task = record.task
        if let states, !states.contains(Tasks.State(task.state)) { return false }
        if let outcomes {
            guard let outcome = task.outcome, outcomes.contains(Tasks.Outcome(outcome))
            else { return false }
        }
        if let name, task.name != name { return false }
        if let application, task.application != application { return false }
        if let group, record.run?.queueing.group != group { return false }
        if let since, task.state == .ended, now - task.endedAt > since { return false }
        return true
    }
}
