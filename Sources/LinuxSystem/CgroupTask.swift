internal import CLinux
internal import Glibc

/// A task in a cgroup of its own.
final class CgroupTask: TaskProcesses, WatchOwner, LaunchBoard.Client, StrayHunt.Client {
    let identifier: UInt64
    private let tree: CgroupTree
    private let host: ProcessHost
    private let group: Cgroup
    /// Once somebody has waited for a change of the group. For the usual task, the end of its one process
    /// says all.
    private var groupToken: WatchList.Token?
    /// By index. The role of a watch is the index, -1 for the group.
    private var commands: [Command] = []
    /// What its commands that have ended used by the kernel's count of processes; `nil` where one of
    /// them is unknown.
    private var commandsUse: ProcessUse? = ProcessUse()
    /// What it used in all, from the event `gone` on.
    private var useInAll: ProcessUse?
    private var wasFrozen = false
    /// The group has been given back.
    private var isReleased = false
    private var isGone = false
    private var isClosed = false
    private var isKilled = false

    /// Of the first command; all have the same.
    private(set) var user = geteuid()
    let beganAt = BootTimeClock.ticks()
    /// The group is empty and no command runs; what a look that was begun later finds has left the group.
    private var lookBeforeGone: Int?
    private var left = LeftProcesses()

    private static let groupRole = -1

    /// The writing ends of its output stay open here until it has ended: without them each pipe would wake
    /// the loop at its end, shortly before the command's own.
    private enum Command {
        case launching(OutputPipeEnds)
        case running(WatchedChild, OutputPipeEnds)
        case ended

        var hasEnded: Bool { if case .ended = self { true } else { false } }
        var child: WatchedChild? { if case .running(let child, _) = self { child } else { nil } }
    }

    init(_ identifier: UInt64, tree: CgroupTree, host: ProcessHost) throws(SystemError) {
        self.identifier = identifier
        self.tree = tree
        self.host = host
        group = try tree.take()
        group.beginTask()
        host.strays?.enter(self)
    }

    func start(_ request: LaunchRequest) throws(LaunchError) -> StartedProcess {
        guard !isGone, !isClosed, !group.wasKilled else {
            throw LaunchError(
                stage: .prepare,
                errno: ECANCELED,
                subject: request.arguments.first ?? ""
            )
        }
        let pipes = try OutputPipes.open(for: request)
        let ends = pipes.writingEnds
        let prepared = try NativeRequest(
            request,
            descriptors: [ends.output, ends.error],
            cgroup: group.descriptor
        )
        let index = commands.count
        if let user = request.user?.user { self.user = user }
        try host.launches.begin(prepared, client: self, index: index)
        commands.append(.launching(ends))
        return StartedProcess(index: index, output: pipes.takeReadingEnds())
    }

    var freezer: FreezeMethod { .cgroup }

    var homes: [ProcessHome] { [.group(group.name)] }

    var isFrozen: Bool {
        // Nothing but a removed group cannot be read, and nobody is in that.
        guard !isReleased, let state = try? group.stateNow() else { return false }
        return state.isFrozen
    }

    func processIDs() throws(SystemError) -> [Int32] {
        isReleased ? [] : try group.processIDs()
    }

    func signal(_ number: Int32) throws(SystemError) -> Int? {
        if isReleased { return 0 }
        // The frozen handle no signal; they can only be killed. Without a freeze the write changes
        // nothing, and a look before it could come too early.
        if number != SIGKILL {
            try group.setFrozen(false)
            left.letGoOn()
        }
        // The commands get it through their pidfds, wherever they are.
        let sweep = SignalSweep(number, to: group, ofUser: nil, except: commandIDs)
        let haveLeft = haveLeft()
        let signalled = runningCommands.filter { $0.signal(number) }.count
        if haveLeft || mayHaveStrays {
            left.add(sweep)
            host.strays?.look()
        }
        return try host.sweeps.begin(sweep, of: group).map { $0 + signalled }
    }

    func kill() throws(SystemError) {
        if isReleased { return }
        try killAll()
        try watchGroup()
    }

    private func killAll() throws(SystemError) {
        isKilled = true
        left.forgetSignals()
        host.sweeps.end(of: group)
        let haveLeft = haveLeft()
        for command in runningCommands { command.signal(SIGKILL) }
        if haveLeft || mayHaveStrays { host.strays?.look() }
        try group.kill()
    }

    func setFrozen(_ frozen: Bool) throws(SystemError) {
        if isReleased { return }
        try watchGroup()
        // Frozen, thawed and frozen again before anybody looked is a freeze that has to be told too.
        if frozen { wasFrozen = false }
        try group.setFrozen(frozen)
        if frozen {
            left.stop()
            if haveLeft() || mayHaveStrays { host.strays?.look() }
        } else {
            left.letGoOn()
        }
        // A freeze that nobody has read of is told to be over all the same, by the thaw.
        if !frozen, try group.stateNow().isFrozen { wasFrozen = true }
    }

    func readUse() -> ProcessUse? {
        isGone || isReleased ? useInAll : group.readUse()
    }

    func close() {
        if isClosed { return }
        isClosed = true
        if isGone || commands.isEmpty {
            release()
        } else {
            // Fails only where the group is gone, and then nobody is in it.
            try? killAll()
        }
    }

