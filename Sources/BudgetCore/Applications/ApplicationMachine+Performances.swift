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

    /// Has an application perform a task; it is thawed or started in the background where it has to be. One that is
    /// being ended does it when it is started again.
    ///
    /// - Returns: why it cannot; `nil` where it can.
    mutating func perform(
        _ performance: Performance, by key: ApplicationKey, _ turn: inout ApplicationTurn
    ) -> String? {
        do throws(Refusal) {
            try checkPerforms(key)
            if self[key]?.run?.isEnding != true { try wake(key, toFront: false, for: nil, &turn) }
        } catch {
            return reason(error, key)
        }
        update(key) {
            $0.run?.performances.add(performance)
            $0.run?.staysAwake()
        }
        guard self[key]?.run?.phase == .running else { return nil }
        growStay(key, &turn)
        tellPerformances(key, &turn)
        return nil
    }

    private func reason(_ refusal: Refusal, _ key: ApplicationKey) -> String {
        switch refusal {
        case .noSuchApplication: "there is no application \(key.id) any more"
        case .notRegistered: "application \(key.id) has no command to start it"
        case .notAccepting(let reason): reason
        default: "application \(key.id) cannot be woken"
        }
    }

    /// In the background it has as much time as the tasks that it performs.
    private mutating func growStay(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        guard let application = self[key], application.state == .background,
            let run = application.run, let until = run.performances.until, until > run.stay.until
        else { return }
        update(key) {
            $0.run?.stay.startTime(until == .never ? nil : until - turn.now, at: turn.now)
        }
        turn.changeClock(key, to: clock(of: key, turn))
    }

    /// Tells an application that is awake of the tasks that it is to perform.
    mutating func tellPerformances(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        guard self[key]?.registration.handles(.performTask) != false else {
            return dropUntold(key, "application \(key.id) does not handle performTask", &turn)
        }
        while let untold = self[key]?.run?.performances.firstUntold {
            let delivery = nextNumber()
            update(key) { _ = $0.run?.performances.told(untold.task, by: delivery) }
            tell(.performTask, key, untold, delivery, &turn)
            turn.report(key, untold.task, .told)
            if untold.isExpiring { tell(.taskExpiring, key, untold, delivery, &turn) }
        }
    }

    /// The handler of a task that it performs fires, and until then it has to be done.
    mutating func performanceExpires(
        _ task: TaskID, until: Instant, by key: ApplicationKey, _ turn: inout ApplicationTurn
    ) {
        var expired: Performance?
        update(key) { expired = $0.run?.performances.expired(task, until: until) }
        // One that it was not told of yet comes with that; who is told that it ends hears no more.
        guard let expired, let delivery = expired.delivery, self[key]?.run?.isEnding == false
        else { return }
        growStay(key, &turn)
        tell(.taskExpiring, key, expired, delivery, &turn)
    }

    /// A task that it performs has more time than it had.
    mutating func performanceExtended(
        _ task: TaskID, until: Instant, by key: ApplicationKey, _ turn: inout ApplicationTurn
    ) {
        update(key) { $0.run?.performances.extended(task, until: until) }
        growStay(key, &turn)
    }

    /// What an application is to be told that begins to listen: the tasks that it performs, whatever it was told before.
    func performanceEvents(_ key: ApplicationKey, at now: Instant) -> [ApplicationEvent] {
        guard let performances = self[key]?.run?.performances.told else { return [] }
        return performances.flatMap { performance in
            let callbacks: [Callback] =
                performance.isExpiring ? [.performTask, .taskExpiring] : [.performTask]
            return callbacks.compactMap { event($0, key, performance, at: now) }
        }
    }

    private func tell(
        _ callback: Callback, _ key: ApplicationKey, _ performance: Performance,
        _ delivery: UInt64, _ turn: inout ApplicationTurn
    ) {
        var performance = performance
        performance.delivery = delivery
        guard let told = event(callback, key, performance, at: turn.now) else { return }
        turn.order(key, .tell(told))
    }

    /// - Returns: `nil` where the application does not handle it.
    private func event(
        _ callback: Callback, _ key: ApplicationKey, _ performance: Performance, at now: Instant
    ) -> ApplicationEvent? {
        guard let application = self[key], application.registration.handles(callback) else {
            return nil
        }
        var told = ApplicationEvent(
            callback, state: application.state, previous: application.state)
        told.delivery = performance.delivery
        told.task = performance.task
        told.identifier = performance.identifier
        if performance.until != .never { told.remaining = max(performance.until - now, .zero) }
        return told
    }

    /// A task that it performs is over, or is not waited for any longer.
    ///
    /// - Parameter overran: whether it was there at its hard limit: in the background that ends the application.
    mutating func performanceEnds(
        _ task: TaskID, by key: ApplicationKey, overran: Bool,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard let application = self[key],
            application.run?.performances.tasks.contains(task) == true
        else { return }
        // The record of its end names the task.
        if overran, !application.state.isInFront { overrun(key, .taskOverrun, tasks, &turn) }
        update(key) { _ = $0.run?.performances.remove(task) }
        afterPerformance(key, turn)
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
        afterPerformance(key, turn)
        return true
    }

    /// Programs do more behind a task, such as to submit the next one.
    private mutating func afterPerformance(_ key: ApplicationKey, _ turn: ApplicationTurn) {
        let until = turn.now + rules.suspendAfter
        update(key) { $0.run?.staysAwake(until: until) }
        planSuspension(key, promptly: false, turn)
    }

    /// What it was not told of it is not told of any more.
    mutating func dropUntold(
        _ key: ApplicationKey, _ reason: String, _ turn: inout ApplicationTurn
    ) {
        var untold: [Performance] = []
        update(key) { untold = $0.run?.performances.takeUntold() ?? [] }
        for performance in untold { turn.report(key, performance.task, .notStarted(reason)) }
    }

    /// Nothing of the application is left. What it was not told of is done by its next run, where there can be one.
    mutating func losePerformances(
        _ key: ApplicationKey, _ how: ApplicationRun.End.How, _ turn: inout ApplicationTurn
    ) {
        var lost: [Performance] = []
        update(key) { lost = $0.run?.performances.takeTold() ?? [] }
        for performance in lost { turn.report(key, performance.task, .lost) }
        if case .notStarted(let reason) = how { dropUntold(key, reason, &turn) }
    }

    /// A run of the application is over: the next one performs what this one was not told of.
    mutating func performAgain(
        _ untold: [Performance], by key: ApplicationKey, _ turn: inout ApplicationTurn
    ) {
        for performance in untold {
            guard let reason = perform(performance, by: key, &turn) else { continue }
            turn.report(key, performance.task, .notStarted(reason))
        }
    }
}
