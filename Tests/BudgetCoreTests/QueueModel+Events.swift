import BudgetCore

extension QueueModel {
    // MARK: - Submissions and orders

    /// The task that has a unique name.
    private func uniqueTask(_ name: Name) -> Task? {
        tasks.last { $0.isUnique && $0.phase != .ended && self.name($0) == name }
    }

    private func uniqueTasks(_ name: Name) -> [Task] {
        tasks.filter { $0.isUnique && $0.phase != .ended && self.name($0) == name }
    }

    private func isReplaced(_ id: TaskID, by queueing: Queueing, _ name: Name) -> Bool {
        switch queueing.unique {
        case nil, .keep: false
        case .replace: uniqueTasks(name).contains { $0.id == id }
        case .replaceQueued: uniqueTask(name).map { $0.id == id && $0.isQueued } ?? false
        }
    }

    /// Whether another task of its unique name has come after it.
    private func isSuperseded(_ task: Task) -> Bool {
        task.isUnique && uniqueTask(name(task))?.id != task.id
    }

    enum Answer: Equatable {
        case refused
        case standsIn(TaskID)
        case taken
    }

    /// What a submission is answered, before anything of it is done.
    func answer(_ submission: Submission) -> Answer {
        guard !isFaulty, !isDraining else { return .refused }
        if let group = submission.queueing.group, groupSlots[group] == nil { return .refused }
        guard mayTake(submission.queueing), openPredecessors(of: submission) != nil else {
            return .refused
        }
        let name = Name(owner: submission.owner, name: submission.name)
        guard let unique = submission.queueing.unique, let present = uniqueTask(name) else {
            return .taken
        }
        if present.phase == .concluding {
            if present.isWithdrawal || present.isWithdrawn { return .refused }
            if present.retryAt == nil { return .taken }
            return unique == .keep ? .standsIn(present.id) : .refused
        }
        guard unique == .keep, !present.isCancelled, !present.isLastAttempt else { return .taken }
        return .standsIn(present.id)
    }

    private func mayTake(_ queueing: Queueing) -> Bool {
        guard queueing.slots > 1 else { return true }
        let most = min(
            slots, slotsPerOwnerMax ?? slots, queueing.group.flatMap { groupSlots[$0] } ?? slots)
        return queueing.slots <= most
    }

    /// What a submission comes after that has not ended; `nil` where it would wait in vain.
    private func openPredecessors(of submission: Submission) -> [Predecessor]? {
        var open: [Predecessor] = []
        for predecessor in submission.queueing.after {
            let end: Outcome
            let name = Name(owner: submission.owner, name: submission.name)
            if !predecessor.anyOutcome, isReplaced(predecessor.id, by: submission.queueing, name) {
                return nil
            }
            if let index = index(predecessor.id), tasks[index].phase != .ended {
                let task = tasks[index]
                guard task.owner == submission.owner, task.isAdmitted else { return nil }
                guard task.phase == .concluding, !task.isWithdrawal, task.retryAt == nil,
                    let outcome = task.outcome
                else {
                    open.append(predecessor)
                    continue
                }
                end = outcome
            } else {
                guard let known = outcomes[predecessor.id], known.owner == submission.owner
                else { return nil }
                end = known.outcome
            }
            guard end == .completed || predecessor.anyOutcome else { return nil }
        }
        return open
    }

    /// Changes what a queued task waits for.
    ///
    /// - Returns: whether the order is taken.
    mutating func change(_ id: TaskID, _ change: QueueingChange) -> Bool {
        guard let index = index(id), tasks[index].phase == .waiting, !isFaulty else { return false }
        let task = tasks[index]
        let queueing = change.applied(to: task.queueing)
        if let group = change.group, !group.isEmpty, groupSlots[group] == nil { return false }
        if change.slots != nil || change.group != nil {
            if let group = queueing.group, groupSlots[group] == nil { return false }
            guard mayTake(queueing) else { return false }
        }
        let isSo = change.earliestBegin == nil && queueing == task.queueing
        guard !isSo || !task.before.isEmpty else { return true }
        tasks[index].before.append((task.queueing, task.notBefore))
        tasks[index].queueing = queueing
        if let wait = change.earliestBegin {
            tasks[index].notBefore = boot + QueueSimulation.ticks(wait)
        }
        settle()
        return true
    }

    /// A submission is taken in under an id.
    mutating func submit(_ submission: Submission, as id: TaskID) {
        let name = Name(owner: submission.owner, name: submission.name)
        for present in uniqueTasks(name) {
            if submission.queueing.unique == .replace
                || submission.queueing.unique == .replaceQueued && present.isQueued
            {
                replace(present)
            }
        }
        var task = Task(
            id: id, owner: submission.owner, name: submission.name, queueing: submission.queueing)
        let wait = submission.queueing.earliestBegin.map(QueueSimulation.ticks) ?? 0
        if wait > 0 { task.notBefore = boot + wait }
        task.open = openPredecessors(of: submission) ?? []
        // Who is on the way to the disk came earlier, and has not had its turn.
        let startsAtOnce =
            !tasks.contains { $0.phase == .arriving || ($0.isArriving) } && wait == 0
            && !task.isByName && !mayReserve(of: task.owner) && holds(task).isEmpty
            && slotsHold(task.queueing.slots) == nil
        tasks.append(task)
        if startsAtOnce { grant(id) }
    }

