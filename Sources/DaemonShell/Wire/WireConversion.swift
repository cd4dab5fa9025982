internal import BudgetCore
internal import LinuxSystem
internal import TaskAPI

// The core's values as the interface has them: times in whole milliseconds, ids as numbers.

extension TaskID {
    /// The id on the wire; ids stay below 2^63.
    var number: Int { Int(clamping: rawValue) }

    /// - Returns: `nil` for a negative number, which no task has.
    init?(number: Int) {
        guard let value = UInt64(exactly: number) else { return nil }
        self.init(rawValue: value)
    }
}

extension Tasks.Outcome {
    init(_ outcome: Outcome) {
        self =
            switch outcome {
            case .completed: .completed
            case .failed: .failed
            case .expired: .expired
            case .overrun: .overrun
            case .cancelled: .cancelled
            case .abandoned: .abandoned
            case .interrupted: .interrupted
            }
    }
}

extension Outcome {
    /// The outcomes that a call names.
    static func those(in named: [Tasks.Outcome]) -> Set<Outcome> {
        Set(Outcome.allCases.filter { named.contains(Tasks.Outcome($0)) })
    }
}

extension Tasks.State {
    init(_ state: TaskState) {
        self =
            switch state {
            case .queued: .queued
            case .dormant: .dormant
            case .running: .running
            case .expiring: .expiring
            case .ended: .ended
            }
    }
}

extension Tasks.Bound {
    init(_ bound: Bound) {
        self =
            switch bound {
            case .ownBudget: .ownBudget
            case .applicationBackgroundTime: .applicationBackgroundTime
            case .lifetimeLimit: .lifetimeLimit
            }
    }
}

extension Tasks.Remaining {
    init(_ remaining: Remaining) {
        self.init()
        ms = remaining.untilHandlerMilliseconds
        hardMs = remaining.untilHardLimitMilliseconds
        bound = remaining.bound.map(Tasks.Bound.init)
    }
}

extension Tasks.Budget {
    init(_ budget: Budget) {
        self.init()
        durationMs = budget.duration.wholeMilliseconds
        graceMs = budget.grace.wholeMilliseconds
    }
}

extension Tasks.Exit {
    init(_ exit: ProcessExit) {
        self.init()
        switch exit {
        case .status(let number): status = Int(number)
        case .signal(let number): signal = SignalName.name(of: number.rawValue)
        }
    }
}

extension Tasks.Explanation {
    init(_ explanation: Explanation) {
        self.init()
        rule = explanation.rule
        text = explanation.text
        value = explanation.value
        earliestChangeMs = explanation.earliestChange?.wholeMilliseconds
    }
}

extension Tasks.Task {
    init(_ record: TaskRecord, in registry: borrowing BackgroundTaskRegistry, at now: Instant) {
        let task = record.task
        self.init()
        id = task.id.number
        name = task.name
        kind = task.kind == .held ? .held : .run
        owner = Int(task.owner.rawValue)
        application = task.application
        state = Tasks.State(task.state)
        outcome = task.outcome.map(Tasks.Outcome.init)
        reason = task.reason?.text
        profile = task.profile
        budget = task.budget.map(Tasks.Budget.init)
        if task.state != .ended {
            remaining = Tasks.Remaining(registry.remaining(of: task, at: now))
        }
        usedMs = Tasks.usedMilliseconds(task.used(at: now), task.outcome)
        ageMs = task.age(at: now).wholeMilliseconds
        if task.state == .ended { endedMs = (now - task.endedAt).wholeMilliseconds }
        submittedMs = (now - task.submittedAt).wholeMilliseconds
        startedMs = task.startedAt.map { (now - $0).wholeMilliseconds }
        warnedMs = task.warnedAt.map { (now - $0).wholeMilliseconds }
        attempt = 1
        if task.state == .queued {
            waiting = registry.firstHold(on: task.id)?.rule
            notBeforeMs = registry.notBefore(task.id, at: now)?.roundedUpMilliseconds
        }
        if task.state != .ended, let holder = task.holderProcess, holder.rawValue > 0 {
            pid = Int(holder.rawValue)
        }
        let report = registry.report(of: task.id)
        progress = report?.progress.map(Tasks.Progress.init)
        status = report?.text
        guard let run = record.run else { return }
        pid = task.state == .ended ? nil : run.processID.map { Int($0.rawValue) }
        if run.work.wakesApplication { wake = true } else { command = run.work.shownCommand }
        exit = run.exit.map(Tasks.Exit.init)
        status = run.status
        take(run.use)
        group = run.queueing.group
        priority = run.queueing.priority
        attempt = run.attempt
        attemptsMax = run.queueing.retry?.attempts
        if run.isStuck { stuck = true }
        if run.queueing.slots > 1 { slots = run.queueing.slots }
        restartOf = run.queueing.restartOf?.number
        takeRules(of: run.queueing)
        if registry.isStopped(task.id) { paused = true }
        guard task.state == .queued else { return }
        if run.queueing.isPaused { paused = true }
        guard !run.queueing.after.isEmpty else { return }
        let open = registry.openPredecessors(of: task.id)
        if !open.isEmpty { after = open.map(\.id.number) }
    }

    /// Takes over by which rules it was queued that do not change.
    private mutating func takeRules(of queueing: Queueing) {
        if !queueing.conditions.isEmpty { conditions = [Tasks.Condition](queueing.conditions) }
        minimumIntervalMs = queueing.minimumInterval?.roundedUpMilliseconds
        unique = queueing.unique.map(Tasks.Unique.init)
        retry = queueing.retry.map(Tasks.Retry.init)
    }

