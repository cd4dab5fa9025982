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
            table[run: id]?.isCancelOnTheWay = false
            actions.append(.answer(id, nil))
        case .groupPaused(let group, let isPaused):
            pauseStored(group, isPaused, nil, at: now, &actions)
        case .ended(let id):
            unstoredEnds[id] = nil
            guard let slot = table.slot(of: id), let conclusion = table[run: id]?.conclusion
            else { return }
            if conclusion.isWithdrawal { actions.append(.answer(id, nil)) }
            finish(
                slot, conclusion.outcome, reason: conclusion.reason,
                endedAt: conclusion.endedAt, at: now, &actions)
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
        table[run: id]?.isAdmitted = true
        if let lastSuccess {
            table.queue.recall(OwnedName(table[slot]), succeededAt: lastSuccess)
        }
        if isStarted {
            startStored(slot, at: now, &actions)
        } else {
            arrivalCount -= 1
            queue(slot, at: now, &actions)
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
        case .submitted(let id, let isStarted):
            guard let slot = table.slot(of: id) else { return }
            if !isStarted { arrivalCount -= 1 }
            freeSlot(slot)
            table.remove(slot)
            actions.append(.answer(id, .notAccepting(reason)))
        case .started(let id):
            guard let slot = table.slot(of: id) else { return }
            freeSlot(slot)
            if !isConcluded(slot) { table.requeue(slot) }
        case .requeued(let id): returnNotStored(id)
        case .attemptEnded(let id): attemptNotStored(id, reason, &actions)
        case .cancelling(let id):
            // It is being stopped all the same.
            unstoredCancels.insert(id)
            table[run: id]?.isCancelOnTheWay = false
            actions.append(.answer(id, nil))
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
        // Nobody starts before all wait who can.
        for (slot, restored) in zip(slots, tasks) {
            guard let begunAt = restored.begunAt else { continue }
            table[slot].begunAt = min(begunAt, now)
            if restored.isCancelled { table[run: restored.id]?.verdict = .cancelled }
            conclude(slot, .interrupted, reason: .daemonLost, at: now, &actions)
        }
        for (slot, restored) in zip(slots, tasks) where restored.begunAt == nil {
            table.joinQueue(slot)
        }
        startQueued(at: now, &actions)
    }

    private mutating func takeOver(_ restored: RestoredTask) -> Int {
        let slot = table.admit(BackgroundTask(restored), RunTask(restored))
        trackName(slot)
        if let lastSuccess = restored.lastSuccess { noteSuccess(slot, at: lastSuccess) }
        return slot
    }

    /// Takes over the newest ended tasks that the disk knows, the oldest first.
    package mutating func restore(ended tasks: [RestoredTask]) {
        for record in tasks.compactMap(TaskRecord.init(ended:)) {
            var task = record.task
            ended.take(&task, record.run.map(EndedTask.epitaph))
        }
    }

    /// How a run task ended is decided: its slot is free, and it is told once the disk has it.
    mutating func conclude(
        _ slot: Int,
        _ outcome: Outcome,
        reason: Reason?,
        isWithdrawal: Bool = false,
        at now: Instant,
        _ actions: inout [Action]
    ) {
        let id = table[slot].id
        table[slot].stopClock(at: now)
        applicationTaskEnded(table[slot], at: now)
        let retryDelay = isWithdrawal ? nil : delayBeforeRetry(slot, outcome, reason)
        table.conclude(slot)
        table[run: id]?.nextStepAt = .never
        let boot = boot(at: now)
        table[run: id]?.conclusion = Conclusion(
            outcome: outcome, reason: reason, endedAt: now, endedAtBoot: boot,
            isWithdrawal: isWithdrawal, retryDelay: retryDelay)
        if outcome == .completed { noteSuccess(slot, at: boot) }
        // A start that is on its way to the disk keeps its slot until the disk has the end too.
        if !isWithdrawal { freeSlot(slot) }
        if retryDelay == nil {
            actions.append(.store(.ended(id)))
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
        holders.ids.count { id in
            guard let slot = table.slot(of: id) else { return false }
            return table[slot].state == .queued && table.isLive(slot)
        }
    }

    /// Whether the end of a task is decided.
    func isConcluded(_ slot: Int) -> Bool {
        table[slot].kind == .run && table[run: table[slot].id]?.conclusion != nil
    }

    /// A start is on disk: the budget begins, unless the task is not to start any more.
    private mutating func startStored(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let id = table[slot].id
        guard let run = table[run: id] else { return }
        table[run: id]?.isStartStored = true
        guard run.conclusion == nil else { return }
        guard !isDraining else {
            freeSlot(slot)
            table[run: id]?.isStartStored = false
            table.setAside(slot)
            if keepsQueue { actions.append(.store(.requeued(id))) }
            return queue(slot, at: now, &actions)
        }
        begin(slot, at: now, &actions)
    }

    /// Lets a task wait for its turn, which a daemon that stops and keeps nothing will not give it.
    mutating func queue(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard !isConcluded(slot) else { return }
        guard isDraining, !keepsQueue else { return table.joinQueue(slot) }
        conclude(slot, .interrupted, reason: .queueLost, at: now, &actions)
    }

    private mutating func begin(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        counts.begunRun += 1
        table[run: table[slot].id]?.isMainRunning = true
        startBudget(slot, at: now, &actions)
        if table[slot].hasApplication, followSlot(slot) { startQueued(at: now, &actions) }
    }

    private func launchIfBegun(_ slot: Int, _ actions: inout [Action]) {
        let id = table[slot].id
        if table[run: id]?.isMainRunning == true { actions.append(.launch(id)) }
    }

    /// An end that the disk does not know is told all the same, and kept until the disk takes it. An
    /// order for a queued task is refused instead: after a crash the task would run.
    private mutating func endNotStored(
        _ id: TaskID, _ reason: String, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let conclusion = table[run: id]?.conclusion
        else { return }
        guard !conclusion.isWithdrawal else {
            table[run: id]?.conclusion = nil
            actions.append(.answer(id, .notAccepting(reason)))
            let isStarted = table[run: id]?.isStartStored == true
            table.reopen(slot, asLive: isStarted)
            guard isStarted else { return }
            startStored(slot, at: now, &actions)
            return launchIfBegun(slot, &actions)
        }
        if conclusion.outcome == .completed {
            // Others of its name may wait since it was concluded, and do not learn of it from the disk.
            noteSuccess(slot, at: conclusion.endedAtBoot)
        }
        finish(
            slot, conclusion.outcome, reason: conclusion.reason, endedAt: conclusion.endedAt,
            at: now, &actions)
        unstoredEnds[id] = ended[id]
    }
}
