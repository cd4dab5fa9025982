internal import CLinux
internal import Glibc

/// A task in a cgroup of its own.
final class CgroupTask: TaskProcesses, WatchOwner, PendingLaunches.Client, StrayTracker.Client,
    ChildReaper.Client
{
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
    private var phase = Phase.running
    private var demand = TaskDemand.run
    /// A freeze has been told, and no thaw since.
    private var isToldFrozen = false
    private var identity = TaskIdentity()
    private var left = LeftProcesses()
    private var chase = StrayChase()

    /// How near the task is to its end: what has to be seen next.
    private enum Phase {
        /// Commands run or start, or somebody is in the group. Becomes `counting`, `scanning` or `released`.
        case running
        /// The group is empty and no command runs. The reaper counts who has become a child of this process and
        /// has the task's sessions. Becomes `scanning` where there is somebody, or else `released`.
        case counting
        /// A look at all processes, by its number, that was begun when nobody else was left. Goes on with a later
        /// look where it finds somebody; becomes `counting`, or `released` where the sessions are not known.
        case scanning(Int)
        /// The group has been given back: nobody is left, or nobody wants to know. Never becomes another.
        ///
        /// `use` is what the task used in all.
        case released(use: ProcessUse?)
    }

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
        guard case .running = phase, demand == .run, !group.wasKilled else {
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
        if let user = request.user?.user { identity.user = user }
        try host.launches.begin(prepared, client: self, index: index)
        commands.append(.launching(ends))
        return StartedProcess(index: index, output: pipes.takeReadingEnds())
    }

    var freezer: FreezeMethod { .cgroup }

    var homes: [ProcessHome] { [.group(group.name)] }

    var isFrozen: Bool {
        // Only a removed group cannot be read, and nobody is in that.
        guard !isReleased, let state = try? group.stateNow() else { return false }
        return state.isFrozen
    }

    func processIDs() throws(SystemError) -> [Int32] {
        isReleased ? [] : try group.processIDs()
    }

    func signal(_ number: Int32) throws(SystemError) -> Int? {
        if isReleased { return 0 }
        // Frozen processes handle no signal but SIGKILL. Where nothing is frozen the write changes nothing; to read
        // the state first would be a race.
        if number != SIGKILL {
            try group.setFrozen(false)
            left.resume()
        }
        // The commands get it through their pidfds, wherever they are.
        let sweep = SignalSweep(number, to: group, ofUser: nil, except: commandIDs)
        let haveLeft = haveLeft()
        var failure: SystemError?
        // One that has to wait for another looks in its turn: as many as somebody orders would hold everybody up here.
        if !host.sweeps.areUnderWay(in: group) {
            do throws(SystemError) { try sweep.lookBefore() } catch { failure = error }
        }
        // Also where the group cannot be looked at.
        let signalled = runningCommands.filter { $0.signal(number) }.count
        if let failure { throw failure }
        if haveLeft || mayHaveStrays {
            left.add(sweep)
            host.strays?.scan()
        }
        return try host.sweeps.begin(sweep, of: group).map { $0 + signalled }
    }

    func kill() throws(SystemError) {
        if isReleased { return }
        try killAll()
        try watchGroup()
    }

    private func killAll() throws(SystemError) {
        if demand == .run { demand = .end }
        left.forgetSignals()
        host.sweeps.end(of: group)
        // The group is empty, and strays that the count finds are killed by `counted`. A group that was killed cannot be
        // used again, so it is spared here.
        if case .counting = phase { return }
        let haveLeft = haveLeft()
        for command in runningCommands { command.signal(SIGKILL) }
        if haveLeft || mayHaveStrays { host.strays?.scan() }
        try group.kill()
    }

    func setFrozen(_ frozen: Bool) throws(SystemError) {
        if isReleased { return }
        try watchGroup()
        // A freeze after a thaw that nobody has read of gets an event of its own.
        if frozen { isToldFrozen = false }
        try group.setFrozen(frozen)
        if frozen {
            left.stop()
            if haveLeft() || mayHaveStrays { host.strays?.scan() }
        } else {
            left.resume()
        }
        // The thaw of a freeze that nobody has read of gets its event all the same.
        if !frozen, try group.stateNow().isFrozen { isToldFrozen = true }
    }

    func readUse() -> ProcessUse? {
        if case .released(let use) = phase { use } else { group.readUse() }
    }

    func close() {
        if isReleased || demand == .endUnheard { return }
        demand = .endUnheard
        if commands.isEmpty {
            release(use: nil)
        } else {
            // Fails only where the group is gone, and then nobody is in it.
            try? killAll()
        }
    }

    // MARK: - Those that left

    var claimant: StrayClaims.Claimant {
        StrayClaims.Claimant(
            groupName: group.name, user: identity.user, beganAt: identity.beganAt,
            commandIDs: commandIDs, sessions: sessions, isEnding: isEnding)
    }

    var sessions: Set<AuditSession> { identity.sessions }

    private var isReleased: Bool { if case .released = phase { true } else { false } }

    private var commandIDs: [Int32] { runningCommands.map(\.processID) }

    private var isEnding: Bool { demand != .run || haveAllEnded }

    private var haveAllEnded: Bool { !commands.isEmpty && commands.allSatisfy(\.hasEnded) }

    private var runningCommands: [WatchedChild] { commands.compactMap(\.child) }

    /// Whether processes of the task may have outlived their parents. Where its sessions are not known: whether
    /// processes of any task may have.
    private var mayHaveStrays: Bool {
        host.reaper?.mayHaveOrphans(of: identity.allSessions) == true
    }

    /// Whether commands have left the group; an event will name the first that is found.
    private func haveLeft() -> Bool {
        let leavers = commandIDs.compactMap { id in (try? groupName(of: id)).map { (id, $0) } }
            .filter { StrayScan.taskGroup(of: $0.1, in: tree.name) != group.name }
        for (command, name) in leavers { left.note(command, in: name) }
        return !leavers.isEmpty
    }

    func scanned(
        _ number: Int, strays: [Stray], isInhabited: Bool, _ events: inout [ProcessEvent]
    ) {
        if isReleased { return }
        for stray in strays { left.note(stray.processID, in: stray.group) }
        if let what = left.takeUntold() { emit(what, &events) }
        if isEnding {
            for stray in strays { stray.signal(SIGKILL) }
            chase.found(strays, of: identity.user)
            freezeChased()
        } else {
            left.pass(on: strays, except: Set(commandIDs))
        }
        guard case .scanning(let needed) = phase else {
            // While a command does not end either, scans go on, so that its strays are killed meanwhile.
            if isEnding, !strays.isEmpty { _ = host.strays?.scanLater() }
            return
        }
        guard number >= needed else { return }
        if !strays.isEmpty || isInhabited {
            phase = .scanning(host.strays?.scanLater() ?? needed)
        } else if identity.allSessions != nil, let reaper = host.reaper {
            // A process that forks and ends faster than /proc is read is in no scan; the reaper counts it.
            phase = .counting
            reaper.count(for: self)
        } else {
            end(&events)
        }
    }

    func counted(_ count: OrphanCount, _ events: inout [ProcessEvent]) {
        guard case .counting = phase else { return }
        if count.isNone { return end(&events) }
        guard let strays = host.strays else { return end(&events) }
        // Somebody may have come into the group that was empty when the kill was ordered.
        if demand != .run { try? group.kill() }
        guard !count.isUncertain else { return phase = .scanning(strays.scanLater()) }
        chase.ranAhead(in: count.examples.compactMap { try? groupName(of: $0) }, of: identity.user)
        freezeChased()
        phase = .scanning(chase.isUnderWay ? strays.scanLater() : strays.scan())
    }

    private func freezeChased() {
        // Without sessions its processes could not be told from others.
        if sessions.isEmpty { return }
        for group in chase.frozenGroups { host.strays?.freeze(group, killing: sessions) }
    }

    // MARK: - What happens

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        if let what = left.takeUntold() { emit(what, &events) }
        if role != Self.groupRole {
            guard case .running(let child, _) = commands[role], let exit = child.reap() else {
                return
            }
            commands[role] = .ended
            commandsUse = commandsUse?.adding(child.use)
            emit(.exited(index: role, exit), &events)
        }
        // Also after an exit: the kernel holds changes of the file back for up to 10 ms
        // (CGROUP_FILE_NOTIFY_MIN_INTV), but reading it tells the truth at once.
        checkGroup(&events)
    }

    func launched(
        index: Int,
        _ process: consuming SpawnedProcess,
        _ events: inout [ProcessEvent]
    ) {
        guard case .launching(let ends) = commands[index] else { return }
        let processID = process.processID
        do throws(SystemError) {
            if host.strays != nil { identity.note(command: processID) }
            let child = try WatchedChild(process, host: host, owner: self, role: index)
            commands[index] = .running(child, ends)
            emit(.started(index: index, processID: processID), &events)
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

    func launchFailed(index: Int, _ error: LaunchError, _ events: inout [ProcessEvent]) {
        commands[index] = .ended
        emit(.startFailed(index: index, error), &events)
        checkGroup(&events)
    }

    private func checkGroup(_ events: inout [ProcessEvent]) {
        // Only a removed group cannot be read, and that one is empty.
        let state = (try? group.state()) ?? Cgroup.State()
        if state.isFrozen != isToldFrozen {
            isToldFrozen = state.isFrozen
            emit(.frozen(isToldFrozen), &events)
        }
        guard !isReleased, haveAllEnded else { return }
        if state.isPopulated {
            do throws(SystemError) {
                try watchGroup()
            } catch {
                // `kill` tries it again and throws the reason; a closed task gets no `kill`.
                if demand == .endUnheard { release(use: nil) }
            }
            return
        }
        guard case .running = phase else { return }
        guard let strays = host.strays, let reaper = host.reaper, mayHaveStrays else {
            return end(&events)
        }
        if identity.allSessions != nil {
            phase = .counting
            reaper.count(for: self)
        } else {
            phase = .scanning(strays.scan())
        }
    }

    private func end(_ events: inout [ProcessEvent]) {
        let use = group.endTask()?.withPeak(of: commandsUse) ?? commandsUse
        emit(.gone, &events)
        release(use: use)
    }

    /// Watches the group from now on. A change since its state was last read wakes the loop at once.
    private func watchGroup() throws(SystemError) {
        guard groupToken == nil, !isReleased else { return }
        groupToken = try host.watches.add(
            group.eventsDescriptor, .priority, owner: self, role: Self.groupRole)
    }

    private func emit(_ what: ProcessEvent.What, _ events: inout [ProcessEvent]) {
        if demand != .endUnheard { events.append(ProcessEvent(task: identifier, what: what)) }
    }

    /// Gives the group back, once.
    private func release(use: ProcessUse?) {
        if isReleased { return }
        phase = .released(use: use)
        host.strays?.leave(self)
        host.reaper?.forget(self)
        host.sweeps.end(of: group)
        if let groupToken { host.watches.remove(groupToken, group.eventsDescriptor) }
        groupToken = nil
        tree.giveBack(group)
    }
}

/// What tells the processes of a task from those of others, wherever they are.
private struct TaskIdentity {
    /// Of the first command; all have the same.
    var user = geteuid()
    /// In clock ticks since boot.
    let beganAt = BootTimeClock.ticks()
    /// Those of its commands, running and ended.
    private(set) var sessions: Set<AuditSession> = []
    /// Each of its commands has a session of its own, so that whatever it started has it too.
    private var isComplete = true

    /// The sessions, where no process of the task is in another; `nil` where that is not known.
    var allSessions: Set<AuditSession>? { isComplete ? sessions : nil }

    /// A command runs.
    mutating func note(command processID: Int32) {
        if let session = AuditSession.ofCommand(processID) {
            sessions.insert(session)
        } else {
            isComplete = false
        }
    }
}
