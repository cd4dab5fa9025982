internal import BudgetCore
internal import LinuxSystem
internal import TaskAPI
internal import Logging
internal import Systemd

/// Runs the commands of tasks as the core orders, and tells it what becomes of them.
final class TaskRunner {
    /// Commands started in one turn: starting one holds the loop for as long as execve takes.
    private static let launchesPerTurn = 8

    private let core: Core
    private let runners: ProcessRunner
    private let output: OutputPump
    private let notify: NotifySocketPool
    private let environment: TaskEnvironment
    private let journal: AuditTrail
    private let log: Logger
    /// Tasks whose command is to be started, the next first.
    private var launches: [TaskID] = []
    /// Called where the executor goes by the times of a command that it was told last.
    private var timesTaken: (TaskID) -> Void = { _ in }

    init(
        _ core: Core, _ runners: ProcessRunner, _ output: OutputPump, _ notify: NotifySocketPool,
        _ environment: TaskEnvironment, _ journal: AuditTrail, _ log: Logger
    ) {
        self.core = core
        self.runners = runners
        self.output = output
        self.notify = notify
        self.environment = environment
        self.journal = journal
        self.log = log
        runners.connect { [unowned self] id, event in take(event, of: id) }
    }

    private subscript(id: TaskID) -> Runner? { runners[RunnerID(of: id)] }

    /// What the processes of a task have used so far; `nil` where that is not known.
    func use(of id: TaskID) -> ResourceUse? { self[id]?.readUse() }

    // MARK: - Start

    /// Has a task's command started in its turn.
    func launchLater(_ id: TaskID) { launches.append(id) }

    /// Whether commands are left for the next turn.
    var hasLaunches: Bool { !launches.isEmpty }

    /// Starts what the core ordered, a few commands a turn.
    func launchPending() {
        var count = 0
        while !launches.isEmpty, count < Self.launchesPerTurn {
            launch(launches.removeFirst())
            core.perform()
            count += 1
        }
        if !launches.isEmpty { core.continueLater() }
    }

    /// A task that is to be stopped before its turn to start has come is started first, so that it has one story and
    /// one way to end.
    private func launchNow(_ id: TaskID) {
        guard let index = launches.firstIndex(of: id) else { return }
        launches.remove(at: index)
        launch(id)
    }

    private func launch(_ id: TaskID) {
        guard let task = core.registry.record(id)?.task, task.isLive else { return }
        let runner = runners.make(for: id, of: task.owner)
        runners.withUser(of: runner) { [unowned self] result in
            switch result {
            case .success(let user): startMain(of: id, as: user)
            case .failure(let error):
                guard self[id] != nil else { return }
                let reason = "its user cannot be looked up: \(error)"
                postpone(id, reason, error.isShortage ? .machine : .command)
            }
        }
    }

    /// Starts the main command of a task, whose user is known now.
    private func startMain(of id: TaskID, as user: KnownUser) {
        // A task may wait twice for its user, where an attempt was killed before the answer came.
        guard let runner = self[id], runner.isWaitingForUser, let record = core.registry.record(id),
            let run = record.run
        else { return }
        do {
            let runsAs = try environment.runsAs(run.work.submitter, runner.owner, known: user)
            runner.userKnown(notify.take(for: id, of: runner.owner))
            var request = environment.request(
                for: record.task, run, after: core.registry.dependencies(of: id), as: runsAs,
                noticePath: runner.notifySocket?.path)
            request.arguments = run.work.command
            request.input = run.work.input.flatMap(Base64.decode)
            // It may have been given up meanwhile.
            guard let times = core.registry.commandDeadlines(of: id) else { return forget(id) }
            try runner.command.start(request, start(of: record.task, run, runner, times))
        } catch {
            if let scope = (error as? LaunchError)?.scope { return postpone(id, "\(error)", scope) }
            forget(id)
            startFailed(id, "\(error)")
        }
    }

    /// What bgtask-executor starts a command with.
    private func start(
        of task: BackgroundTask, _ run: RunTask, _ runner: Runner, _ times: CommandDeadlines
    ) -> ExecutedCommand.Start {
        let expiration = run.work.expiration
        return ExecutedCommand.Start(
            attempt: run.attempt, handlerSignal: expiration.signal?.rawValue,
            handler: expiration.command ?? [],
            times: CommandTimes(times),
            grace: UInt64(clamping: task.grace.wholeNanoseconds),
            kept: runner.notifySocket?.descriptor)
    }

    private func startFailed(_ id: TaskID, _ reason: String) {
        core.update { registry, now, actions in
            registry.startFailed(id, reason, at: now, &actions)
        }
    }

    /// There was no room for a command: the task goes back to the queue, what was made for its start is let go, and no
    /// attempt is used up.
    private func postpone(_ id: TaskID, _ reason: String, _ scope: ShortageScope) {
        guard let owner = core.registry.record(id)?.task.owner else { return }
        forget(id)
        let isToBeLogged = core.update { registry, now, actions in
            registry.startPostponed(id, reason, scope, at: now, &actions)
        }
        guard isToBeLogged else { return }
        switch scope {
        case .machine, .executor: log.say(.noRoom, [.reason: reason])
        case .command:
            // As many as a user submits, so that they count among the entries about them.
            guard journal.takesEntry(about: owner, at: core.now) else { return }
            log.say(.noRoomForTask, [.taskID: "\(id)", .owner: "\(owner)", .reason: reason])
        }
    }

    // MARK: - Orders

