extension BackgroundTaskRegistry {
    /// Does what is due for one task. Afterwards the slot may be empty.
    mutating func settle(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard table.isDue(slot, at: now), !isConcluded(slot) else { return }
        if table[slot].warnAt <= now { reportAge(slot, at: now, &actions) }
        if isStopping(slot) {
            takeTeardownStep(slot, at: now, &actions)
            guard !isConcluded(slot) else { return }
            return updateDeadlines(slot)
        }
        if table[slot].state == .running, table[slot].handlerAt <= now {
            let isShared = table[slot].bound == .applicationBackgroundTime
            if isShared { tellBackgroundTimeExpiring(table[slot], at: now, &actions) }
            fireHandler(slot, isShared ? .applicationTimeSpent : .budgetSpent, &actions)
        }
        guard table[slot].hardAt <= now else { return updateDeadlines(slot) }
        overrun(slot, at: now, &actions)
    }

    /// Fires the expiration handlers of everything early, refuses what is new, and lets nothing that
    /// waits begin. Every live task gets one grace; `begunCount` reaches zero when all have ended.
    ///
    /// - Parameter keepsQueue: whether what waits is on disk for the daemon after this one; else it is
    ///   interrupted.
    package mutating func drain(
        keepsQueue: Bool, at now: Instant, _ actions: inout [Action]
    ) {
        guard !isDraining else { return }
        isDraining = true
        self.keepsQueue = keepsQueue
        drainApplications(at: now, &actions)
        for slot in table.slots(of: nil) {
            switch table.phase(slot) {
            case .waiting: loseIfDrained(slot, at: now, &actions)
            case .stopping, .reaping: hastenTeardown(slot, at: now)
            case nil, .launching, .running, .outlived:
                fireEarly(slot, .shutdown, at: now, &actions)
            case .submitting, .restored, .starting, .withdrawing, .recordingAttempt,
                .recordingEnd, .ended:
                break
            }
        }
    }

    /// Ends the grace of a drain: what is still there is stopped now.
    package mutating func endGrace(at now: Instant, _ actions: inout [Action]) {
        for slot in table.slots(of: nil) where table.phase(slot)?.isUnderWay ?? true {
            table[slot].ownHardAt = min(table[slot].ownHardAt, now)
            updateDeadlines(slot)
            settle(slot, at: now, &actions)
        }
        endApplicationGrace(at: now, &actions)
    }

    /// Fires the handler now, as if the budget had run out.
    package mutating func simulateExpiration(
        _ id: TaskID, by caller: Caller, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) {
        let slot = try liveSlot(id, for: caller, at: now, &actions)
        guard table[slot].state == .running || table[slot].state == .dormant else {
            throw .notAccepting("the expiration handler of task \(id) has fired already")
        }
        fireEarly(slot, .simulated, at: now, &actions)
    }

    /// The hard limit as it applies to the task, and what is due next for it.
    mutating func updateDeadlines(_ slot: Int) {
        let clock = table[slot].hasApplication ? applicationClock(at: slot) : nil
        let isTicking = table[slot].findLimits(clock)
        let nextStepAt = table.phase(slot)?.teardown?.nextStepAt ?? .never
        guard isTicking else {
            // A dormant one may be stopped all the same, as what is left of it is when its command has ended.
            return table.setDeadline(min(nextStepAt, table[slot].warnAt), slot: slot)
        }
        let due = nextStepAt == .never ? min(table[slot].handlerAt, table[slot].hardAt) : nextStepAt
        table.setDeadline(min(due, table[slot].warnAt), slot: slot)
    }

    /// The handler fires now for another reason than the budget; one grace is left.
    private mutating func fireEarly(
        _ slot: Int, _ reason: Reason, at now: Instant, _ actions: inout [Action]
    ) {
        if table[slot].state == .dormant { table[slot].startClock(at: now) }
        let isFirst = table[slot].state != .expiring
        table[slot].ownHardAt = min(table[slot].ownHardAt, now + table[slot].grace)
        if isFirst {
            fireHandler(slot, reason, &actions)
        } else {
            table[slot].reason = reason
        }
        // One that was dormant takes a slot again.
        if table[slot].hasApplication { _ = followSlot(slot) }
        updateDeadlines(slot)
    }

    private mutating func fireHandler(_ slot: Int, _ reason: Reason, _ actions: inout [Action]) {
        let id = table[slot].id
        table[slot].state = .expiring
        table[slot].reason = reason
        counts.handlersFired += 1
        actions.append(.tell(.handlerFired, id))
        guard table[slot].kind == .run, let handler = table[run: id]?.work.expiration else {
            return
        }
        if let signal = handler.signal { actions.append(.signal(id, signal)) }
        if handler.command != nil, advance(slot, on: .handlerLaunched) {
            actions.append(.launchHandler(id))
        }
    }

    private mutating func overrun(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let task = table[slot]
        let outcome: Outcome = task.reason == .shutdown ? .interrupted : .overrun
        backgroundTimeIsOver(task, at: now, &actions)
        switch task.kind {
        case .held:
            finish(slot, outcome, reason: task.reason, at: now, &actions)
        case .run:
            table[slot].state = .expiring
            advance(slot, on: .overran(Teardown(outcome, [.killAll])))
            actions.append(.tell(.overrunning, task.id))
            startTeardown(slot, at: now, &actions)
        }
    }

    private mutating func reportAge(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        table[slot].warnAt = .never
        if ageReports.mayName(at: now) { actions.append(.tell(.grewOld, table[slot].id)) }
    }
}
