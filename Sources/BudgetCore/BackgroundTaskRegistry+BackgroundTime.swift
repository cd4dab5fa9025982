// What the tasks of an application mean for it, and its time in the background for them.
extension BackgroundTaskRegistry {
    /// The background time of an application and its grace; `nil` where it has no limit.
    func backgroundBudget(of key: ApplicationKey) -> Budget? {
        guard !hasBackgroundMode(key) else { return nil }
        let profile = applications[key]?.registration.profile.flatMap { profiles[$0] }
        // A profile without a limit may be of a time when its owner might have one.
        if let profile, profile.budget != nil || limits.allowsUnlimited(key.owner) {
            return profile.budget
        }
        return Budget(
            duration: applicationRules.backgroundTime, grace: applicationRules.grace)
    }

    /// How long an application is told before its end.
    func grace(of key: ApplicationKey) -> Duration {
        let profile = applications[key]?.registration.profile.flatMap { profiles[$0] }
        return profile?.grace ?? applicationRules.grace
    }

    /// What its present stay in the background means for its tasks.
    func clock(of key: ApplicationKey) -> ApplicationClock? {
        guard let until = applications[key]?.run?.backgroundUntil, until != .never else {
            return nil
        }
        return .background(until: until, grace: grace(of: key))
    }

    /// A task has begun: its application is not frozen under it.
    mutating func applicationTaskBegan(
        _ task: BackgroundTask, at now: Instant, _ actions: inout [Action]
    ) {
        guard let key = ApplicationKey(task) else { return }
        applications.add(task.id, of: key)
        guard let run = applications[key]?.run else { return }
        applications.update(key) {
            $0.run?.suspendAt = .never
            $0.run?.wouldBeSuspended = false
        }
        if case .freezing = run.phase { thaw(key, at: now, &actions) }
    }

    /// A task has ended: its application is suspended promptly after the last one. One that never began, or
    /// whose end was told of before, changes nothing.
    mutating func applicationTaskEnded(_ task: BackgroundTask, at now: Instant) {
        guard let key = ApplicationKey(task), applications.remove(task.id, of: key),
            applications[key]?.run != nil
        else { return }
        if task.outcome == .abandoned {
            let held = HeldTask(task, at: now)
            applications.update(key) {
                let isFull = $0.run?.abandoned.count == ApplicationRun.abandonedMax
                if isFull { $0.run?.abandoned.removeFirst() }
                $0.run?.abandoned.append((held, now))
            }
        }
        planSuspension(key, promptly: true, at: now)
    }

    /// The handlers of its tasks fire: it is told as well, once.
    mutating func tellBackgroundTimeExpiring(
        _ task: BackgroundTask, at now: Instant, _ actions: inout [Action]
    ) {
        guard let key = ApplicationKey(task), let application = applications[key],
            let run = application.run, run.hasProcesses, !run.isToldOfExpiry
        else { return }
        applications.update(key) { $0.run?.isToldOfExpiry = true }
        guard application.registration.handles(.backgroundTimeExpiring) else { return }
        var told = ApplicationEvent(
            .backgroundTimeExpiring, state: application.state, previous: application.state)
        told.remaining = application.remaining(at: now)
        actions.append(.application(key, .tell(told)))
    }

    /// A task is still there at its hard limit; where that is the end of the background time, its application
    /// has overrun.
    mutating func backgroundTimeIsOver(
        _ task: BackgroundTask, at now: Instant, _ actions: inout [Action]
    ) {
        guard let key = ApplicationKey(task), let application = applications[key],
            application.state == .background, let run = application.run,
            run.backgroundUntil <= task.hardAt
        else { return }
        // Its tasks reach the limit one after another.
        guard !run.isOverrunNoted else { return }
        applications.update(key) { $0.run?.isOverrunNoted = true }
        let owes = run.deliveries.contains { $0.until <= now }
        overrun(key, owes ? .messageOverrun : .backgroundTimeOverrun, at: now, &actions)
    }

    /// Ends an application that has used up its time, or says that it would.
    private mutating func overrun(
        _ key: ApplicationKey, _ reason: TerminationReason, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard !applicationRules.enforces else { return end(key, reason, at: now, &actions) }
        note(key, .wouldEnd(reason), &actions)
    }

