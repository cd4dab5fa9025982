import BudgetCore

/// The program that runs commands as a simulation sees it that plays the processes itself: it has the times of commands,
/// fires handlers and limits by them, and tells of that.
struct MirroredCommands {
    /// As it is to be told to the registry.
    enum News {
        case warned(TaskID, count: Int, moment: Instant)
        case limitReached(TaskID, moment: Instant)
    }

    private(set) var executor = ModelExecutor()
    /// How many fires of the handler were told of.
    private var told: [TaskID: Int] = [:]
    /// How often each handler has fired.
    private(set) var firings: [TaskID: Int] = [:]

    /// When something is due next.
    var next: Instant { executor.next }

    /// A command is started, which does not end by itself.
    mutating func launch(
        _ id: TaskID, _ registry: borrowing BackgroundTaskRegistry, at now: Instant
    ) {
        guard let deadlines = registry.commandDeadlines(of: id), let run = registry.record(id)?.run
        else { return }
        var plan = ModelExecutor.Plan()
        plan.lasts = .seconds(100_000_000)
        forget(id)
        _ = executor.start(id, attempt: run.attempt, deadlines, plan, at: now)
        told[id] = 0
        noteFirings()
    }

    /// Takes new times of those that run.
    mutating func mirror(
        _ ids: [TaskID], firesNow: Bool = false, _ registry: borrowing BackgroundTaskRegistry,
        at now: Instant
    ) {
        for id in ids {
            guard let known = told[id], let deadlines = registry.commandDeadlines(of: id)
            else { continue }
            _ = executor.setDeadlines(
                id, deadlines, firesNow: firesNow, known: known, at: now)
        }
        noteFirings()
    }

    /// It is over, and nobody has to know of it any more.
    mutating func forget(_ id: TaskID) {
        told[id] = nil
        executor.forget(id)
    }

    /// It is gone with all that ran.
    mutating func isLost() {
        (told, firings) = ([:], [:])
        executor.isLost()
    }

    mutating func advance(to now: Instant) {
        executor.advance(to: now)
        noteFirings()
    }

    private mutating func noteFirings() {
        for fire in executor.takeFires() where fire.event == .handler {
            firings[fire.id, default: 0] += 1
        }
    }

    /// What is to be told next, of fires; of its own processes it says nothing.
    mutating func takeNews() -> News? {
        while let report = executor.takeReport() {
            switch report.what {
            case .warned(let count):
                told[report.id] = count
                return .warned(report.id, count: count, moment: report.moment)
            case .limitReached: return .limitReached(report.id, moment: report.moment)
            case .started, .notStarted, .exited, .handlerExited, .gone: break
            }
        }
        return nil
    }
}

extension BackgroundTaskRegistry {
    mutating func take(
        _ news: MirroredCommands.News, at now: Instant, _ actions: inout [Action]
    ) {
        switch news {
        case .warned(let id, let count, let moment):
            commandWarned(id, count: count, moment: moment, at: now, &actions)
        case .limitReached(let id, let moment):
            commandLimitReached(id, moment: moment, at: now, &actions)
        }
    }
}
