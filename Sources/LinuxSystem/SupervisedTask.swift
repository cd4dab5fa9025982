internal import Glibc

/// A task whose commands have a supervisor each.
final class SupervisedTask: TaskProcesses, WatchOwner {
    let identifier: UInt64
    private let supervisorPath: String
    private let host: ProcessHost
    /// By index. The roles of a command's watches are 2 × index for its supervisor's messages
    /// and 2 × index + 1 for its supervisor's end.
    private var commands: [SupervisedCommand] = []
    private var isKilled = false
    private var isGone = false
    private var isClosed = false

    init(_ identifier: UInt64, supervisor path: String, host: ProcessHost) {
        self.identifier = identifier
        supervisorPath = path
        self.host = host
    }

    func start(_ request: LaunchRequest) throws(LaunchError) -> StartedProcess {
        guard !isGone, !isClosed, !isKilled else {
            throw LaunchError(
                stage: .prepare,
                errno: ECANCELED,
                subject: request.arguments.first ?? ""
            )
        }
        let pipes = try OutputPipes.open(for: request)
        let index = commands.count
        let listener = SupervisedCommand.Listener(
            owner: self,
            reportRole: 2 * index,
            endRole: 2 * index + 1
        )
        commands.append(
            try SupervisedCommand.start(
                request,
                path: supervisorPath,
                output: pipes.writingEnds,
                host: host,
                listener: listener
            )
        )
        return StartedProcess(index: index, output: pipes.takeReadingEnds())
    }

    func signal(_ number: Int32) throws(SystemError) -> Int? {
        for command in commands where !command.isGone { command.signal(number) }
        return nil
    }

    func kill() throws(SystemError) {
        isKilled = true
        for command in commands where !command.isGone { command.kill() }
    }

    func setFrozen(_ frozen: Bool) throws(SystemError) {
        throw SystemError(
            operation: "freeze",
            errno: ENOTSUP,
            subject: "task \(identifier)",
            detail: "only a cgroup can be frozen"
        )
    }

    func close() {
        isClosed = true
        for command in commands { command.closeControl() }
    }

    func ready(role: Int, _ events: inout [TaskEvent]) {
        let index = role / 2
        let command = commands[index]
        for report in command.readReports(index: index) { tell(report, &events) }
        let isAboutEnd = role % 2 == 1
        guard isAboutEnd, command.reapSupervisor() else { return }
        command.closeControl()
        if command.isEmpty {
            // However it came that its end was not told, nobody waits for it in vain.
            end(index, .signal(SIGKILL), &events)
            command.isGone = true
            checkGone(&events)
        } else {
            host.orphans.begin(for: LostCommand(task: self, index: index), &events)
        }
    }

    /// A command whose supervisor was killed is over: no process of it is left.
    fileprivate func lostCommandIsGone(_ index: Int, _ events: inout [TaskEvent]) {
        // It was to die with its supervisor (PR_SET_PDEATHSIG), unless we have seen otherwise.
        end(index, .signal(SIGKILL), &events)
        commands[index].isGone = true
        checkGone(&events)
    }

    fileprivate func lostProcessEnded(
        _ index: Int,
        _ processID: Int32,
        _ exit: Exit,
        _ events: inout [TaskEvent]
    ) {
        if commands[index].processID == processID { end(index, exit, &events) }
    }

    private func end(_ index: Int, _ exit: Exit, _ events: inout [TaskEvent]) {
        if let report = commands[index].end(exit, index: index) { tell(report, &events) }
    }

    private func checkGone(_ events: inout [TaskEvent]) {
        guard !isGone, commands.allSatisfy({ $0.isGone }) else { return }
        isGone = true
        tell(.gone, &events)
    }

    private func tell(_ what: TaskEvent.What, _ events: inout [TaskEvent]) {
        if !isClosed { events.append(TaskEvent(task: identifier, what: what)) }
    }
}

/// Waits for the end of what a killed supervisor left.
private final class LostCommand: OrphanHunt.Client {
    private let task: SupervisedTask
    private let index: Int

    init(task: SupervisedTask, index: Int) {
        self.task = task
        self.index = index
    }

    func orphanEnded(_ processID: Int32, _ exit: Exit, _ events: inout [TaskEvent]) {
        task.lostProcessEnded(index, processID, exit, &events)
    }

    func orphansAreGone(_ events: inout [TaskEvent]) {
        task.lostCommandIsGone(index, &events)
    }
}
