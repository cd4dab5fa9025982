import TaskAPI

extension Sample {
    /// An application in the background, changed as the test wants it.
    static func application(
        _ change: (inout Applications.Application) -> Void = { _ in }
    ) -> Applications.Application {
        var application = Applications.Application()
        application.id = "player"
        application.owner = 1000
        application.state = .background
        application.pids = [4711, 4712]
        application.remainingMs = 175_000
        application.backgroundMs = 5000
        application.badge = 2
        application.tasks = 1
        application.freezer = .cgroup
        change(&application)
        return application
    }

    static func answer(_ application: Applications.Application) -> Applications.Answer {
        var answer = Applications.Answer()
        answer.application = application
        return answer
    }

    static func termination(
        _ reason: Applications.TerminationReason, status: Int? = nil, signal: String? = nil
    ) -> Applications.Termination {
        var end = Applications.Termination()
        end.reason = reason
        end.status = status
        end.signal = signal
        end.agoMs = 180_000
        return end
    }

    static func heldTask(_ name: String, _ id: Int, ageMs: Int, _ budget: Tasks.Budget?)
        -> Applications.HeldTask
    {
        var task = Applications.HeldTask()
        task.id = id
        task.name = name
        task.ageMs = ageMs
        task.durationMs = budget?.durationMs
        task.graceMs = budget?.graceMs
        return task
    }

    static func transition(
        _ number: Int, _ previous: Applications.State, _ state: Applications.State,
        _ callback: Applications.Callback? = nil,
        _ change: (inout Applications.Event) -> Void = { _ in }
    ) -> Applications.Event {
        var event = Applications.Event()
        event.number = number
        event.application = "player"
        event.previous = previous
        event.state = state
        event.callback = callback
        change(&event)
        return event
    }
}