    /// Has the expiration handler of a task fire: its signal, then its command beside the task. Its executor fires it also
    /// while the task is being started.
    func warn(_ id: TaskID) {
        launchNow(id)
        guard let command = executed(id) else { return handlerExited(id) }
        command.warn()
    }

    private func handlerExited(_ id: TaskID) {
        core.update { registry, now, actions in registry.handlerExited(id, at: now, &actions) }
    }

    func send(_ signal: SignalNumber, to id: TaskID) {
        launchNow(id)
        guard let runner = self[id], !runner.postpones(.signal(id, signal)) else { return }
        sendNow(signal, to: id, runner)
    }

    private func sendNow(_ signal: SignalNumber, to id: TaskID, _ runner: Runner) {
        do {
            try runners.signal(signal, runner)
        } catch {
            log.say(.taskNotSignalled, [.taskID: "\(id)", .reason: "\(error)"])
        }
    }

    func killAll(_ id: TaskID) {
        launchNow(id)
        guard let runner = self[id] else { return }
        guard !runner.isWaitingForUser else {
            // There is nothing to kill, and nobody knows when the user database will answer.
            forget(id)
            return startFailed(id, "its user could not be looked up in time")
        }
        runner.command.kill()
    }

    /// Kills all that run.
    func killEvery() {
        for case .task(let id) in runners.identifiers.map(\.kind) { killAll(id) }
    }

    /// Lets go of the processes of a task that has ended, or has come to the end of an attempt.
    func forget(_ id: TaskID) {
        if let runner = self[id] { runners.forget(runner) }
    }

    // MARK: - Events

    private func take(_ event: ProcessEvent, of id: TaskID) {
        let runner = self[id]
        let moment = event.moment.map(Instant.init(nanoseconds:))
        switch event.what {
        case .started(index: 0, let processID):
            if let runner { runners.takeOutput(of: runner) }
            core.update { registry, now, actions in
                registry.started(id, as: ProcessID(rawValue: processID), at: now, &actions)
            }
            if let runner { runners.mainStarted(runner) }
        case .startFailed(index: 0, let error): mainNotStarted(of: id, error)
        case .startFailed(_, let error):
            if let record = core.registry.record(id) {
                journal.handlerNotStarted(record, "\(error)", at: core.now)
            }
            handlerExited(id)
        case .exited(index: 0, let exit):
            core.update { registry, now, actions in
                registry.mainExited(id, ProcessExit(exit), moment: moment, at: now, &actions)
            }
        case .exited:
            handlerExited(id)
        case .gone: gone(id, runner, moment)
        case .warned(let count, let stop):
            core.update { registry, now, actions in
                registry.commandWarned(
                    id, count: count, moment: moment, stop: stop.map(Reason.init), at: now,
                    &actions)
            }
        case .limitReached:
            core.update { registry, now, actions in
                registry.commandLimitReached(id, moment: moment, at: now, &actions)
            }
        case .lost: lost(id, runner)
        case .timesTaken: timesTaken(id)
        case .started, .frozen, .freezeFailed, .thawFailed, .left: break
        }
    }

    /// The executor that ran a command is gone, and has taken it along.
    private func lost(_ id: TaskID, _ runner: Runner?) {
        takeLastWords(of: runner)
        core.update { registry, now, actions in
            registry.commandLost(
                id, reason: "bgtask-executor, which ran it, has ended", at: now, &actions)
        }
    }

    /// The main command of a task does not run: there was no room for it, or it fails.
    private func mainNotStarted(of id: TaskID, _ error: LaunchError) {
        if let runner = self[id] { output.drain(runner.output) }
        if let scope = error.scope {
            postpone(id, "\(error)", scope)
        } else {
            startFailed(id, "\(error)")
        }
    }

    /// No process of a task is left: what it has printed and said is taken before it ends.
    private func gone(_ id: TaskID, _ runner: Runner?, _ moment: Instant?) {
        takeLastWords(of: runner)
        let use = runner?.readUse()
        core.update { registry, now, actions in
            registry.used(id, use)
            registry.processesGone(id, moment: moment, at: now, &actions)
        }
    }

    private func takeLastWords(of runner: Runner?) {
        guard let runner else { return }
        output.drain(runner.output)
        if let socket = runner.notifySocket { notify.drain(socket) }
    }

    // MARK: - Commands that go on when this process ends

    /// Called where the executor goes by the times of a command that it was told last.
    func connect(timesTaken: @escaping (TaskID) -> Void) { self.timesTaken = timesTaken }

    /// Goes on with a command that an earlier daemon has started.
    func takeOver(_ found: ListedCommand, of id: TaskID, _ owner: OwnerID) {
        let command = found.command
        let runner = runners.takeOver(command, of: id, owner)
        var socket: TaskNotifySocket?
        if let descriptor = command.takeKept() {
            socket = notify.takeOver(descriptor, for: id, of: owner)
        }
        runner.takenOver(isStarted: found.hasStarted, socket)
        guard found.hasStarted else { return }
        output.commandFound(id)
        runners.takeOutput(of: runner)
        output.startReading(runner.output)
        if let socket { notify.started(socket) }
    }

    /// How many commands bgtask-executor runs of those that are known here.
    var executedCount: Int { runners.identifiers.count }

    /// The command of a task, while bgtask-executor runs it.
    func executed(_ id: TaskID) -> ExecutedCommand? { self[id]?.command }
}

extension Reason {
    fileprivate init(_ stop: ProcessEvent.Stop) {
        self =
            switch stop {
            case .daemonAway: .daemonAway
            case .executorStop: .executorStop
            }
    }
}
