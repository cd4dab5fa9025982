import BudgetCore

extension QueueModel {
    /// A step is on disk.
    mutating func stored(_ step: StoreStep) {
        switch step {
        case .submitted(let id, let isStarted):
            guard let index = index(id) else { return }
            tasks[index].isAdmitted = true
            if isStarted { return startStored(index) }
            if tasks[index].phase == .arriving { tasks[index].phase = .waiting }
            failIfBroken(index)
            settle()
        case .started(let id):
            if let index = index(id) { startStored(index) }
        case .ended(let id):
            guard let index = index(id), tasks[index].phase == .concluding else { return }
            end(index)
        case .attemptEnded(let id):
            if let index = index(id) { attemptStored(index) }
        case .groupPaused(let group, let isPaused):
            if isPaused { paused.insert(group) } else { paused.remove(group) }
            settle()
        case .ownerPaused(let owner, let isPaused):
            if isPaused { pausedOwners.insert(owner) } else { pausedOwners.remove(owner) }
            settle()
        case .changed(let id):
            if let index = index(id), !tasks[index].before.isEmpty {
                tasks[index].before.removeFirst()
            }
            settle()
        case .slotsOrdered, .cleaned, .startUndone, .cancelling, .applicationSaved,
            .applicationForgotten,
            .identifiersReserved:
            break
        }
    }

    /// A step is not on disk.
    mutating func notStored(_ step: StoreStep) {
        isFaulty = true
        switch step {
        case .submitted(let id, _):
            guard let index = index(id) else { return }
            freeSlot(index)
            tasks.remove(at: index)
            forgetTurns()
        case .started(let id):
            guard let index = index(id) else { return }
            freeSlot(index)
            if tasks[index].phase != .concluding { tasks[index].phase = .waiting }
        case .ended(let id):
            guard let index = index(id), tasks[index].phase == .concluding else { return }
            if tasks[index].isWithdrawal { goOn(index) } else { end(index) }
        case .attemptEnded(let id):
            if let index = index(id) { tasks[index].isWithdrawn = false }
        case .changed(let id):
            guard let index = index(id), let first = tasks[index].before.first else { return }
            (tasks[index].queueing, tasks[index].notBefore) = first
            tasks[index].before = tasks[index].before.dropFirst().map { _ in first }
        case .groupPaused, .ownerPaused, .slotsOrdered, .cleaned, .startUndone, .cancelling,
            .applicationSaved, .applicationForgotten, .identifiersReserved:
            break
        }
    }

    mutating func heal() {
        isFaulty = false
        settle()
    }

    private mutating func startStored(_ index: Int) {
        tasks[index].isStartStored = true
        guard tasks[index].phase == .starting else { return }
        guard isDraining else { return tasks[index].phase = .running }
        freeSlot(index)
        tasks[index].phase = .waiting
        tasks[index].isStartStored = false
    }

    private mutating func end(_ index: Int) {
        tasks[index].phase = .ended
        freeSlot(index)
        let task = tasks[index]
        vainEnds.remove(task.id)
        let outcome = task.outcome ?? .interrupted
        outcomes[task.id] = (task.owner, outcome)
        for other in tasks.indices {
            let met = tasks[other].open.allSatisfy {
                $0.id != task.id || $0.anyOutcome || outcome == .completed
            }
            tasks[other].open.removeAll { $0.id == task.id }
            guard !met, !tasks[other].isBroken else { continue }
            tasks[other].isBroken = true
            vain.append(tasks[other].id)
        }
        settle()
    }

    /// Those end that wait in vain: in turns of their own and a few at a time, since there may be many.
    mutating func failVain() {
        while vainEnds.count < QueueModel.vainEndsMax, let id = vain.first {
            vain.removeFirst()
            if let index = index(id) { failIfBroken(index) }
        }
    }

    /// A queued task ends that comes after one which did not end as it was to.
    private mutating func failIfBroken(_ index: Int) {
        guard tasks[index].isBroken, tasks[index].phase == .waiting else { return }
        vainEnds.insert(tasks[index].id)
        tasks[index].isLastAttempt = true
        conclude(index, .failed)
    }

    private mutating func attemptStored(_ index: Int) {
        guard let retryAt = tasks[index].retryAt, tasks[index].phase == .concluding else { return }
        let isWithdrawn = tasks[index].isWithdrawn
        tasks[index].phase = .waiting
        tasks[index].attempt += 1
        tasks[index].notBefore = retryAt
        tasks[index].isStartStored = false
        tasks[index].isKilled = false
        tasks[index].killedAt = nil
        tasks[index].postponements = 0
        tasks[index].isWithdrawn = false
        tasks[index].verdict = nil
        if isWithdrawn { conclude(index, .cancelled, isWithdrawal: true) } else { settle() }
    }

    /// The order to end it while it was queued is refused.
    private mutating func goOn(_ index: Int) {
        tasks[index].isWithdrawal = false
        tasks[index].phase = tasks[index].isStartStored ? .starting : .waiting
        failIfBroken(index)
        if tasks[index].phase == .starting { startStored(index) }
    }

    // MARK: - Restarts

