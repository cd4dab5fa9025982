internal import Glibc

/// A task whose commands have a supervisor each.
final class SupervisedTask: TaskProcesses, WatchOwner {
    let identifier: UInt64
    private let supervisorPath: String
    private let host: ProcessHost
    /// By index. The roles of a command's watches are 2 × index for its supervisor's messages
    /// and 2 × index + 1 for its supervisor's end.
    private var commands: [SupervisedCommand] = []
    private var freeze = Freeze()
    private var demand = TaskDemand.run
    /// The event `gone` has been emitted.
    private var isGone = false

    /// What `setFrozen` asked for, and how far the supervisors have come with it.
    private struct Freeze {
        var isWanted = false
        /// An order to freeze has not been answered by an event.
        var isAwaited = false
        /// The last event said that all commands are frozen.
        var isTold = false
        /// Why a freeze is being undone.
        var failure: SystemError?
    }

    init(_ identifier: UInt64, supervisor path: String, host: ProcessHost) {
        self.identifier = identifier
        supervisorPath = path
        self.host = host
    }

    func start(_ request: LaunchRequest) throws(LaunchError) -> StartedProcess {
        guard !isGone, demand == .run else {
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
        let command = try SupervisedCommand.start(
            request,
            path: supervisorPath,
            output: pipes.writingEnds,
            host: host,
            listener: listener
        )
        commands.append(command)
        if freeze.isWanted { command.setFrozen(true) }
        return StartedProcess(index: index, output: pipes.takeReadingEnds())
    }

    var freezer: FreezeMethod { .signals }

    var homes: [ProcessHome] { supervisorIDs.sorted().map(ProcessHome.supervisor) }

    var isFrozen: Bool {
        let supervisors = supervisorIDs
        guard !supervisors.isEmpty else { return false }
        // Twice: a process that is started during the first look, by one that is then found stopped, is in the second.
        return (0..<2).allSatisfy { _ in
            (try? ProcessTable())?.areStopped(descendantsOf: supervisors) == true
        }
    }

    func processIDs() throws(SystemError) -> [Int32] {
        let supervisors = supervisorIDs
        return supervisors.isEmpty ? [] : try ProcessTable().descendants(of: supervisors)
    }

    private var supervisorIDs: Set<Int32> { Set(commands.compactMap(\.supervisorID)) }

    func signal(_ number: Int32) throws(SystemError) -> Int? {
        // A stopped process handles no signal.
        if number != SIGKILL, freeze.isWanted { try setFrozen(false) }
        for command in commands where !command.isGone { command.signal(number) }
        return nil
    }

    func kill() throws(SystemError) {
        if demand == .run { demand = .end }
        for command in commands where !command.isGone { command.kill() }
    }

    func setFrozen(_ frozen: Bool) throws(SystemError) {
        freeze.isWanted = frozen
        freeze.isAwaited = frozen
        freeze.failure = nil
        let held = commands.filter { $0.supervisorID != nil }
        let told = held.filter { $0.setFrozen(frozen) }
        guard told.count == held.count else {
            throw SystemError(
                operation: frozen ? "freeze" : "thaw", errno: EAGAIN,
                subject: "task \(identifier)", detail: "its supervisor takes no orders")
        }
    }

    func readUse() -> ProcessUse? {
        // A supervisor that was killed has reported no use.
        isGone ? commands.reduce(ProcessUse()) { $0?.adding($1.use) } : nil
    }

    func close() {
        demand = .endUnheard
        for command in commands { command.closeControl() }
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        let index = role / 2
        let command = commands[index]
        for report in command.readReports(index: index) { take(report, &events) }
        let isAboutEnd = role % 2 == 1
        guard isAboutEnd, command.reapSupervisor() else { return }
        command.closeControl()
        checkFrozen(&events)
        if command.isEmpty {
            // If no exit was reported, report SIGKILL so that waiters are released.
            end(index, .signal(SIGKILL), &events)
            command.noteGone()
            checkGone(&events)
        } else {
            host.orphans.begin(for: LostCommand(task: self, index: index), &events)
        }
    }

    /// A command whose supervisor was killed is over: no process of it is left.
    fileprivate func lostCommandIsGone(_ index: Int, _ events: inout [ProcessEvent]) {
        // It was to die with its supervisor (PR_SET_PDEATHSIG), unless we have seen otherwise.
        end(index, .signal(SIGKILL), &events)
        commands[index].noteGone()
        checkGone(&events)
    }

    fileprivate func lostProcessEnded(
        _ index: Int,
        _ processID: Int32,
        _ exit: Exit,
        _ events: inout [ProcessEvent]
    ) {
        if commands[index].processID == processID { end(index, exit, &events) }
    }

    private func take(_ report: SupervisedCommand.Report, _ events: inout [ProcessEvent]) {
        switch report {
        case .event(let what): emit(what, &events)
        case .freezeFailed(let error): undoFreeze(error, &events)
        case .frozen, .thawed: checkFrozen(&events)
        }
    }

    /// One supervisor could not stop its processes and lets them go on, so the others let theirs go on too.
    private func undoFreeze(_ error: SystemError, _ events: inout [ProcessEvent]) {
        guard freeze.isWanted else { return }
        freeze.isWanted = false
        freeze.failure = error
        // A supervisor that takes no order is ending or is stopped itself; nothing else would reach it.
        for command in commands where command.supervisorID != nil { command.setFrozen(false) }
    }

    /// Emits `frozen(true)` once all commands are frozen, and `frozen(false)` once none is.
    private func checkFrozen(_ events: inout [ProcessEvent]) {
        let held = commands.filter { $0.supervisorID != nil }
        if freeze.isWanted, freeze.isAwaited, !held.isEmpty, held.allSatisfy(\.isFrozen) {
            freeze.isAwaited = false
            freeze.isTold = true
            emit(.frozen(true), &events)
        }
        guard !freeze.isWanted, held.allSatisfy(\.isThawed) else { return }
        if freeze.isTold {
            freeze.isTold = false
            emit(.frozen(false), &events)
        }
        if let failure = freeze.failure {
            freeze.failure = nil
            emit(.freezeFailed(failure), &events)
        }
    }

    private func end(_ index: Int, _ exit: Exit, _ events: inout [ProcessEvent]) {
        if let report = commands[index].end(exit, index: index) { take(report, &events) }
    }

    private func checkGone(_ events: inout [ProcessEvent]) {
        guard !isGone, commands.allSatisfy({ $0.isGone }) else { return }
        isGone = true
        emit(.gone, &events)
    }

    private func emit(_ what: ProcessEvent.What, _ events: inout [ProcessEvent]) {
        if demand != .endUnheard { events.append(ProcessEvent(task: identifier, what: what)) }
    }
}

/// A command whose supervisor was killed: waits until the processes it left are gone.
private final class LostCommand: OrphanReaper.Client {
    private let task: SupervisedTask
    private let index: Int

    init(task: SupervisedTask, index: Int) {
        self.task = task
        self.index = index
    }

    func orphanEnded(_ processID: Int32, _ exit: Exit, _ events: inout [ProcessEvent]) {
        task.lostProcessEnded(index, processID, exit, &events)
    }

    func orphansAreGone(_ events: inout [ProcessEvent]) {
        task.lostCommandIsGone(index, &events)
    }
}
