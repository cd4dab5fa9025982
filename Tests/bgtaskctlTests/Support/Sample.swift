import TaskAPI

/// Messages for tests.
enum Sample {
    /// A running task, changed as the test wants it.
    static func task(_ change: (inout Tasks.Task) -> Void = { _ in }) -> Tasks.Task {
        var task = Tasks.Task()
        task.id = 7
        task.name = "flush"
        task.kind = .run
        task.state = .running
        task.profile = "default"
        task.budget = budget(180_000, 5000)
        task.remaining = remaining(ms: 175_000, hardMs: 180_000, .ownBudget)
        task.usedMs = 5000
        task.ageMs = 5000
        task.attempt = 1
        task.command = ["sleep", "60"]
        change(&task)
        return task
    }

    static func ended(
        _ outcome: Tasks.Outcome, status: Int? = nil, signal: String? = nil,
        _ change: (inout Tasks.Task) -> Void = { _ in }
    ) -> Tasks.Task {
        task {
            $0.state = .ended
            $0.outcome = outcome
            $0.remaining = nil
            var exit = Tasks.Exit()
            exit.status = status
            exit.signal = signal
            $0.exit = exit
            change(&$0)
        }
    }

    static func budget(_ durationMs: Int, _ graceMs: Int) -> Tasks.Budget {
        var budget = Tasks.Budget()
        budget.durationMs = durationMs
        budget.graceMs = graceMs
        return budget
    }

    static func remaining(ms: Int?, hardMs: Int?, _ bound: Tasks.Bound?) -> Tasks.Remaining {
        var remaining = Tasks.Remaining()
        remaining.ms = ms
        remaining.hardMs = hardMs
        remaining.bound = bound
        return remaining
    }

    static func event(_ kind: Tasks.EventKind, _ task: Tasks.Task, number: Int = 1) -> Tasks.Event {
        var event = Tasks.Event()
        event.number = number
        event.kind = kind
        event.task = task
        return event
    }
}