    /// Another daemon takes over what is on disk.
    mutating func restart(_ disk: QueueDisk) {
        tasks = disk.tasks.filter { !$0.hasEnded }.map { disk.modelled($0) }
        paused = disk.paused
        pausedOwners = disk.pausedOwners
        outcomes = [:]
        for task in disk.tasks {
            if let outcome = task.outcome { outcomes[task.id] = (task.submission.owner, outcome) }
        }
        successes = disk.successes
        conditions = []
        (isFaulty, isDraining, servedAt, passes) = (false, false, [:], [:])
        (shortages, shortageEndsAt, isShortOfExecutor) = (0, 0, false)
        (vain, vainEnds) = (tasks.filter(\.isBroken).map(\.id), [])
        let ran = disk.tasks.filter { !$0.hasEnded && $0.isBegun }.map(\.id)
        // What waits is looked at when all that ran is decided.
        for id in ran {
            guard let index = index(id) else { continue }
            conclude(index, .interrupted)
        }
        for index in tasks.indices where tasks[index].phase == .arriving {
            tasks[index].phase = .waiting
        }
        settle()
    }
}

/// What is on a disk that loses nothing that it took.
struct QueueDisk {
    struct Task {
        let id: TaskID
        var submission: Submission
        var isBegun: Bool
        var attempt = 1
        var notBefore: BootInstant
        var isCancelled = false
        var hasEnded = false
        var outcome: Outcome?
        /// What it came after that had not ended when it was submitted, with how that ended then.
        var dependencies: [(predecessor: Predecessor, outcome: Outcome?)] = []

        var modelled: QueueModel.Task {
            var task = QueueModel.Task(
                id: id, owner: submission.owner, name: submission.name,
                queueing: submission.queueing)
            task.attempt = attempt
            task.notBefore = max(QueueSimulation.ticks(notBefore), 0)
            task.isCancelled = isCancelled
            task.isAdmitted = true
            return task
        }
    }

    /// A step with what the record of its task said at the moment of the step.
    struct Write {
        let step: StoreStep
        let record: TaskRecord?
        /// What a task that is submitted comes after and that has not ended.
        var open: [Predecessor] = []
    }

    var tasks: [Task] = []
    var paused: Set<String> = []
    var pausedOwners: Set<OwnerID> = []
    var successes: [QueueModel.Name: Int] = [:]

    /// How a task stands with what it comes after.
    func wait(of task: Task) -> (open: [Predecessor], broken: BrokenDependency?) {
        var (open, broken): ([Predecessor], BrokenDependency?) = ([], nil)
        guard !task.isBegun else { return (open, broken) }
        for (predecessor, outcome) in task.dependencies {
            if outcome == nil {
                open.append(predecessor)
            } else if outcome != .completed, !predecessor.anyOutcome, broken == nil {
                broken = BrokenDependency(predecessor.id, outcome)
            }
        }
        return (open, broken)
    }

    func modelled(_ task: Task) -> QueueModel.Task {
        var modelled = task.modelled
        let wait = wait(of: task)
        (modelled.open, modelled.isBroken) = (wait.open, wait.broken != nil)
        return modelled
    }

    /// - Returns: of a submission with an interval, the last success of its name.
    mutating func take(_ write: Write) -> BootInstant? {
        guard let record = write.record, let run = record.run else {
            if case .groupPaused(let group, let isPaused) = write.step {
                if isPaused { paused.insert(group) } else { paused.remove(group) }
            }
            if case .ownerPaused(let owner, let isPaused) = write.step {
                if isPaused { pausedOwners.insert(owner) } else { pausedOwners.remove(owner) }
            }
            return nil
        }
        let name = QueueModel.Name(owner: record.task.owner, name: record.task.name)
        if case .submitted(let id, let isStarted) = write.step {
            var submission = Submission(name: name.name, owner: name.owner, work: run.work)
            submission.queueing = run.queueing
            var task = Task(
                id: id, submission: submission, isBegun: isStarted, notBefore: run.notBefore)
            task.dependencies = write.open.map { predecessor in
                (predecessor, tasks.first { $0.id == predecessor.id }?.outcome)
            }
            tasks.append(task)
            guard run.queueing.minimumInterval != nil else { return nil }
            return successes[name].map(QueueSimulation.boot)
        }
        guard let index = tasks.firstIndex(where: { $0.id == record.task.id }) else { return nil }
        change(index, write.step, run, name)
        return nil
    }

    private mutating func change(
        _ index: Int, _ step: StoreStep, _ run: RunTask, _ name: QueueModel.Name
    ) {
        switch step {
        case .started: tasks[index].isBegun = true
        case .startUndone: tasks[index].isBegun = false
        case .cancelling: tasks[index].isCancelled = true
        case .ended:
            tasks[index].hasEnded = true
            tasks[index].outcome = run.conclusion?.outcome
            let (id, outcome) = (tasks[index].id, run.conclusion?.outcome)
            for other in tasks.indices {
                for place in tasks[other].dependencies.indices
                where tasks[other].dependencies[place].predecessor.id == id {
                    tasks[other].dependencies[place].outcome = outcome
                }
            }
            guard let end = run.conclusion, end.outcome == .completed else { return }
            let at = QueueSimulation.ticks(end.endedAtBoot)
            successes[name] = max(successes[name] ?? at, at)
        case .attemptEnded:
            tasks[index].isBegun = false
            tasks[index].attempt = run.attempt + 1
            if let end = run.conclusion, let delay = end.retryDelay {
                tasks[index].notBefore = end.endedAtBoot + delay
            }
        case .changed:
            tasks[index].submission.queueing = run.queueing
            tasks[index].notBefore = run.notBefore
        case .submitted, .groupPaused, .ownerPaused, .slotsOrdered, .cleaned, .applicationSaved,
            .applicationForgotten, .identifiersReserved:
            break
        }
    }
}
