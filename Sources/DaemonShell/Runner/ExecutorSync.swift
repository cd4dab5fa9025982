internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd

/// Keeps bgtask-executor and the core of one mind about the commands of tasks and applications: their times, their ends,
/// and which an earlier daemon has left.
final class ExecutorSync {
    private let core: Core
    private let link: ExecutorLink
    private let tasks: TaskRunner
    private let applications: ApplicationRunner
    private let replies: PendingReplies
    private let log: Logger
    /// Tasks of which somebody waits for the executor to know their times.
    private var awaited: Set<TaskID> = []
    /// Called where another executor is found than before.
    private var instanceChanged: (ExecutorInstance) -> Void = { _ in }

    init(
        _ core: Core, _ link: ExecutorLink, _ tasks: TaskRunner,
        _ applications: ApplicationRunner, _ replies: PendingReplies, _ log: Logger
    ) {
        self.core = core
        self.link = link
        self.tasks = tasks
        self.applications = applications
        self.replies = replies
        self.log = log
        tasks.connect { [unowned self] id in confirm(id) }
        applications.connect(tellTimes: { [unowned self] in tellTimes() })
    }

    /// Whether commands go on when this process ends.
    var commandsGoOn: Bool { link.outlivesProcess }

    /// Whether somebody waits for the executor to know times, who can be answered.
    var isAwaited: Bool { link.isReady && !awaited.isEmpty }

    /// The executor that has been found last.
    var instance: ExecutorInstance? { link.executor.map(ExecutorInstance.init) }

    /// In words for an operator.
    var description: String {
        guard link.isReady, let executor = link.executor else {
            return "not connected; nothing is started"
        }
        guard !link.isSilent else {
            return "process \(executor.processID) does not answer; nothing is started"
        }
        let way = commandsGoOn ? "connected" : "ends with the daemon"
        return "version \(executor.version), \(way), process \(executor.processID)"
    }

    func connect(instanceChanged: @escaping (ExecutorInstance) -> Void) {
        self.instanceChanged = instanceChanged
        if let instance { instanceChanged(instance) }
    }

    // MARK: - Times

    /// Lets an answer wait until the executor knows the times of a task.
    ///
    /// - Returns: whether there is something to wait for.
    func tellsTimes(of id: TaskID) -> Bool {
        guard tasks.executed(id) != nil else { return false }
        awaited.insert(id)
        return true
    }

    private func tellTimes() {
        setTimes()
        link.tellTimes()
    }

    /// Tells the executor what this instant has changed.
    func endInstant() {
        tellTimes()
        for run in core.update({ registry, _, _ in registry.takeRecordedRuns() }) {
            link.endIsStored(RunnerID(ofApplication: run).number)
        }
        for id in awaited { confirm(id) }
    }

    private func setTimes() {
        let (ids, keys) = core.update { registry, _, _ in
            (registry.takeChangedTimes(), registry.takeChangedApplications())
        }
        for id in ids {
            guard let command = tasks.executed(id),
                let deadlines = core.registry.commandDeadlines(of: id)
            else { continue }
            command.setTimes(CommandTimes(deadlines))
        }
        for key in keys {
            guard let command = applications.executed(key),
                let times = core.registry.applicationTimes(of: key)
            else { continue }
            command.setTimes(CommandTimes(times))
        }
    }

    private func confirm(_ id: TaskID) {
        guard awaited.contains(id), tasks.executed(id)?.hasToldTimes ?? true else { return }
        awaited.remove(id)
        replies.resolveAll(.times(id), nil)
    }

    // MARK: - Ends

    /// Steps are on disk: what the executor has of tasks that have ended is not needed any more.
    func stored(_ steps: [StoreStep]) {
        for step in steps {
            switch step {
            case .ended(let id), .attemptEnded(let id), .startUndone(let id):
                link.endIsStored(id.rawValue)
            default: break
            }
        }
    }

    // MARK: - The executor

    /// Says what has become of the executor.
    func takeNews() {
        for news in link.takeNews() {
            switch news {
            case .lost(let error): log.say(.executorLost, [.reason: "\(error)"])
            case .found(let executor):
                log.say(
                    .executorFound,
                    [.reason: "version \(executor.version), process \(executor.processID)"])
                instanceChanged(ExecutorInstance(executor))
                isThere()
            case .silent:
                log.say(.executorSilent)
                refuseAwaited()
            case .answers:
                log.say(.executorAnswers)
                isThere()
            case .caughtUp: isThere()
            case .limitKept(let command): log.say(.executorLetLimitPass, fields(of: command))
            case .killed(let executor):
                log.say(.executorKilled, [.reason: "process \(executor.processID)"])
            }
        }
    }

    /// Commands that waited for it start.
    private func isThere() {
        core.update { registry, now, actions in registry.executorIsThere(at: now, &actions) }
    }

