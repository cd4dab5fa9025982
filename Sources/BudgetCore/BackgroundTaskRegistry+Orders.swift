extension BackgroundTaskRegistry {
    /// Gives borrowed time back.
    ///
    /// - Returns: the outcome; `nil` for the invalid id 0, which ends nothing.
    package mutating func end(
        _ id: TaskID, by caller: Caller, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Outcome? {
        guard id != .invalid else { return nil }
        guard let slot = table.slot(of: id) else { return try outcomeOfEnded(id, for: caller) }
        guard table[slot].owner == caller.owner else { throw .noSuchTask(id) }
        guard table[slot].kind == .held else {
            throw .notAccepting("task \(id) ends when its command does; cancel stops it")
        }
        if table.isDue(slot, at: now) {
            settle(slot, at: now, &actions)
            guard table.slot(of: id) != nil else { return try outcomeOfEnded(id, for: caller) }
        }
        let outcome: Outcome = table[slot].state == .expiring ? .expired : .completed
        finish(slot, outcome, reason: table[slot].reason, at: now, &actions)
        return outcome
    }

    /// Starts the budget anew from now, cut to what the lifetime limit leaves.
    package mutating func extend(
        _ id: TaskID, by caller: Caller, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Remaining {
        let slot = try liveSlot(id, for: caller, at: now, &actions)
        guard !isDraining else { throw .notAccepting("the daemon is stopping") }
        let task = table[slot]
        guard task.ownHardAt != .never, task.state != .dormant else {
            return remaining(of: task, at: now)
        }
        // Without a budget of its own it was told to end early, and has no limit again.
        let asked = task.budget.map { now + $0.duration } ?? .never
        let granted = min(asked, task.lifetimeEndsAt)
        try checkGain(of: task, asked: asked, granted: granted, at: now)
        runAgain(slot)
        grant(slot, asked, cutTo: granted)
        tellExtended(slot, &actions)
        return remaining(of: table[slot], at: now)
    }

    /// A task whose handler had fired has time again, and the handler is to fire for it.
    mutating func runAgain(_ slot: Int) {
        table[slot].state = .running
        table[slot].reason = nil
    }

    /// Moves the hard limit of a task's own budget, and all that follows from it.
    mutating func grant(_ slot: Int, _ asked: Instant, cutTo granted: Instant) {
        table[slot].ownHardAt = granted
        table[slot].isCutByLifetime = granted < asked
        updateDeadlines(slot)
    }

    mutating func tellExtended(_ slot: Int, _ actions: inout [Action]) {
        let id = table[slot].id
        table[run: id]?.untoldExtension = .zero
        actions.append(.tell(.extended, id))
    }

    /// Refuses an extension by which nothing would be gained, with the limit that is in its way.
    private func checkGain(
        of task: BackgroundTask, asked: Instant, granted: Instant, at now: Instant
    ) throws(Refusal) {
        guard task.bound != .applicationBackgroundTime else {
            let left = max(task.hardAt - now, .zero)
            throw .limitReached(limit: "backgroundTime", value: left.wholeMilliseconds)
        }
        guard granted == asked || granted > task.ownHardAt else {
            let lifetimeMax = task.lifetimeMax ?? .zero
            throw .limitReached(limit: "lifetimeMax", value: lifetimeMax.wholeMilliseconds)
        }
    }

    /// Ends a task by order: a held one at once, a run one by SIGTERM, its grace, and a kill. The end of a
    /// queued one has to be on disk first.
    ///
    /// - Returns: whether the order waits for the disk, and is answered by `Action.answer`.
    package mutating func cancel(
        _ id: TaskID, by caller: Caller, text: String?, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        let record = try record(id, for: caller)
        guard let slot = table.slot(of: id) else {
            throw .alreadyEnded(id, record.task.outcome ?? .interrupted)
        }
        settle(slot, at: now, &actions)
        guard table.slot(of: id) != nil else { throw .alreadyEnded(id, decidedOutcome(id)) }
        let reason = Reason.cancelled(by: caller.owner, text: text)
        guard let phase = table.phase(slot) else {
            finish(slot, .cancelled, reason: reason, at: now, &actions)
            return false
        }
        return try cancelRun(slot, phase, reason, at: now, &actions)
    }

    private mutating func cancelRun(
        _ slot: Int, _ phase: RunPhase, _ reason: Reason, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        let id = table[slot].id
        switch phase {
        case .submitting, .restored, .waiting, .starting:
            if let storeFault { throw .notAccepting(storeFault) }
            conclude(slot, as: RunEvent.withdrawn, .cancelled, reason: reason, at: now, &actions)
            return true
        case .launching, .running, .outlived:
            cancelRunning(slot, reason, at: now, &actions)
            return table[run: id]?.queueing.retry != nil
        case .stopping, .reaping:
            let waits = forbidRetry(slot, &actions)
            // It stands for no other task of its name either.
            advance(slot, on: .retryForbidden(isOrdered: false))
            return waits
        case .withdrawing: return true
        case .recordingAttempt:
            if let storeFault { throw .notAccepting(storeFault) }
            advance(slot, on: .cancelledBetween(reason))
            return true
        case .recordingEnd(let conclusion): throw .alreadyEnded(id, conclusion.outcome)
        case .ended(let conclusion): throw .alreadyEnded(id, conclusion?.outcome ?? .interrupted)
        }
    }

    /// SIGTERM, the grace, and a kill. That it is not tried again has to be on disk.
    mutating func cancelRunning(
        _ slot: Int, _ reason: Reason, at now: Instant, _ actions: inout [Action]
    ) {
        let id = table[slot].id
        let isRetried = table[run: id]?.queueing.retry != nil
        let grace = min(table[slot].grace, table[slot].hardAt - now)
        let steps = TeardownStep.cancellation(grace: grace)
        advance(
            slot,
            on: .cancelled(Teardown(.cancelled, steps, retryBan: isRetried ? .ordered : .none)))
        if table[slot].state == .dormant { table[slot].startClock(at: now) }
        table[slot].state = .expiring
        table[slot].reason = reason
        actions.append(.tell(.cancelling, id))
        if isRetried { actions.append(.store(.cancelling(id))) }
        _ = followSlot(slot)
        startTeardown(slot, at: now, &actions)
    }

    /// A connection closed or a process exited: what it held and did not end is abandoned.
    ///
    /// - Parameter allowance: at most so many of its tasks, so that others are served in between; what is left of
    ///   it afterwards.
    /// - Returns: whether it holds nothing any more; else it is to be said again.
    package mutating func holderGone(
        _ holder: HolderID, reason: Reason, allowance: inout Int, at now: Instant,
        _ actions: inout [Action]
    ) -> Bool {
        while allowance > 0, let slot = table.firstSlot(heldBy: holder) {
            allowance -= 1
            let id = table[slot].id
            settle(slot, at: now, &actions)
            guard table.slot(of: id) != nil else { continue }
            finish(slot, .abandoned, reason: reason, at: now, &actions)
        }
        return table.firstSlot(heldBy: holder) == nil
    }

    /// The same for all of its tasks at once.
    package mutating func holderGone(
        _ holder: HolderID, reason: Reason, at now: Instant, _ actions: inout [Action]
    ) {
        var all = Int.max
        _ = holderGone(holder, reason: reason, allowance: &all, at: now, &actions)
    }

    /// What a task has left, and the rule that bounds it.
    package func remaining(of task: BackgroundTask, at now: Instant) -> Remaining {
        guard task.isLive, task.hardAt != .never else { return .unlimited }
        let untilHandler = task.state == .running ? task.handlerAt.nanoseconds(since: now) : 0
        return Remaining(
            untilHandlerNanoseconds: max(untilHandler, 0),
            untilHardLimitNanoseconds: max(task.hardAt.nanoseconds(since: now), 0),
            bound: task.bound
        )
    }

    /// The slot of a task that has begun and that an order can still reach.
    mutating func liveSlot(
        _ id: TaskID, for caller: Caller, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Int {
        let record = try record(id, for: caller)
        guard let slot = table.slot(of: id) else {
            throw .alreadyEnded(id, record.task.outcome ?? .interrupted)
        }
        guard record.task.state != .queued else {
            throw .notAccepting("task \(id) is queued; its budget has not begun")
        }
        settle(slot, at: now, &actions)
        guard table.slot(of: id) != nil, !isStopping(slot), !isConcluded(slot) else {
            throw .alreadyEnded(id, decidedOutcome(id))
        }
        return slot
    }

    /// Ends a task for good: from here on it has its outcome, and no handler fires.
    ///
    /// - Parameter endedAt: where that was before now.
    mutating func finish(
        _ slot: Int,
        _ outcome: Outcome,
        reason: Reason?,
        endedAt: Instant? = nil,
        at now: Instant,
        _ actions: inout [Action]
    ) {
        table[slot].end(outcome, reason, at: endedAt ?? now)
        counts.count(outcome)
        if table[slot].hasApplication { applicationTaskEnded(table[slot], at: now) }
        let id = table[slot].id
        let run = table.tombstone(at: slot)
        table.takeOut(slot)
        ended.take(&table[slot], run)
        table.free(slot)
        actions.append(.tell(.ended, id))
        if table.queuedCount > 0 { startQueued(at: now, &actions) }
    }

    private func outcomeOfEnded(_ id: TaskID, for caller: Caller) throws(Refusal) -> Outcome? {
        guard let end = ended.brief(of: id), end.owner == caller.owner else {
            throw .noSuchTask(id)
        }
        return end.outcome
    }

    private func decidedOutcome(_ id: TaskID) -> Outcome {
        record(id)?.task.outcome ?? table[run: id]?.phase.outcome ?? .interrupted
    }
}