    /// Takes over what its processes have used.
    mutating func take(_ use: ResourceUse?) {
        cpuMs = use?.cpu.wholeMilliseconds
        memoryPeakBytes = use?.memoryPeakBytes
    }

    /// Adds the attempts that are over, which are left out of listings.
    mutating func tellAttempts(of record: TaskRecord, at now: Instant) {
        guard let ended = record.run?.attempts, !ended.isEmpty else { return }
        attempts = ended.map { Tasks.Attempt($0, at: now) }
    }
}

extension Tasks.ShowSubmission.Output {
    init(_ record: TaskRecord, at now: Instant) {
        self.init()
        submittedMs = (now - record.task.submittedAt).wholeMilliseconds
        guard let run = record.run else { return }
        work = Tasks.Work(record.task, run)
        inputBytes = run.work.input.flatMap(Base64.byteCount)
    }
}

extension Tasks.Work {
    /// What a command was submitted with, without its input.
    fileprivate init(_ task: BackgroundTask, _ run: RunTask) {
        self.init()
        (name, application, profile) = (task.name, task.application, task.profile)
        if run.work.wakesApplication { wake = true } else { command = run.work.command }
        directory = run.work.directory
        if !run.work.environment.isEmpty { environment = run.work.environment }
        budget = task.budget.map(Tasks.Budget.init)
        expiration = Tasks.ExpirationHandler(run.work.expiration)
        take(run.queueing, ofFirstAttempt: run.attempt == 1)
    }

    /// - Parameter ofFirstAttempt: whether when it was to begin is not the delay before another attempt.
    private mutating func take(_ queueing: Queueing, ofFirstAttempt: Bool) {
        group = queueing.group
        if queueing.priority != 0 { priority = queueing.priority }
        if ofFirstAttempt { earliestBeginMs = queueing.earliestBegin?.roundedUpMilliseconds }
        if !queueing.conditions.isEmpty { conditions = [Tasks.Condition](queueing.conditions) }
        minimumIntervalMs = queueing.minimumInterval?.roundedUpMilliseconds
        unique = queueing.unique.map(Tasks.Unique.init)
        retry = queueing.retry.map(Tasks.Retry.init)
        after = numbers(of: queueing.after.filter { !$0.anyOutcome })
        afterAny = numbers(of: queueing.after.filter(\.anyOutcome))
        if queueing.slots > 1 { slots = queueing.slots }
        if queueing.isPaused { paused = true }
    }

    private func numbers(of predecessors: [Predecessor]) -> [Int]? {
        predecessors.isEmpty ? nil : predecessors.map(\.id.number)
    }
}

extension Tasks.ExpirationHandler {
    /// - Returns: `nil` for what is usual.
    fileprivate init?(_ handler: BudgetCore.ExpirationHandler) {
        guard handler != BudgetCore.ExpirationHandler() else { return nil }
        self.init()
        signal = handler.signal.map { SignalName.name(of: $0.rawValue) } ?? ""
        command = handler.command
    }
}

extension Tasks.Progress {
    fileprivate init(_ progress: TaskProgress) {
        self.init()
        (completed, total) = (progress.completed, progress.total)
    }
}

extension Tasks.Unique {
    fileprivate init(_ unique: Uniqueness) {
        self =
            switch unique {
            case .keep: .keep
            case .replace: .replace
            case .replaceQueued: .replaceQueued
            }
    }
}

extension Tasks.Retry {
    fileprivate init(_ retry: BudgetCore.Retry) {
        self.init()
        attempts = retry.attempts
        delayMs = retry.delay.roundedUpMilliseconds
        if retry.onInterruption { onInterruption = true }
    }
}

extension [Tasks.Condition] {
    fileprivate init(_ conditions: Conditions) {
        self.init()
        if conditions.contains(.network) { append(.network) }
        if conditions.contains(.externalPower) { append(.externalPower) }
        if conditions.contains(.idle) { append(.idle) }
    }
}

extension Tasks {
    /// What a task has used; `nil` of one that went with an earlier daemon, which nobody has measured.
    fileprivate static func usedMilliseconds(
        _ used: Duration, _ outcome: BudgetCore.Outcome?
    ) -> Int? {
        outcome == .interrupted && used == .zero ? nil : used.wholeMilliseconds
    }
}

extension Tasks.Attempt {
    init(_ ended: EndedAttempt, at now: Instant) {
        self.init()
        attempt = ended.attempt
        outcome = Tasks.Outcome(ended.outcome)
        reason = ended.reason?.text
        exit = ended.exit.map(Tasks.Exit.init)
        usedMs = Tasks.usedMilliseconds(ended.used, ended.outcome)
        startedMs = ended.startedAt.map { (now - $0).wholeMilliseconds }
        warnedMs = ended.warnedAt.map { (now - $0).wholeMilliseconds }
        endedMs = (now - ended.endedAt).wholeMilliseconds
        cpuMs = ended.use?.cpu.wholeMilliseconds
        memoryPeakBytes = ended.use?.memoryPeakBytes
    }
}

extension Duration {
    /// Whole milliseconds in which the duration is over.
    var roundedUpMilliseconds: Int {
        let whole = wholeMilliseconds
        return .milliseconds(whole) < self ? whole + 1 : whole
    }
}
