internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd

/// Starts processes, watches them, and lets them go: for tasks and for applications, which tell it when.
final class ProcessRunner {
    private let core: Core
    private let host: ProcessHost
    private let executor: ExecutorLink
    private let output: OutputPump
    private let notify: NotifySocketPool
    private let users: UserCache
    private let journal: AuditTrail
    private let log: Logger
    private var runners: [RunnerID: Runner] = [:]
    private var events: [ProcessEvent] = []
    /// Who takes what happens to the processes of a task.
    private var taskEvent: (TaskID, ProcessEvent) -> Void = { _, _ in }
    /// The same for those of an application.
    private var applicationEvent: (RunnerID, ProcessEvent) -> Void = { _, _ in }
    /// The application whose processes have a number.
    private var applicationKey: (RunnerID) -> ApplicationKey? = { _ in nil }

    init(
        _ core: Core, _ host: ProcessHost, _ executor: ExecutorLink, _ output: OutputPump,
        _ notify: NotifySocketPool, _ users: UserCache, _ journal: AuditTrail, _ log: Logger
    ) {
        self.core = core
        self.host = host
        self.executor = executor
        self.output = output
        self.notify = notify
        self.users = users
        self.journal = journal
        self.log = log
    }

    func connect(tasks: @escaping (TaskID, ProcessEvent) -> Void) { taskEvent = tasks }

    func connect(
        applications: @escaping (RunnerID, ProcessEvent) -> Void,
        key: @escaping (RunnerID) -> ApplicationKey?
    ) {
        applicationEvent = applications
        applicationKey = key
    }

    // MARK: - Runners

    subscript(id: RunnerID) -> Runner? { runners[id] }

    /// All that have not been let go.
    var identifiers: some Collection<RunnerID> { runners.keys }

    /// Whether some have processes that this process would take along; tasks whose end is decided have none, and may wait
    /// for the disk. Applications have them to the end.
    ///
    /// - Parameter leavesCommands: whether those that bgtask-executor runs go on.
    func haveProcesses(leavesCommands: Bool) -> Bool {
        runners.values.contains { runner in
            if leavesCommands { return false }
            return switch runner.id.kind {
            case .task(let task): core.registry.record(task)?.run?.conclusion == nil
            case .application: true
            }
        }
    }

    /// Makes a place for the command of a task, which does not run yet.
    func make(for task: TaskID, of owner: OwnerID) -> Runner {
        make(RunnerID(of: task), .task(task), of: owner)
    }

    /// Makes a place for the command of an application, which does not run yet.
    func make(_ id: RunnerID, for key: ApplicationKey) -> Runner {
        make(id, .application(key), of: key.owner)
    }

    private func make(_ id: RunnerID, _ printer: Printer, of owner: OwnerID) -> Runner {
        add(executor.makeCommand(id.number), id, printer, of: owner)
    }

    /// Makes a place for a command that an earlier daemon has started.
    func takeOver(_ command: ExecutedCommand, of task: TaskID, _ owner: OwnerID) -> Runner {
        add(command, RunnerID(of: task), .task(task), of: owner)
    }

    /// The same of an application.
    func takeOver(
        _ command: ExecutedCommand, _ id: RunnerID, for key: ApplicationKey
    ) -> Runner {
        add(command, id, .application(key), of: key.owner)
    }

    private func add(
        _ command: ExecutedCommand, _ id: RunnerID, _ printer: Printer, of owner: OwnerID
    ) -> Runner {
        let runner = Runner(
            id: id, owner: owner, command: command, output: output.open(printer, of: owner))
        runners[id] = runner
        return runner
    }

    /// Calls once the user of a runner is known, or cannot be found out.
    func withUser(of runner: Runner, _ body: @escaping UserCache.Completion) {
        if let user = users.user(runner.owner) { return body(.success(user)) }
        users.ask(runner.owner, completion: body)
    }

    /// What a command prints comes from bgtask-executor, with its start.
    func takeOutput(of runner: Runner) {
        let command = runner.command
        do throws(SystemError) {
            if let descriptor = command.takeStandardOutput() {
                try output.add(descriptor, .stdout, to: runner.output)
            }
            if let descriptor = command.takeStandardError() {
                try output.add(descriptor, .stderr, to: runner.output)
            }
        } catch {
            log.say(.outputNotRead, [.reason: "\(error)"])
            // It would wait for ever in a full pipe.
            command.kill()
        }
    }

    /// The main command runs: what it has printed and said is told after that.
    func mainStarted(_ runner: Runner) {
        let orders = runner.started()
        output.startReading(runner.output)
        if let socket = runner.notifySocket { notify.started(socket) }
        core.order(orders)
    }

    /// Sends a signal to all processes of a runner; those that are stopped go on with it.
    func signal(_ number: SignalNumber, _ runner: Runner) throws(SystemError) {
        try runner.command.ask(number.rawValue)
    }

    /// Lets go of the processes of a runner, and of all that belongs to them.
    func forget(_ runner: Runner) {
        guard runners.removeValue(forKey: runner.id) != nil else { return }
        output.close(runner.output)
        runner.command.close()
        if let socket = runner.takeNotifySocket() { notify.giveBack(socket) }
    }

    // MARK: - What happens to them

    /// Takes what the kernel or a supervisor told of the processes.
    func takeEvents() throws(SystemError) {
        try host.poll(into: &events)
        // What an executor tells has a moment, which is not later than the instant at which it is taken.
        if !events.isEmpty { core.advance() }
        passEvents()
    }

    /// Takes what is known already, without a look at what is ready.
    func takeHeldEvents() {
        host.takeHeld(into: &events)
        passEvents()
    }

    private func passEvents() {
        for event in events {
            let id = RunnerID(number: event.task)
            switch (event.what, id.kind) {
            case (.left(let processID, let group, let user), _):
                logLeaver(processID, group, of: event.task, user)
            case (_, .task(let task)): taskEvent(task, event)
            case (_, .application): applicationEvent(id, event)
            }
            core.perform()
        }
        events.removeAll(keepingCapacity: true)
    }

    /// Logs that a process is outside of the group that it was started in, as one of the entries about its owner:
    /// where it is of no task that is known, about its user, and where that is not known, about nobody's user.
    private func logLeaver(_ processID: Int32, _ group: String, of number: UInt64, _ user: UInt32?)
    {
        var fields: [JournalField: String] = [.reason: "process \(processID) in \(group)"]
        var owner = user.map(OwnerID.init(rawValue:))
        let isStranger = number == ProcessEvent.nobody
        if !isStranger {
            let id = RunnerID(number: number)
            switch id.kind {
            case .task(let task):
                fields[.taskID] = "\(task)"
                owner = runners[id]?.owner
            case .application:
                let key = applicationKey(id)
                fields[.application] = key?.id
                owner = key?.owner
            }
        }
        let counted = owner ?? OwnerID(rawValue: .max)
        guard journal.writer.writes(.warning), journal.takesEntry(about: counted, at: core.now)
        else { return }
        fields[.owner] = owner.map { "\($0)" }
        log.say(isStranger ? .strangerKilled : .processLeft, fields)
    }

    // MARK: - The end

    /// Kills of no task that is waited for: what has left its group or cannot end.
    ///
    /// - Parameter leavesCommands: whether those that bgtask-executor runs go on.
    func killAll(leavesCommands: Bool) {
        host.killAll()
        guard !leavesCommands else { return }
        for runner in runners.values { _ = runner.takeNotifySocket() }
    }
}
