// When a task begins, ends, and is due in between.
extension BackgroundTask {
    /// Its budget starts; where its application is in front, nothing of it is spent yet.
    mutating func begin(isDormant: Bool, warnAfterNanoseconds: Int64, at now: Instant) {
        begunAt = now
        warnAt = now.later(byNanoseconds: warnAfterNanoseconds)
        lifetimeEndsAt = now.later(byNanoseconds: terms.lifetimeNanoseconds)
        if let budget = terms.budget {
            ownHardAt = now.later(byNanoseconds: budget.durationNanoseconds)
        }
        if isDormant {
            state = .dormant
            pausedAt = now
        } else {
            state = .running
            startClock(at: now)
        }
    }

    /// Ends it: nothing is due any more.
    mutating func end(_ outcome: Outcome, _ reason: Reason?, at endedAt: Instant) {
        stopClock(at: endedAt)
        state = .ended
        self.outcome = outcome
        self.reason = reason
        self.endedAt = endedAt
        handlerAt = .never
        hardAt = .never
    }

    /// Finds the hard limit as it applies, and when the handler fires.
    ///
    /// - Returns: whether its clock counts towards them.
    mutating func findLimits(_ clock: ApplicationClock?) -> Bool {
        guard isLive, state != .dormant else {
            handlerAt = .never
            hardAt = .never
            bound = nil
            return false
        }
        var handlerAt = ownHardAt.earlier(byNanoseconds: terms.graceNanoseconds)
        var hardAt = ownHardAt
        var bound: Bound? = hardAt == .never ? nil : .ownBudget
        if isCutByLifetime { bound = .lifetimeLimit }
        // One that the queue starts when it could not be warned in time has its own budget alone.
        if case .background(let until, let grace)? = clock, begunAt <= until - grace {
            if until - grace <= handlerAt { bound = .applicationBackgroundTime }
            handlerAt = min(handlerAt, until - grace)
            hardAt = min(hardAt, until)
        }
        self.handlerAt = state == .running ? handlerAt : .never
        self.hardAt = hardAt
        self.bound = bound
        return true
    }
}
