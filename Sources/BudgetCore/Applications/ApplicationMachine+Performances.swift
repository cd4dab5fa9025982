/// What became of a task that an application is to perform.
enum PerformanceAnswer: Equatable, Sendable {
    /// It is told, or will be.
    case taken
    /// Not now; the text says why.
    case later(String)
    /// It cannot be; the text says why.
    case impossible(String)
}

// Tasks that an application does itself (rule 35 in docs/architecture.md).
extension ApplicationMachine {
    /// Refuses a task that an application could not perform.
    func checkPerforms(_ key: ApplicationKey) throws(Refusal) {
        let application = try known(key)
        guard application.registration.command != nil || application.run != nil else {
            throw .notRegistered(key.id)
        }
        guard application.registration.handles(.performTask) else {
            throw .notAccepting("application \(key.id) does not handle performTask")
        }
    }

    /// Has an application perform a task; it is thawed or started in the background where it has to be.
    mutating func perform(
        _ performance: Performance, by key: ApplicationKey, _ turn: inout ApplicationTurn
    ) -> PerformanceAnswer {
        do throws(Refusal) {
            try checkPerforms(key)
            try wake(key, toFront: false, for: nil, &turn)
        } catch {
            return answer(to: error, key)
        }
        update(key) {
            $0.run?.performances.add(performance)
            $0.run?.staysAwake()
        }
        if self[key]?.run?.phase == .running { tellPerformances(key, &turn) }
        return .taken
    }

    private func answer(to refusal: Refusal, _ key: ApplicationKey) -> PerformanceAnswer {
        switch refusal {
        case .noSuchApplication: .impossible("there is no application \(key.id) any more")
        case .notRegistered: .impossible("application \(key.id) has no command to start it")
        case .wrongState: .later("application \(key.id) is being ended")
        case .notAccepting(let reason): .impossible(reason)
        default: .impossible("application \(key.id) cannot be woken")
        }
    }

    /// Tells an application that is awake of the tasks that it is to perform.
    mutating func tellPerformances(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        while let untold = self[key]?.run?.performances.firstUntold {
            let delivery = nextNumber()
            update(key) { _ = $0.run?.performances.told(untold.task, by: delivery) }
            tell(.performTask, key, untold, delivery, &turn)
            turn.report(key, untold.task, .told)
            if untold.isExpiring { tell(.taskExpiring, key, untold, delivery, &turn) }
        }
    }

    /// The handler of a task that it performs fires.
    mutating func performanceExpires(
        _ task: TaskID, by key: ApplicationKey, _ turn: inout ApplicationTurn
    ) {
        var expired: Performance?
        update(key) { expired = $0.run?.performances.expired(task) }
        // One that it was not told of yet comes with that.
        guard let expired, let delivery = expired.delivery else { return }
        tell(.taskExpiring, key, expired, delivery, &turn)
    }

    private func tell(
        _ callback: Callback, _ key: ApplicationKey, _ performance: Performance,
        _ delivery: UInt64, _ turn: inout ApplicationTurn
    ) {
        guard let application = self[key], application.registration.handles(callback) else {
            return
        }
        var told = ApplicationEvent(
            callback, state: application.state, previous: application.state)
        told.delivery = delivery
        told.task = performance.task
        told.identifier = performance.identifier
        if performance.until != .never { told.remaining = max(performance.until - turn.now, .zero) }
        turn.order(key, .tell(told))
    }

    /// A task that it performs is over, or is not waited for any longer.
    ///
    /// - Parameter overran: whether it was there at its hard limit: in the background that ends the application.
    mutating func performanceEnds(
        _ task: TaskID, by key: ApplicationKey, overran: Bool,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        var removed: Performance?
        update(key) { removed = $0.run?.performances.remove(task) }
        guard removed != nil, let application = self[key] else { return }
        planSuspension(key, promptly: false, turn)
        guard overran, !application.state.isInFront else { return }
        overrun(key, .taskOverrun, tasks, &turn)
    }

    /// The application says that it is done with what it was told by a delivery.
    ///
    /// - Returns: whether that was a task.
    mutating func performed(
        _ key: ApplicationKey, _ delivery: UInt64, isSuccess: Bool, _ turn: inout ApplicationTurn
    ) -> Bool {
        var done: Performance?
        update(key) { done = $0.run?.performances.remove(delivery: delivery) }
        guard let done else { return false }
        turn.report(key, done.task, .done(isSuccess: isSuccess))
        // Programs do more behind that, such as to submit the next one.
        planSuspension(key, promptly: false, turn)
        return true
    }

    /// What it was not told of it is not told of any more.
    mutating func dropUntold(
        _ key: ApplicationKey, _ reason: String, _ turn: inout ApplicationTurn
    ) {
        var untold: [Performance] = []
        update(key) { untold = $0.run?.performances.takeUntold() ?? [] }
        for performance in untold { turn.report(key, performance.task, .notStarted(reason)) }
    }

    /// Nothing of the application is left.
    mutating func losePerformances(
        _ key: ApplicationKey, _ how: ApplicationRun.End.How, _ turn: inout ApplicationTurn
    ) {
        var lost: [Performance] = []
        update(key) { lost = $0.run?.performances.takeAll() ?? [] }
        for performance in lost {
            guard performance.delivery == nil else {
                turn.report(key, performance.task, .lost)
                continue
            }
            switch how {
            case .notStarted(let reason): turn.report(key, performance.task, .notStarted(reason))
            case .ended:
                turn.report(key, performance.task, .notStarted("application \(key.id) has ended"))
            }
        }
    }
}