    /// Decides when an application in the background is suspended.
    ///
    /// - Parameter promptly: without the buffer that follows the entry into the background.
    mutating func planSuspension(_ key: ApplicationKey, promptly: Bool, at now: Instant) {
        guard let application = applications[key], application.state == .background,
            let run = application.run, run.phase == .running
        else { return }
        let isBusy =
            applications.hasTasks(key) || !run.deliveries.isEmpty
            || hasBackgroundMode(key)
        let isPrompt = promptly || application.registration.exitsOnSuspend
        let buffer = isPrompt ? .zero : applicationRules.suspendAfter
        let retry = run.freezeFailure == nil ? .zero : BackgroundTaskRegistry.freezeRetry
        applications.update(key) { $0.run?.suspendAt = isBusy ? .never : now + max(buffer, retry) }
    }

    /// Does what is due for applications, the earliest first.
    ///
    /// - Returns: how many there were, at most `limit`.
    mutating func applicationsDue(
        at now: Instant, limit: Int, _ actions: inout [Action]
    ) -> Int {
        var handled = 0
        while handled < limit, let key = applications.due(at: now) {
            settle(key, at: now, &actions)
            handled += 1
        }
        let boot = boot(at: now)
        while handled < limit, let key = applications.due(at: boot) {
            deliverDeferred(key, at: now, &actions)
            handled += 1
        }
        return handled
    }

    private mutating func settle(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard let run = applications[key]?.run else { return }
        if run.killAt <= now { return kill(key, at: now, &actions) }
        if run.thawAt <= now { return thaw(key, at: now, &actions) }
        if run.freezeLimitAt <= now { return giveUpFreeze(key, at: now, &actions) }
        if run.deliveries.contains(where: { $0.until <= now }) {
            applications.update(key) { $0.run?.deliveries.removeAll { $0.until <= now } }
            planSuspension(key, promptly: true, at: now)
            return overrun(key, .messageOverrun, at: now, &actions)
        }
        if run.suspendAt <= now { suspend(key, at: now, &actions) }
    }

    private mutating func suspend(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        applications.update(key) { $0.run?.suspendAt = .never }
        let exits = applications[key]?.registration.exitsOnSuspend ?? false
        guard applicationRules.enforces else {
            applications.update(key) { $0.run?.wouldBeSuspended = true }
            return note(key, exits ? .wouldEnd(.exitsOnSuspend) : .wouldSuspend, &actions)
        }
        guard !exits else { return end(key, .exitsOnSuspend, at: now, &actions) }
        let number = applications.nextNumber()
        applications.update(key) {
            $0.run?.phase = .freezing(number)
            $0.run?.freezeLimitAt = now + BackgroundTaskRegistry.freezeLimit
        }
        actions.append(.application(key, .freeze(number)))
    }

    /// A background mode was switched on or off while the application runs.
    mutating func backgroundModeChanged(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard let application = applications[key] else { return }
        if hasBackgroundMode(key) {
            switch application.run?.phase {
            case .freezing, .frozen: thaw(key, at: now, &actions)
            default: break
            }
        }
        guard application.state == .background, application.run?.hasProcesses == true
        else { return }
        let budget = backgroundBudget(of: key)
        applications.update(key) {
            $0.run?.startBackgroundTime(budget?.duration, at: now)
        }
        applicationMoved(key, to: clock(of: key), at: now, &actions)
        planSuspension(key, promptly: false, at: now)
    }

    /// Takes new rules; what is enforced from now on is done at once.
    package mutating func replaceApplicationRules(_ rules: ApplicationRules, at now: Instant) {
        let enforcesNow = rules.enforces && !applicationRules.enforces
        applicationRules = rules
        guard enforcesNow else { return }
        for key in applications.keys where applications[key]?.run?.wouldBeSuspended == true {
            applications.update(key) { $0.run?.wouldBeSuspended = false }
            planSuspension(key, promptly: true, at: now)
        }
    }
}

extension ApplicationKey {
    /// The application that a task names; `nil` where it names none.
    init?(_ task: BackgroundTask) {
        guard let id = task.application else { return nil }
        self.init(owner: task.owner, id: id)
    }
}

extension HeldTask {
    init(_ task: BackgroundTask, at now: Instant) {
        self.init(
            id: task.id, name: task.name, age: task.age(at: now),
            duration: task.budget?.duration, grace: task.budget?.grace)
    }
}
