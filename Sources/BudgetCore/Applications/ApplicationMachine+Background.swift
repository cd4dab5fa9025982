// The time of applications in the background, and when they are suspended.
extension ApplicationMachine {
    /// Whether an application has a background mode that counts: one that was registered when its owner might have
    /// one, and may not any more, is as if it were not there.
    func hasBackgroundMode(_ key: ApplicationKey, _ turn: ApplicationTurn) -> Bool {
        self[key]?.registration.hasBackgroundMode == true && turn.allowsUnlimited(key.owner)
    }

    /// The background time of an application and its grace; `nil` where it has no limit.
    func backgroundBudget(of key: ApplicationKey, _ turn: ApplicationTurn) -> Budget? {
        guard !hasBackgroundMode(key, turn) else { return nil }
        let profile = self[key]?.registration.profile.flatMap(turn.profile)
        // A profile without a limit may be of a time when its owner might have one.
        if let profile, profile.budget != nil || turn.allowsUnlimited(key.owner) {
            return profile.budget
        }
        return Budget(duration: rules.backgroundTime, grace: rules.grace)
    }

    /// How long an application is told before its end.
    func grace(of key: ApplicationKey, _ turn: ApplicationTurn) -> Duration {
        self[key]?.registration.profile.flatMap(turn.profile)?.grace ?? rules.grace
    }

    /// What its present stay in the background means for its tasks.
    func clock(of key: ApplicationKey, _ turn: ApplicationTurn) -> ApplicationClock? {
        guard let until = self[key]?.run?.stay.until, until != .never else { return nil }
        return .background(until: until, grace: grace(of: key, turn))
    }

    // MARK: Its tasks use it up

    /// The handlers of its tasks fire: it is told as well, once.
    mutating func backgroundTimeExpires(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        guard let application = self[key], application.run?.hasProcesses == true else { return }
        var isFirst = false
        update(key) { isFirst = $0.run?.stay.tellOfExpiry() ?? false }
        guard isFirst, application.registration.handles(.backgroundTimeExpiring) else { return }
        var told = ApplicationEvent(
            .backgroundTimeExpiring, state: application.state, previous: application.state)
        told.remaining = application.remaining(at: turn.now)
        turn.order(key, .tell(told))
    }

    /// A task is still there at its hard limit; where that is the end of the background time, its application
    /// has overrun.
    mutating func taskOverran(
        hardAt: Instant, of key: ApplicationKey,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard let application = self[key], application.state == .background,
            let run = application.run
        else { return }
        var isFirst = false
        update(key) { isFirst = $0.run?.stay.noteOverrun(of: hardAt) ?? false }
        guard isFirst else { return }
        let owes = run.messages.isOverdue(at: turn.now)
        overrun(key, owes ? .messageOverrun : .backgroundTimeOverrun, tasks, &turn)
    }

    /// Ends an application that has used up its time, or says that it would.
    mutating func overrun(
        _ key: ApplicationKey, _ reason: TerminationReason,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard !rules.enforces else { return end(key, reason, tasks, &turn) }
        turn.note(key, .wouldEnd(reason))
    }

    // MARK: Suspending

    /// Decides when an application in the background is suspended.
    ///
    /// - Parameter promptly: without the buffer that follows the entry into the background.
    mutating func planSuspension(
        _ key: ApplicationKey, promptly: Bool, _ turn: ApplicationTurn
    ) {
        guard let application = self[key], application.state == .background,
            let run = application.run, run.phase == .running
        else { return }
        let isBusy =
            hasTasks(key) || run.messages.isOwing || !run.performances.isEmpty
            || hasBackgroundMode(key, turn)
        let isPrompt = promptly || application.registration.exitsOnSuspend
        let buffer = isPrompt ? .zero : rules.suspendAfter
        let retry = run.freezeFailure == nil ? .zero : ApplicationRun.freezeRetry
        update(key) {
            $0.run?.planSuspension(at: isBusy ? .never : turn.now + max(buffer, retry))
        }
    }

    mutating func suspend(
        _ key: ApplicationKey, _ tasks: borrowing some HeldTaskSource & ~Copyable,
        _ turn: inout ApplicationTurn
    ) {
        update(key) { $0.run?.planSuspension(at: .never) }
        let exits = self[key]?.registration.exitsOnSuspend ?? false
        guard rules.enforces else {
            update(key) { $0.run?.holdBack() }
            return turn.note(key, exits ? .wouldEnd(.exitsOnSuspend) : .wouldSuspend)
        }
        guard !exits else { return end(key, .exitsOnSuspend, tasks, &turn) }
        let number = nextNumber()
        update(key) { $0.run?.freezes(number, at: turn.now) }
        turn.order(key, .freeze(number))
    }

    /// A background mode was switched on or off while the application runs.
    mutating func backgroundModeChanged(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        guard let application = self[key] else { return }
        if hasBackgroundMode(key, turn) {
            switch application.run?.phase {
            case .freezing, .frozen: thaw(key, &turn)
            case nil, .starting, .adopting, .running, .thawing, .ending, .recording: break
            }
        }
        guard application.state == .background, application.run?.hasProcesses == true
        else { return }
        let budget = backgroundBudget(of: key, turn)
        update(key) { $0.run?.stay.startTime(budget?.duration, at: turn.now) }
        turn.changeClock(key, to: clock(of: key, turn))
        planSuspension(key, promptly: false, turn)
    }

    /// Takes new rules; what is enforced from now on is done at once.
    mutating func replaceRules(_ rules: ApplicationRules, _ turn: ApplicationTurn) {
        let enforcesNow = rules.enforces && !self.rules.enforces
        setRules(rules)
        guard enforcesNow else { return }
        for key in keys where self[key]?.run?.wouldBeSuspended == true {
            update(key) { $0.run?.holdBackNoLonger() }
            planSuspension(key, promptly: true, turn)
        }
    }
}