    private func fields(of command: UInt64) -> [JournalField: String] {
        let id = RunnerID(number: command)
        switch id.kind {
        case .task(let task): return [.taskID: "\(task)"]
        case .application:
            let key = core.registry.launchedApplications[id.run]
            guard let key else { return [:] }
            return [.application: key.id, .owner: "\(key.owner)"]
        }
    }

    /// Who waits for an executor that does not answer waits no longer. What they were given holds once it answers.
    private func refuseAwaited() {
        let refusal = Refusal.notAccepting(
            "bgtask-executor does not answer; what was ordered is done when it does")
        for id in awaited { replies.resolveAll(.times(id), refusal) }
        awaited = []
    }

    /// When it is to be seen whether an executor is there again.
    var nextDeadline: Instant? { link.nextDeadline.map(Instant.init(nanoseconds:)) }

    func deadlineReached() { link.deadlineReached() }

    // MARK: - One daemon after the other

    /// What an earlier daemon has left running, for the core to go on with.
    var found: FoundCommands {
        var found = FoundCommands()
        for listed in link.listed {
            let id = RunnerID(number: listed.command.identifier)
            switch id.kind {
            case .task(let task): found.tasks[task] = FoundCommand(listed)
            case .application: found.applications[id.run] = FoundApplication(listed)
            }
        }
        return found
    }

    /// Goes on with those of them that the core has taken over; ends the others.
    func takeOver() {
        var count = 0
        let launched = core.registry.launchedApplications
        for listed in link.takeListed() {
            let id = RunnerID(number: listed.command.identifier)
            let isTaken =
                switch id.kind {
                case .task(let task): takeOver(listed, of: task)
                case .application: takeOver(listed, id, of: launched[id.run])
                }
            if isTaken { count += 1 } else { link.discard(listed.command) }
        }
        if count > 0 { log.say(.takenOver, [.count: "\(count)"]) }
    }

    private func takeOver(_ listed: ListedCommand, of id: TaskID) -> Bool {
        guard core.registry.hasCommand(id, attempt: listed.command.attempt),
            let owner = core.registry.record(id)?.task.owner
        else { return false }
        tasks.takeOver(listed, of: id, owner)
        return true
    }

    private func takeOver(
        _ listed: ListedCommand, _ id: RunnerID, of key: ApplicationKey?
    ) -> Bool {
        guard let key else { return false }
        applications.takeOver(listed, id, of: key)
        return true
    }

    /// Leaves commands to the next daemon: nothing is ordered and heard any more.
    func handOver() {
        let count = tasks.executedCount
        link.close()
        log.say(.handedOver, [.count: "\(count)"])
    }

    /// Nothing is to be left: what runs still is stuck, or was not waited for.
    func end() {
        link.exitWhenIdle()
        link.close()
    }
}

/// What an earlier daemon has left running.
package struct FoundCommands {
    var tasks: [TaskID: FoundCommand] = [:]
    /// By the numbers of their runs.
    var applications: [UInt64: FoundApplication] = [:]
}

extension ExecutorInstance {
    init(_ executor: ExecutorLink.Executor) {
        self.init(high: executor.high, low: executor.low)
    }
}

extension CommandTimes {
    init(_ deadlines: CommandDeadlines) {
        let limitAt = deadlines.limitAt.executorTime
        let handlerAt = deadlines.handlerAt.executorTime
        self.init(
            handlerAt: limitAt == 0 ? handlerAt : min(handlerAt, limitAt), limitAt: limitAt,
            notes: deadlines.notes.words)
    }
}

extension CommandTimes {
    init(_ times: ApplicationTimes) {
        self.init(
            handlerAt: 0, limitAt: times.limitAt.executorTime, notes: times.notes.words)
    }
}

extension FoundApplication {
    init(_ listed: ListedCommand) {
        self.init(
            hasStarted: listed.hasStarted, isFrozen: listed.command.isFrozen,
            notes: ApplicationNotes(words: listed.times.notes))
    }
}

extension FoundCommand {
    init(_ listed: ListedCommand) {
        self.init(
            attempt: listed.command.attempt, processID: listed.processID.map(ProcessID.init),
            isRunning: listed.hasStarted, handlerRuns: listed.handlerRuns,
            notes: CommandNotes(words: listed.times.notes),
            handlerAt: Instant(executorTime: listed.times.handlerAt),
            limitAt: Instant(executorTime: listed.times.limitAt))
    }
}

extension Instant {
    /// As bgtask-executor has it: 0 is never, and nothing is before the start of the machine.
    fileprivate var executorTime: UInt64 {
        self == .never ? 0 : UInt64(max(nanoseconds, 1))
    }

    fileprivate init(executorTime: UInt64) {
        self = executorTime == 0 ? .never : Instant(nanoseconds: Int64(clamping: executorTime))
    }
}
