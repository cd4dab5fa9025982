internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd
internal import TaskStore

/// What the core wants on disk, from its orders to what came of them.
final class Persistence {
    private let core: Core
    private let thread: StoreThread
    private let log: Logger
    private var writer: StoreWriter

    init(_ core: Core, _ thread: StoreThread, _ log: Logger) {
        self.core = core
        self.thread = thread
        self.log = log
        writer = StoreWriter(thread)
    }

    /// Readable when the disk has something to tell.
    var descriptor: Int32 { thread.descriptor }

    /// Has what must be on disk before it is true written at the end of the turn.
    func order(_ step: StoreStep) {
        let clocks = core.clocks
        core.update { registry, _, actions in
            _ = writer.enqueue(step, clocks, &registry, &actions)
        }
    }

    /// Gives the disk what has been ordered.
    func flush() { writer.flush(at: core.now) }

    /// Takes what the disk has to tell.
    func takeProgress() {
        let clocks = core.clocks
        let outcome = core.update { registry, _, actions in
            writer.takeProgress(clocks, &registry, &actions)
        }
        if let complaint = outcome.complaint {
            log.say(.storeNotKept, [.reason: "\(complaint)"])
        }
        if let failure = outcome.failure, outcome.isNewFailure {
            log.say(.storeFailed, [.reason: "\(failure)"])
        }
        if outcome.hasHealed { log.say(.storeHealed) }
    }

    /// Has the history kept within bounds.
    func keep(_ bounds: HistoryBounds) { thread.keep(bounds) }

    // MARK: - Time

    /// When something is due about the disk.
    var nextDeadline: Instant? { writer.nextDeadline }

    func deadlineReached() {
        let reason = core.update { registry, now, _ in
            writer.deadlineReached(at: now, &registry)
        }
        if let reason { log.say(.storeFailed, [.reason: reason]) }
    }

    // MARK: - Start and end

    /// Takes over what an earlier daemon left, and has it on disk before anybody is served.
    ///
    /// - Parameter frozen: units of applications that an earlier daemon froze, and that are frozen still.
    /// - Throws: `StoreError`, where it cannot be written.
    func recover(
        _ found: FoundTasks, applications: [(key: ApplicationKey, record: ApplicationRecord)],
        frozen: Set<BudgetCore.AdoptedUnit>, writingTo store: TaskStore, _ identifiers: TaskStore
    ) throws(StoreError) {
        core.advance()
        let clocks = core.clocks
        core.update { registry, now, actions in
            registry.restore(ended: found.ended.map { RestoredTask($0, clocks) })
            registry.restore(pausedGroups: found.pausedGroups)
            let live = found.live.map { task in
                RestoredTask(task, lastSuccess: found.lastSuccesses[task.id], clocks)
            }
            registry.restore(live, at: now, &actions)
            registry.restore(applications: applications, frozen: frozen, at: now, &actions)
        }
        var isDone = false
        while !isDone {
            core.perform()
            let committed = try core.update { registry, _, actions throws(StoreError) in
                try writer.commit(clocks, &registry, &actions) { changes throws(StoreError) in
                    try StoreThread.write(changes, to: store, identifiers)
                }
            }
            isDone = committed.isEmpty
        }
    }

    /// Whether something is still on its way to the disk, which gets some seconds for it at a stop.
    func isAwaited() -> Bool {
        let hasUnstoredEnds = core.registry.hasUnstoredEnds
        switch writer.drain(at: core.now, hasUnstoredEnds: hasUnstoredEnds) {
        case .done: return false
        case .waiting: return true
        case .givenUp:
            log.say(.storeNotWaitedFor)
            return false
        }
    }

    /// Ends the threads of the disk; a disk that was waited for in vain has been told of.
    func close(_ history: HistoryThread) {
        guard !writer.isGivenUp else { return }
        let isClosed = history.close() && thread.close(used: core.registry.identifierLast)
        if !isClosed || core.registry.unstoredEndCount > 0 { log.say(.storeNotWaitedFor) }
    }
}
