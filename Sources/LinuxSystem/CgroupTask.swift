internal import CLinux
internal import Glibc

/// A task in a cgroup of its own.
final class CgroupTask: TaskProcesses, WatchOwner, LaunchBoard.Client, StrayHunt.Client,
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
    /// What it used in all, from the event `gone` on.
    private var useInAll: ProcessUse?
    private var wasFrozen = false
    /// The group has been given back.
    private var isReleased = false
    private var isGone = false
    private var isClosed = false
    private var isKilled = false

    /// Of the first command; all have the same.
    private var user = geteuid()
    private let beganAt = BootTimeClock.ticks()
    /// Those of its commands, running and ended.
    private(set) var sessions: Set<AuditSession> = []
    /// Whether each of its commands has a session of its own, so that whatever it started has it too.
    private var hasSessions = true
    private var waiting = Waiting.forCommands
    private var left = LeftProcesses()
    private var chase = StrayChase()

    /// What has to be seen before the task is gone.
    private enum Waiting {
        /// Its commands and its group; becomes one of the others, or the task is gone.
        case forCommands
        /// The group is empty and no command runs. How many have become children of this process that have
        /// its sessions; becomes `forLook` where there are any.
        case forCount
        /// A look that was begun when nobody else was left, by its number; becomes `forCount` or, where the
        /// sessions are not known, the task is gone.
        case forLook(Int)
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
        guard !isGone, !isClosed, !isKilled, case .forCommands = waiting, !group.wasKilled else {
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
        // Nobody is in the group, and whom the count finds is killed then. One that was killed is not used again.
        if case .forCount = waiting { return }
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

    var claimant: StrayClaims.Claimant {
        StrayClaims.Claimant(
            groupName: group.name, user: user, beganAt: beganAt, commandIDs: commandIDs,
            sessions: sessions, isEnding: isEnding)
    }

    private var commandIDs: [Int32] { runningCommands.map(\.processID) }

    private var isEnding: Bool { isKilled || !commands.isEmpty && commands.allSatisfy(\.hasEnded) }

    private var runningCommands: [WatchedChild] { commands.compactMap(\.child) }

    /// Whether there may be processes of it that outlived their parents; of whatever task, where its sessions are
    /// not known.
    private var mayHaveStrays: Bool {
        host.reaper?.mayHaveOrphans(of: hasSessions ? sessions : nil) == true
    }

    /// Whether commands are not in the group any more; the first that is found is told.
    private func haveLeft() -> Bool {
        let leavers = commandIDs.compactMap { id in (try? groupName(of: id)).map { (id, $0) } }
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
            chase.found(strays, of: user)
            holdChased()
        } else {
            left.pass(on: strays, except: Set(commandIDs))
        }
        guard case .forLook(let needed) = waiting else {
            // A command that cannot end either keeps them from having the last look.
            if isEnding, !strays.isEmpty { _ = host.strays?.lookLater() }
            return
        }
        guard number >= needed else { return }
        if !strays.isEmpty || isInhabited {
            waiting = .forLook(host.strays?.lookLater() ?? needed)
        } else if hasSessions, let reaper = host.reaper {
            // Who forks and ends faster than /proc is read is not seen there.
            waiting = .forCount
            reaper.count(for: self)
        } else {
            end(&events)
        }
    }

    func counted(_ count: OrphanCount, _ events: inout [TaskEvent]) {
        guard case .forCount = waiting, !isReleased else { return }
        if count.isNone { return end(&events) }
        guard let strays = host.strays else { return end(&events) }
        // Somebody may have come into the group that was empty when the kill was ordered.
        if isKilled { try? group.kill() }
        guard !count.isUncertain else { return waiting = .forLook(strays.lookLater()) }
        chase.ranAhead(in: count.examples.compactMap { try? groupName(of: $0) }, of: user)
        holdChased()
        waiting = .forLook(chase.isUnderWay ? strays.lookLater() : strays.look())
    }

    private func holdChased() {
        // Without a session nobody is known there.
        if sessions.isEmpty { return }
        for group in chase.held { host.strays?.hold(group, killing: sessions) }
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
            noteSession(of: processID)
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

    private func noteSession(of command: Int32) {
        guard host.strays != nil else { return }
        if let session = AuditSession.ofCommand(command) {
            sessions.insert(session)
        } else {
            hasSessions = false
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
        guard case .forCommands = waiting else { return }
        guard let strays = host.strays, let reaper = host.reaper, mayHaveStrays else {
            return end(&events)
        }
        if hasSessions {
            waiting = .forCount
            reaper.count(for: self)
        } else {
            waiting = .forLook(strays.look())
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
        host.reaper?.forget(self)
        host.sweeps.end(of: group)
        if let groupToken { host.watches.remove(groupToken, group.eventsDescriptor) }
        groupToken = nil
        tree.giveBack(group)
    }
}
