internal import CLinux
internal import Glibc

/// Runs the processes of all tasks, and tells what happens to them.
///
/// One descriptor stands for all: watch it (readable), and call `poll` when it is ready. For one
/// thread.
package final class ProcessHost {
    package let containment: Containment
    /// The lock on the state folder, which every supervisor inherits and so holds for as long as it lives.
    let stateLock: Int32?
    let watches: WatchList
    let launches: PendingLaunches
    /// The children that this host started and has not reaped.
    private var children: [Int32: WatchedChild] = [:]
    private var inheritedPeak = InheritedPeak()
    private(set) lazy var orphans = OrphanReaper(host: self)
    let sweeps: SignalSweeps
    /// With cgroups alone: finds the processes that have left the group of their task.
    private(set) var strays: StrayTracker?
    private(set) var reaper: ChildReaper?
    private let freezes: FreezeRecord
    /// Where commands of tasks are run, from `connect` on.
    package private(set) var executor: ExecutorLink?

    /// Makes this process a child subreaper (PR_SET_CHILD_SUBREAPER): processes become its children when their parents
    /// end. With cgroups, that is how those are found that have left their task's group. Without, the descendants of a
    /// supervisor that was killed become children here and are killed, and so is any other child that this host did
    /// not start.
    ///
    /// To be called in the process's first thread, before others are started that have SIGCHLD open.
    ///
    /// - Parameters:
    ///   - stateLock: the descriptor of the lock on the state folder, which outlives this host.
    ///   - freezes: writes down which group is frozen for a moment; without it nothing is written down.
    package init(
        _ containment: Containment, stateLock: Int32? = nil, freezes: FreezeRecord? = nil
    ) throws(SystemError) {
        self.containment = containment
        self.freezes = freezes ?? FreezeRecord(stateFolder: nil)
        self.stateLock = stateLock
        watches = try WatchList()
        launches = try PendingLaunches(watches: watches)
        sweeps = try SignalSweeps(watches: watches)
        clx_keep_ended_children()
        try becomeSubreaper()
        guard let tree = containment.tree else { return }
        let (strays, reaper) = (
            try StrayTracker(host: self, tree: tree.name, record: self.freezes),
            try ChildReaper(host: self)
        )
        try strays.begin()
        try reaper.begin()
        (self.strays, self.reaper) = (strays, reaper)
    }

    /// Readable while there is something for `poll` to tell.
    package var descriptor: Int32 { watches.descriptor }

    /// A place for the processes of one task. The identifier comes back with its events.
    package func makeTask(_ identifier: UInt64) throws(SystemError) -> any TaskProcesses {
        switch containment {
        case .cgroup(let tree): try CgroupTask(identifier, tree: tree, host: self)
        case .supervisor(let path): SupervisedTask(identifier, supervisor: path, host: self)
        }
    }

    /// Has commands run by bgtask-executor from now on, those that `ExecutorLink.makeCommand` makes.
    ///
    /// - Throws: as `ExecutorLink`.
    package func connect(
        _ source: ExecutorSource, owner: ExecutorLink.Owner
    ) throws(SystemError) -> ExecutorLink {
        let way: ExecutorLink.Way =
            switch source {
            case .socket(let path): .socket(path: path)
            case .program(let program): .child(ExecutorChild(program, host: self))
            }
        let link = try ExecutorLink(way, owner: owner, watches: watches)
        executor = link
        return link
    }

    /// An executor that was a child of this process is gone: what it left has become this process's.
    func executorEnded(_ events: inout [ProcessEvent]) {
        // With groups, strays are looked for again and again, and the next executor kills all in its groups.
        if strays == nil { orphans.begin(for: nil, &events) }
    }

    /// Watches processes that others have started, and what those have started. The identifier comes back with
    /// their events.
    ///
    /// - Parameter user: the real uid for which they were looked at.
    /// - Throws: why they cannot be adopted, such as that their unit is gone.
    package func adopt(
        _ identifier: UInt64, _ adoption: Adoption, user: UInt32
    ) throws(AdoptionRefusal) -> AdoptedProcesses {
        do {
            return try AdoptedProcesses(identifier, adoption, user: user, host: self)
        } catch {
            throw AdoptionRefusal(processID: nil, reason: "\(error)")
        }
    }

    /// Appends what has happened since the last call, without waiting. What does not fit into
    /// one batch keeps the descriptor readable.
    package func poll(into events: inout [ProcessEvent]) throws(SystemError) {
        takeHeld(into: &events)
        try watches.poll(&events)
    }

    /// Appends what has come about without anything being ready, such as that an executor was waited for in vain.
    package func takeHeld(into events: inout [ProcessEvent]) { executor?.takeHeld(&events) }

    /// Readable while there is something for `pollChildren` to do; `nil` where there never is.
    package var childDescriptor: Int32? { reaper?.descriptor }

    /// Reaps children that tasks have left to this process, for a millisecond or so, and appends the events of that.
    /// A call of its own, because one task may leave thousands, and `poll` must not wait for them.
    package func pollChildren(into events: inout [ProcessEvent]) throws(SystemError) {
        try reaper?.poll(&events)
    }

    /// Those of the children that this host started and has not reaped.
    var childIDs: Set<Int32> { Set(children.keys) }

    func hasChild(_ processID: Int32) -> Bool { children[processID] != nil }

    /// Keeps a child until it is reaped.
    func enter(_ child: WatchedChild) { children[child.processID] = child }

    /// Lets go of a child that was reaped.
    func leave(_ child: WatchedChild) { children[child.processID] = nil }

    /// What of a child's peak of memory is its own; see `InheritedPeak`.
    func excludingInherited(from peakBytes: UInt64) -> UInt64? {
        inheritedPeak.exclude(from: peakBytes)
    }

    /// Kills whatever descends from this process; to be called at its end, when no task is to go on.
    package func killAll() {
        freezes.close()
        _ = clx_descendants_kill(nil, 0, 8)
    }
}

/// Makes this process the parent of descendants whose own parent ends (prctl(2)).
package func becomeSubreaper() throws(SystemError) {
    try systemCall("prctl", "PR_SET_CHILD_SUBREAPER") { clx_become_subreaper() }
}

/// The children of this process that are not among the `known`: their own parents have ended.
package func adoptedOrphans(known: Set<Int32>) throws(SystemError) -> [Int32] {
    try ProcessTable().children(of: getpid()).filter { !known.contains($0) }
}
