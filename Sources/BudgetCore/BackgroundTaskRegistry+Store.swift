extension BackgroundTaskRegistry {
    /// A step is on disk.
    ///
    /// - Parameter lastSuccess: of a submission that keeps an interval, when a task of its owner and name
    ///   last completed as far as the disk knows.
    package mutating func stored(
        _ step: StoreStep, lastSuccess: BootInstant? = nil, at now: Instant,
        _ actions: inout [Action]
    ) {
        switch step {
        case .submitted(let id, let isStarted):
            admitted(id, isStarted: isStarted, lastSuccess, at: now, &actions)
        case .started(let id):
            guard let slot = table.slot(of: id) else { return }
            startStored(slot, at: now, &actions)
            launchIfBegun(slot, &actions)
        case .requeued: break
        case .attemptEnded(let id): attemptStored(id, at: now, &actions)
        case .cancelling(let id):
            unstoredCancels.remove(id)
            retryBanAnswered(id, &actions)
        case .groupPaused(let group, let isPaused):
            pauseStored(group, isPaused, nil, at: now, &actions)
        case .ended(let id):
            unstoredEnds[id] = nil
            guard let slot = table.slot(of: id), let phase = table.phase(slot) else { return }
            if case .withdrawing = phase { actions.append(.answer(id, nil)) }
            finishRun(slot, at: now, &actions)
        case .applicationSaved(let key): applicationStored(key, nil, at: now, &actions)
        case .applicationForgotten(let key): forgettingStored(key, nil, &actions)
        case .identifiersReserved(let last):
            identifiers.reserved(through: last)
        }
    }

    /// A submission is on disk: it is there for everybody, and waits for its turn or starts.
    private mutating func admitted(
        _ id: TaskID, isStarted: Bool, _ lastSuccess: BootInstant?, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id) else { return }
        if let lastSuccess {
            table.queue.recall(OwnedName(table[slot]), succeededAt: lastSuccess)
        }
        if isStarted {
            startStored(slot, at: now, &actions)
        } else {
            advance(slot, on: .admitted)
            loseIfDrained(slot, at: now, &actions)
        }
        actions.append(.answer(id, nil))
        actions.append(.tell(.queued, id))
        if isStarted {
            launchIfBegun(slot, &actions)
        } else {
            startQueued(at: now, &actions)
        }
    }

    /// A step is not on disk, and neither is any other of its commit. Nothing new is taken in and
    /// nothing queued starts until `storeHealed`; what runs keeps its budget.
    ///
    /// - Parameter reason: what failed, in words for those whose submissions are refused.
    package mutating func notStored(
        _ step: StoreStep, _ reason: String, at now: Instant, _ actions: inout [Action]
    ) {
        storeFault = reason
        switch step {
        case .submitted(let id, _):
            guard let slot = table.slot(of: id) else { return }
            freeSlot(slot)
            table.remove(slot)
            actions.append(.answer(id, .notAccepting(reason)))
        case .started(let id):
            guard let slot = table.slot(of: id) else { return }
            advance(slot, on: .startNotStored)
        case .requeued(let id): returnNotStored(id)
        case .attemptEnded(let id): attemptNotStored(id, reason, &actions)
        case .cancelling(let id):
            // It is being stopped all the same.
            unstoredCancels.insert(id)
            retryBanAnswered(id, &actions)
        case .groupPaused(let group, let isPaused):
            pauseStored(group, isPaused, .notAccepting(reason), at: now, &actions)
        case .ended(let id): endNotStored(id, reason, at: now, &actions)
        case .applicationSaved(let key):
            applicationStored(key, .notAccepting(reason), at: now, &actions)
        case .applicationForgotten(let key):
            forgettingStored(key, .notAccepting(reason), &actions)
        case .identifiersReserved: identifiers.notReserved()
        }
    }

    /// The disk has not answered for long. What is on its way waits on; nothing more is taken in until
    /// `storeHealed`.
    package mutating func storeSilent(_ reason: String) {
        storeFault = storeFault ?? reason
    }

    /// The disk takes writes again: what ended meanwhile is recorded, and the queue goes on.
    package mutating func storeHealed(at now: Instant, _ actions: inout [Action]) {
        guard storeFault != nil else { return }
        storeFault = nil
        // An end that is on its way to the disk says more.
        unstoredCancels = unstoredCancels.filter { id in
            table.slot(of: id).map { !isConcluded($0) } ?? false
        }
        for id in unstoredCancels.sorted() { actions.append(.store(.cancelling(id))) }
        for id in unstoredEndsInOrder { actions.append(.store(.ended(id))) }
        for id in unstoredAttempts.sorted() { actions.append(.store(.attemptEnded(id))) }
        saveApplicationsAgain(&actions)
        storeReturnsAgain(&actions)
        startQueued(at: now, &actions)
    }

    /// As they came about: the disk counts an interval from the success that it was told last.
    private var unstoredEndsInOrder: [TaskID] {
        unstoredEnds.sorted { one, other in
            (one.value.task.endedAt, one.key) < (other.value.task.endedAt, other.key)
        }
        .map(\.key)
    }

    /// Takes over what an earlier daemon left: what waited is queued, and what ran was interrupted.
    ///
    /// Called once, before anything begins, with the tasks in the order of their ids.
    package mutating func restore(
        _ tasks: [RestoredTask], at now: Instant, _ actions: inout [Action]
    ) {
        let slots = tasks.map { takeOver($0) }
        // Queue every restored task before starting any, so that priorities are compared across all.
        for (slot, restored) in zip(slots, tasks) {
            guard let begunAt = restored.begunAt else { continue }
            table[slot].begunAt = min(begunAt, now)
            conclude(
                slot, as: RunEvent.lost, .interrupted, reason: .daemonLost,
                mayBeTriedAgain: !restored.isCancelled, at: now, &actions)
        }
        for (slot, restored) in zip(slots, tasks) where restored.begunAt == nil {
            advance(slot, on: .admitted)
        }
        startQueued(at: now, &actions)
    }

    private mutating func takeOver(_ restored: RestoredTask) -> Int {
        let slot = table.insertRun(BackgroundTask(restored), RunTask(restored))
        trackName(slot)
        if let lastSuccess = restored.lastSuccess { noteSuccess(slot, at: lastSuccess) }
        return slot
    }

    /// Takes over the newest ended tasks that the disk knows, the oldest first.
    package mutating func restore(ended tasks: [RestoredTask]) {
        for record in tasks.compactMap(TaskRecord.init(ended:)) {
            var task = record.task
            ended.take(&task, record.run.map(EndedTask.tombstone))
        }
    }

    /// Has something happen to a run task: it takes its next phase, and its slot follows.
    ///
    /// - Returns: whether that changed anything.
    @discardableResult
    mutating func advance(_ slot: Int, on event: RunEvent) -> Bool {
        guard let before = table.phase(slot) else { return false }
        switch before.next(on: event) {
        case .goes(let after):
            if before.hasSlot, !after.hasSlot { freeSlot(slot) }
            table.move(slot, to: after)
            if after.hasSlot, !before.hasSlot { takeSlot(slot) }
            return true
        case .stays: return false
        case nil:
            assertionFailure("\(event) of a task that is \(before)")
            return false
        }
    }

    /// How a run task ended is decided by an event: its slot is free, and it is told once the disk has it.
    ///
    /// - Parameter mayBeTriedAgain: whether another attempt may follow, as far as orders go.
    mutating func conclude(
        _ slot: Int,
        as event: (Conclusion) -> RunEvent,
        _ outcome: Outcome,
        reason: Reason?,
        mayBeTriedAgain: Bool = true,
        at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let run = table[run: table[slot].id] else { return }
        let conclusion = Conclusion(
            outcome: outcome, reason: reason, endedAt: now, endedAtBoot: boot(at: now),
            retryDelay: mayBeTriedAgain ? delayBeforeRetry(run, outcome, reason) : nil,
            wasStuck: run.isStuck)
        guard advance(slot, on: event(conclusion)) else { return }
        table[slot].stopClock(at: now)
        applicationTaskEnded(table[slot], at: now)
        if outcome == .completed { noteSuccess(slot, at: conclusion.endedAtBoot) }
        if conclusion.retryDelay == nil {
            actions.append(.store(.ended(table[slot].id)))
        } else {
            endAttempt(slot, &actions)
        }
        startQueued(at: now, &actions)
    }

    /// An interval counts from the last success of whatever task of that owner and name.
    private mutating func noteSuccess(_ slot: Int, at boot: BootInstant) {
        table.queue.succeeded(OwnedName(table[slot]), at: boot)
    }

    /// How many tasks count as live and have not begun, since the disk has not answered yet.
    var startsOnTheWay: Int {
        holders.ids.count { table[run: $0]?.phase.isStarting ?? false }
    }

    /// Whether the end of a task is decided.
    func isConcluded(_ slot: Int) -> Bool { table.phase(slot)?.isConcluded ?? false }

    /// A start is on disk: the budget begins, unless the task is not to start any more.
    private mutating func startStored(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        advance(slot, on: .startStored)
        beginLaunch(slot, at: now, &actions)
    }

    /// The budget of a task begins whose command is to be started, unless the daemon stops.
    private mutating func beginLaunch(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard let phase = table.phase(slot), phase.isLaunching else { return }
        guard !isDraining else {
            advance(slot, on: .notStarted)
            if keepsQueue { actions.append(.store(.requeued(table[slot].id))) }
            return loseIfDrained(slot, at: now, &actions)
        }
        counts.begunRun += 1
        startBudget(slot, at: now, &actions)
        if table[slot].hasApplication, followSlot(slot) { startQueued(at: now, &actions) }
    }

    /// A daemon that stops and keeps nothing gives no turn to a task that waits for one.
    mutating func loseIfDrained(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard isDraining, !keepsQueue, table.phase(slot)?.isWaiting == true else { return }
        conclude(
            slot, as: RunEvent.lost, .interrupted, reason: .queueLost, at: now, &actions)
    }

    private func launchIfBegun(_ slot: Int, _ actions: inout [Action]) {
        if table.phase(slot)?.isLaunching == true { actions.append(.launch(table[slot].id)) }
    }

    /// The disk has answered about an order that a task is not tried again, which is being stopped all the same.
    private mutating func retryBanAnswered(_ id: TaskID, _ actions: inout [Action]) {
        if let slot = table.slot(of: id) { advance(slot, on: .retryBanAnswered) }
        actions.append(.answer(id, nil))
    }

    /// An end that the disk does not know is told all the same, and kept until the disk takes it. An
    /// order for a queued task is refused instead: after a crash the task would run.
    private mutating func endNotStored(
        _ id: TaskID, _ reason: String, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let phase = table.phase(slot) else { return }
        if case .withdrawing = phase {
            advance(slot, on: .withdrawalNotStored)
            actions.append(.answer(id, .notAccepting(reason)))
            beginLaunch(slot, at: now, &actions)
            return launchIfBegun(slot, &actions)
        }
        if let conclusion = phase.conclusion, conclusion.outcome == .completed {
            // Others of its name may wait since it was concluded, and do not learn of it from the disk.
            noteSuccess(slot, at: conclusion.endedAtBoot)
        }
        finishRun(slot, at: now, &actions)
        unstoredEnds[id] = ended[id]
    }

    /// A run task whose end is decided ends for good.
    private mutating func finishRun(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard let conclusion = table.phase(slot)?.conclusion, advance(slot, on: .endRecorded)
        else { return }
        finish(
            slot, conclusion.outcome, reason: conclusion.reason, endedAt: conclusion.endedAt,
            at: now, &actions)
    }
}