    private mutating func replace(_ present: Task) {
        guard let index = index(present.id) else { return }
        switch present.phase {
        case .arriving, .waiting, .starting: conclude(index, .cancelled, isWithdrawal: true)
        case .running: stop(index)
        case .exited: forbidRetry(index)
        case .concluding, .ended: break
        }
    }

    private mutating func forbidRetry(_ index: Int) {
        if tasks[index].queueing.retry != nil { tasks[index].isLastAttempt = true }
    }

    private mutating func stop(_ index: Int) {
        guard !tasks[index].isCancelled else { return }
        guard !tasks[index].isKilled else { return forbidRetry(index) }
        tasks[index].isCancelled = true
        tasks[index].verdict = .cancelled
    }

    /// - Returns: whether the order is taken.
    mutating func cancel(_ id: TaskID) -> Bool {
        guard let index = index(id), tasks[index].isAdmitted else { return false }
        let task = tasks[index]
        switch task.phase {
        case .ended, .arriving: return false
        case .concluding:
            if task.isWithdrawal { return true }
            guard task.retryAt != nil, !isFaulty else { return false }
            tasks[index].isWithdrawn = true
        case .waiting, .starting:
            guard !isFaulty else { return false }
            conclude(index, .cancelled, isWithdrawal: true)
        case .running:
            stop(index)
            tasks[index].isLastAttempt = true
        case .exited: tasks[index].isLastAttempt = true
        }
        return true
    }

    // MARK: - Ends

    mutating func start(_ index: Int) {
        shortages = 0
        tasks[index].postponements = 0
    }

    /// There was no room to start it.
    mutating func postpone(_ index: Int, _ scope: ShortageScope) {
        if scope != .command, shortageEndsAt <= boot {
            shortages += 1
            shortageEndsAt = boot + pause(shortages)
            isShortOfExecutor = scope == .executor
        }
        if let verdict = tasks[index].verdict { return conclude(index, verdict) }
        freeSlot(index)
        if scope != .executor {
            let count = tasks[index].postponements + 1
            var until = boot + pause(count)
            if scope == .machine, count > 1 { until = max(until, shortageEndsAt) + 1 }
            tasks[index].postponements = count
            tasks[index].notBefore = until
        }
        tasks[index].phase = .waiting
        tasks[index].isStartStored = false
        settle()
    }

    /// The program that runs commands is there.
    mutating func executorIsThere() {
        if isShortOfExecutor { (shortages, shortageEndsAt, isShortOfExecutor) = (0, 0, false) }
        settle()
    }

    private func pause(_ count: Int) -> Int { count > 5 ? 30 : [1, 2, 4, 8, 16][count - 1] }

    mutating func exit(_ index: Int, _ exit: ProcessExit) {
        let task = tasks[index]
        tasks[index].killedAt = task.killedAt ?? now
        tasks[index].phase = .exited
        guard task.verdict == nil else { return }
        tasks[index].verdict = isDraining ? .interrupted : exit == .status(0) ? .completed : .failed
    }

    mutating func gone(_ index: Int) {
        conclude(index, tasks[index].verdict ?? .failed)
    }

    mutating func conclude(_ index: Int, _ outcome: Outcome, isWithdrawal: Bool = false) {
        let task = tasks[index]
        tasks[index].phase = .concluding
        tasks[index].outcome = outcome
        tasks[index].isWithdrawal = isWithdrawal
        let isRetried: Bool
        switch outcome {
        case .failed, .expired, .overrun: isRetried = true
        case .interrupted: isRetried = task.queueing.retry?.onInterruption == true
        default: isRetried = false
        }
        tasks[index].retryAt = nil
        if isRetried, !isSuperseded(task), !task.isCancelled, !task.isLastAttempt,
            let retry = task.queueing.retry,
            task.attempt < retry.attempts
        {
            let doubled = (1..<task.attempt).reduce(QueueSimulation.ticks(retry.delay)) {
                delay, _ in
                delay * 2
            }
            tasks[index].retryAt = boot + doubled
        }
        if outcome == .completed {
            successes[name(task)] = max(successes[name(task)] ?? boot, boot)
        }
        forgetTurns()
        if !isWithdrawal { freeSlot(index) }
        settle()
    }

    mutating func drain() {
        isDraining = true
    }

    /// Who is still there is killed.
    mutating func endGrace() {
        for index in tasks.indices where tasks[index].phase == .running {
            guard tasks[index].verdict == nil else { continue }
            tasks[index].verdict = .interrupted
            tasks[index].isKilled = true
            tasks[index].killedAt = tasks[index].killedAt ?? now
        }
    }
}

extension QueueModel.Task {
    /// Whether its submission is on its way, though its end is decided.
    var isArriving: Bool { phase == .concluding && !isAdmitted && !hasSlot && isWithdrawal }
}
