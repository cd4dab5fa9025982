package import BudgetCore
package import TaskStore

/// The clock of this run and the time of day at one moment, to tell the one from the other: instants
/// mean nothing to another run.
package struct ClockPair {
    let instant: Instant
    let boot: BootInstant
    package let time: WallTime

    package init(instant: Instant, boot: BootInstant, time: WallTime) {
        self.instant = instant
        self.boot = boot
        self.time = time
    }

    /// The time of day at an instant.
    func time(at other: Instant) -> WallTime {
        time.earlier(by: instant - other)
    }

    /// The same for an instant of the clock that goes on while the machine sleeps.
    func time(at other: BootInstant) -> WallTime {
        time.earlier(by: boot - other)
    }

    /// When something that was recorded happened; now at the latest, where the clock was set back.
    func instant(at other: WallTime) -> Instant {
        instant - other.elapsed(at: time)
    }

    /// The same on the clock that goes on while the machine sleeps.
    func boot(at other: WallTime) -> BootInstant {
        boot - other.elapsed(at: time)
    }
}

extension StoreChange {
    /// What a step says of its task, which the record has at the moment of the order.
    ///
    /// - Parameter executor: the one that commands are started by now; `nil` where nothing is started.
    package init?(
        _ step: StoreStep, _ record: TaskRecord?, _ clocks: ClockPair,
        executor: ExecutorInstance? = nil
    ) {
        switch step {
        case .identifiersReserved(let last): self = .identifiersReserved(through: last)
        case .started(let id):
            self = .started(id, at: clocks.time, executor: executor)
        case .startUndone(let id): self = .startUndone(id)
        case .submitted(_, let isStarted):
            guard let record, let run = record.run else { return nil }
            var task = StoredTask(
                record.task, run, startedAt: isStarted ? clocks.time : nil, clocks)
            if isStarted { task.executor = executor }
            self = .submitted(task)
        case .ended(let id):
            guard let record, let end = StoredEnd(record, clocks) else { return nil }
            self = .ended(id, end)
        case .attemptEnded(let id):
            guard let record, let run = record.run, let delay = run.conclusion?.retryDelay,
                let end = StoredEnd(record, clocks)
            else { return nil }
            self = .requeued(
                id, StoredRequeue(end: end, attempt: run.attempt + 1, earliestBegin: delay))
        case .cancelling(let id): self = .cancelling(id)
        case .changed(let id):
            guard let run = record?.run else { return nil }
            self = .changed(id, StoredTerms(run, clocks))
        case .groupPaused(let group, let isPaused): self = .groupPaused(group, isPaused)
        case .cleaned(let ids, let caller):
            self = .cleaned(ids, of: caller.seesAll ? nil : caller.owner)
        case .slotsOrdered(let order): self = .slotsOrdered(order)
        case .ownerPaused(let owner, let isPaused): self = .ownerPaused(owner, isPaused)
        case .applicationForgotten(let key):
            self = .applicationForgotten(owner: key.owner, id: key.id)
        case .applicationSaved: return nil
        }
    }
}

extension StoredTask {
    fileprivate init(
        _ task: BackgroundTask, _ run: RunTask, startedAt: WallTime?, _ clocks: ClockPair
    ) {
        self.init(
            id: task.id, owner: task.owner, name: task.name, application: task.application,
            profile: task.profile, budget: task.budget, grace: task.grace,
            lifetimeMax: task.lifetimeMax, isCutByLifetime: task.isCutByLifetime, work: run.work,
            queueing: run.queueing, submittedAt: clocks.time(at: task.submittedAt),
            startedAt: startedAt)
    }
}

extension StoredTerms {
    /// - Parameter run: of a task that is queued.
    fileprivate init(_ run: RunTask, _ clocks: ClockPair) {
        var queueing = run.queueing
        let wait = run.notBefore - clocks.boot
        queueing.earliestBegin = wait > .zero ? wait : nil
        self.init(queueing, at: clocks.time)
    }
}

extension StoredEnd {
    fileprivate init?(_ record: TaskRecord, _ clocks: ClockPair) {
        guard let run = record.run, let conclusion = run.conclusion else { return nil }
        self.init(
            at: clocks.time(at: conclusion.endedAt), outcome: conclusion.outcome, exit: run.exit,
            reason: conclusion.reason, warnedAt: record.task.warnedAt.map(clocks.time),
            used: record.task.used(at: conclusion.endedAt),
            cpu: run.use?.cpu, memoryPeakBytes: run.use?.memoryPeakBytes)
    }
}

extension RestoredTask {
    /// - Parameter lastSuccess: when a task of its owner and name last completed, where it is known.
    package init(_ stored: StoredTask, lastSuccess: WallTime? = nil, _ clocks: ClockPair) {
        var submission = Submission(name: stored.name, owner: stored.owner, work: stored.work)
        submission.application = stored.application
        submission.queueing = stored.queueing
        self.init(
            id: stored.id, submission: submission, profile: stored.profile, budget: stored.budget,
            grace: stored.grace, lifetimeMax: stored.lifetimeMax,
            isCutByLifetime: stored.isCutByLifetime,
            submittedAt: clocks.instant(at: stored.submittedAt),
            begunAt: stored.startedAt.map(clocks.instant))
        attempt = stored.attempt
        attempts = stored.attempts.map { EndedAttempt($0, clocks) }
        isCancelled = stored.isCancelled
        executor = stored.executor
        if let wait = stored.queueing.earliestBegin, wait > .zero {
            notBefore = clocks.boot(at: stored.queuedAt) + wait
        }
        self.lastSuccess = lastSuccess.map(clocks.boot)
        end = stored.end.map { end in
            RestoredEnd(
                outcome: end.outcome, reason: end.reason, exit: end.exit,
                warnedAt: end.warnedAt.map(clocks.instant), endedAt: clocks.instant(at: end.at),
                used: end.used,
                use: end.cpu.map { ResourceUse(cpu: $0, memoryPeakBytes: end.memoryPeakBytes) })
        }
    }
}

extension [Dependency] {
    /// Those that are known, and the first that did not end as it was needed, or of which nobody knows how it ended.
    ///
    /// - Parameter live: the tasks that have not ended.
    func wait(among live: Set<TaskID>) -> (known: [Dependency], broken: BrokenDependency?) {
        var (known, broken): ([Dependency], BrokenDependency?) = ([], nil)
        for dependency in self {
            let predecessor = dependency.predecessor
            let isKnown = dependency.outcome != nil || live.contains(predecessor.id)
            if isKnown { known.append(dependency) }
            let isOpen = dependency.outcome == nil && isKnown
            guard broken == nil, !isOpen, !predecessor.anyOutcome, dependency.outcome != .completed
            else { continue }
            broken = BrokenDependency(predecessor.id, dependency.outcome)
        }
        return (known, broken)
    }
}

extension EndedAttempt {
    fileprivate init(_ stored: StoredAttempt, _ clocks: ClockPair) {
        let end = stored.end
        self.init(
            attempt: stored.attempt, outcome: end.outcome, reason: end.reason, exit: end.exit,
            startedAt: stored.startedAt.map(clocks.instant),
            warnedAt: end.warnedAt.map(clocks.instant), endedAt: clocks.instant(at: end.at),
            used: end.used,
            use: end.cpu.map { ResourceUse(cpu: $0, memoryPeakBytes: end.memoryPeakBytes) })
    }
}