    // MARK: - Those that left

    var groupName: String { group.name }

    var commandIDs: [Int32] { runningCommands.map(\.processID) }

    var isEnding: Bool { isKilled || !commands.isEmpty && commands.allSatisfy(\.hasEnded) }

    private var runningCommands: [WatchedChild] { commands.compactMap(\.child) }

    /// Whether there may be processes that outlived their parents, of whatever task.
    private var mayHaveStrays: Bool { host.strays != nil && clx_may_have_adopted() }

    /// Whether commands are not in the group any more; the first that is found is told.
    private func haveLeft() -> Bool {
        let leavers = commandIDs.compactMap { id in LinuxSystem.groupName(of: id).map { (id, $0) } }
            .filter { StrayLook.taskGroup(of: $0.1, in: tree.name) != group.name }
        for (command, name) in leavers { left.note(command, in: name) }
        return !leavers.isEmpty
    }

    func looked(
        _ number: Int, strays: [Stray], isInhabited: Bool, _ events: inout [TaskEvent]
    ) {
        if isReleased { return }
        for stray in strays { left.note(stray.processID, in: stray.group) }
        if let what = left.takeUntold() { tell(what, &events) }
        if isEnding {
            for stray in strays { stray.signal(SIGKILL) }
        } else {
            left.pass(on: strays, except: Set(commandIDs))
        }
        guard let needed = lookBeforeGone else {
            // A command that cannot end either keeps them from having the last look.
            if isEnding, !strays.isEmpty { _ = host.strays?.lookLater() }
            return
        }
        guard number >= needed else { return }
        if strays.isEmpty, !isInhabited {
            lookBeforeGone = nil
            end(&events)
        } else {
            lookBeforeGone = host.strays?.lookLater()
        }
    }

    // MARK: - What happens

    func ready(role: Int, _ events: inout [TaskEvent]) {
        if let what = left.takeUntold() { tell(what, &events) }
        if role != Self.groupRole {
            guard case .running(let child, _) = commands[role], let exit = child.reap() else {
                return
            }
            commands[role] = .ended
            commandsUse = commandsUse?.adding(child.use)
            tell(.exited(index: role, exit), &events)
        }
        // Also after an exit: the kernel holds changes of the file back for up to 10 ms
        // (CGROUP_FILE_NOTIFY_MIN_INTV), but reading it tells the truth at once.
        checkGroup(&events)
    }

    func launched(
        index: Int,
        _ process: consuming SpawnedProcess,
        _ events: inout [TaskEvent]
    ) {
        guard case .launching(let ends) = commands[index] else { return }
        let processID = process.processID
        do throws(SystemError) {
            let child = try WatchedChild(process, host: host, owner: self, role: index)
            commands[index] = .running(child, ends)
            tell(.started(index: index, processID: processID), &events)
            // The kill may have come before there was anybody to be killed.
            if group.wasKilled {
                try group.kill()
                child.signal(SIGKILL)
            }
        } catch {
            let failure = LaunchError(stage: .watch, errno: error.errno, subject: "\(processID)")
            launchFailed(index: index, failure, &events)
        }
    }

    func launchFailed(index: Int, _ error: LaunchError, _ events: inout [TaskEvent]) {
        commands[index] = .ended
        tell(.startFailed(index: index, error), &events)
        checkGroup(&events)
    }

    private func checkGroup(_ events: inout [TaskEvent]) {
        // Nothing but a removed group cannot be read, and that one is empty.
        let state = (try? group.state()) ?? Cgroup.State()
        if state.isFrozen != wasFrozen {
            wasFrozen = state.isFrozen
            tell(.frozen(wasFrozen), &events)
        }
        guard !isGone, !commands.isEmpty, commands.allSatisfy(\.hasEnded) else { return }
        if state.isPopulated {
            do throws(SystemError) {
                try watchGroup()
            } catch {
                // The order to kill what is left tries it again and says why; of a closed task comes none.
                if isClosed { release() }
            }
            return
        }
        guard lookBeforeGone == nil else { return }
        if mayHaveStrays {
            lookBeforeGone = host.strays?.look()
        } else {
            end(&events)
        }
    }

    private func end(_ events: inout [TaskEvent]) {
        isGone = true
        useInAll = group.endTask()?.withPeak(of: commandsUse) ?? commandsUse
        tell(.gone, &events)
        release()
    }

    /// Tells of changes of the group from now on, those included that came after its state was last read.
    private func watchGroup() throws(SystemError) {
        guard groupToken == nil, !isReleased else { return }
        groupToken = try host.watches.add(
            group.eventsDescriptor, .priority, owner: self, role: Self.groupRole)
    }

    private func tell(_ what: TaskEvent.What, _ events: inout [TaskEvent]) {
        if !isClosed { events.append(TaskEvent(task: identifier, what: what)) }
    }

    /// Gives the group back, once.
    private func release() {
        if isReleased { return }
        isReleased = true
        host.strays?.leave(self)
        host.sweeps.end(of: group)
        if let groupToken { host.watches.remove(groupToken, group.eventsDescriptor) }
        groupToken = nil
        tree.giveBack(group)
    }
}
