internal import CLinux
internal import Glibc

/// Has the commands of tasks and applications run by bgtask-executor, watches processes that others have started, and tells
/// what happens to them.
///
/// One descriptor stands for all: watch it (readable), and call `poll` when it is ready. For one
/// thread.
package final class ProcessHost {
    let watches: WatchList
    let sweeps: SignalSweeps
    package let readers: ProcessReaders
    /// The children that this host started and has not reaped.
    private var children: [Int32: WatchedChild] = [:]
    private lazy var orphans = OrphanReaper(host: self)
    private var executor: ExecutorLink?
    /// Whether that is a child of this process, so that others' processes may be below it.
    private var hasExecutorBelow = false
    /// The one that makes closers.
    private var maker: Int32?

    /// Makes this process a child subreaper (PR_SET_CHILD_SUBREAPER): processes become its children when their parents
    /// end. That is how those are found that an executor leaves which was a child of this process and was killed.
    ///
    /// To be called in the process's first thread.
    package init() throws(SystemError) {
        watches = try WatchList()
        readers = try ProcessReaders(watches: watches)
        sweeps = try SignalSweeps(watches: watches, readers)
        clx_keep_ended_children()
        try systemCall("prctl", "PR_SET_CHILD_SUBREAPER") { clx_become_subreaper() }
    }

    /// Readable while there is something for `poll` to tell.
    package var descriptor: Int32 { watches.descriptor }

    /// Has commands run by bgtask-executor, those that `ExecutorLink.makeCommand` makes; once.
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
        if case .child = way { hasExecutorBelow = true }
        let link = try ExecutorLink(way, owner: owner, watches: watches)
        executor = link
        return link
    }

    /// An executor that was a child of this process is gone: what it has left has become this process's.
    func executorEnded() { orphans.begin() }

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

    func hasChild(_ processID: Int32) -> Bool {
        children[processID] != nil || processID == maker
    }

    /// A child makes closers, in the place of any before. Neither it nor what descends from it is an orphan, or killed at the
    /// end: it ends by itself when it is let go of.
    package func spare(_ maker: CloserProcess.Maker) { self.maker = maker.processID }

    /// Keeps a child until it is reaped.
    func enter(_ child: WatchedChild) { children[child.processID] = child }

    /// Lets go of a child that was reaped.
    func leave(_ child: WatchedChild) { children[child.processID] = nil }

    /// Kills whatever else descends from this process; to be called at its end.
    package func killAll() {
        guard hasExecutorBelow else { return }
        let spared = maker.map { [$0] } ?? []
        _ = clx_descendants_kill(spared, spared.count, 8)
    }
}
