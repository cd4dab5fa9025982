package import BudgetCore
internal import LinuxSystem
package import Logging
internal import Systemd
package import TaskStore

/// What the core wants on disk, from its orders to what came of them.
package final class Persistence {
    private let core: Core
    private let backend: any StoreBackend
    private let log: Logger
    private var writer: StoreWriter
    private var losses = SpanLosses()
    private var cuts = HistoryCuts()
    /// Whether `takeProgress` may have left something for another call.
    private(set) var isTelling = false

    package init(_ core: Core, _ backend: any StoreBackend, _ log: Logger) {
        self.core = core
        self.backend = backend
        self.log = log
        writer = StoreWriter(backend)
    }

    /// The executor that commands are started by from now on, which is written with each start; `nil` before one
    /// was found, when nothing is started.
    package var executor: ExecutorInstance? {
        get { writer.executor }
        set { writer.executor = newValue }
    }

    /// Has what must be on disk before it is true written at the end of the turn.
    ///
    /// - Returns: whether there is what it is about; else it is refused at once.
    @discardableResult
    package func order(_ step: StoreStep) -> Bool {
        let clocks = core.clocks
        return core.update { registry, _, actions in
            writer.enqueue(step, clocks, &registry, &actions)
        }
    }

    /// Gives the disk what has been ordered, and in which states applications are since then.
    package func flush() {
        handOverSpans()
        writer.flush(at: core.now)
    }

    private func handOverSpans() {
        let spans = core.update { registry, _, _ in registry.takeSpans() }
        if !spans.isEmpty {
            let clocks = core.clocks
            backend.keep(spans.map { StoredSpan($0, clocks) })
        }
    }

    /// The spans of applications that have ended and that the disk does not have yet, of these.
    func waitingSpans(_ filter: SpanFilter) -> [StoredSpan] {
        // Some of them may be of this turn.
        handOverSpans()
        return backend.waitingSpans(filter)
    }

    /// Whether nothing is on its way to the disk, and a disk that failed is not being looked at.
    package var isIdle: Bool { writer.isIdle && !writer.isProbing }

    /// Takes what the disk has to tell.
    ///
    /// - Parameter countMax: of so many steps at most.
    @discardableResult
    package func takeProgress(atMost countMax: Int = .max) -> StoreWriter.Outcome {
        let clocks = core.clocks
        let outcome = core.update { registry, _, actions in
            writer.takeProgress(atMost: countMax, clocks, &registry, &actions)
        }
        isTelling = !outcome.stored.isEmpty
        if let complaint = outcome.complaint {
            log.say(.storeNotKept, [.reason: "\(complaint)"])
        }
        losses.add(outcome.droppedSpans, at: core.now)
        cuts.add(outcome.forgottenCount)
        tellOfCuts()
        if let fault = outcome.outputFault { log.say(.outputNotKept, [.reason: "\(fault)"]) }
        if let failure = outcome.failure, outcome.isNewFailure {
            log.say(.storeFailed, [.reason: "\(failure)"])
        }
        if outcome.hasHealed { log.say(.storeHealed) }
        return outcome
    }

    /// Has the history kept within bounds.
    func keep(_ bounds: HistoryBounds) { backend.keep(bounds) }

    // MARK: - Time

    /// When something is due about the disk.
    package var nextDeadline: Instant? {
        min(writer.nextDeadline, losses.nextReport ?? .never, cuts.nextReport ?? .never)
    }

    /// Does what is due.
    ///
    /// - Returns: whether a disk that was well until now has not answered.
    @discardableResult
    package func deadlineReached() -> Bool {
        if let due = losses.nextReport, due <= core.now { tellOfLosses() }
        tellOfCuts()
        let reason = core.update { registry, now, _ in
            writer.deadlineReached(at: now, &registry)
        }
        if let reason { log.say(.storeFailed, [.reason: reason]) }
        return reason != nil
    }

    private func tellOfCuts() {
        guard let count = cuts.takeReport(at: core.now) else { return }
        log.say(.historyCut, [.count: "\(count)"])
    }

    private func tellOfLosses() {
        for (account, count) in losses.takeReport() {
            log.say(
                .spansDropped,
                [
                    .owner: "\(account)",
                    .reason: "\(count) spans, since too many waited for the disk",
                ])
        }
    }

    // MARK: - Start and end

    /// Takes over what an earlier daemon left, and has it on disk before anybody is served.
    ///
    /// - Parameters:
    ///   - left: what the executor runs of it.
    ///   - restored: called once the core knows all of it, before anything is done that it orders then.
    ///   - frozen: units of applications that an earlier daemon froze, and that are frozen still.
    ///   - write: writes changes in one commit.
    ///   - committed: told what is on disk then.
    /// - Throws: `StoreError`, where it cannot be written.
    package func recover(
        _ found: FoundTasks, left: FoundCommands = FoundCommands(),
        executor: ExecutorInstance? = nil, frozen: Set<BudgetCore.AdoptedUnit>,
        restored: () -> Void = {},
        by write: ([StoreChange]) throws(StoreError) -> Applied,
        committed: ([StoreStep]) -> Void = { _ in }
    ) throws(StoreError) {
        core.advance()
        let clocks = core.clocks
        core.update { registry, now, actions in
            registry.restore(ended: found.ended.map { RestoredTask($0, clocks) })
            registry.restore(pausedGroups: found.pausedGroups)
            registry.restore(pausedOwners: found.pausedOwners)
            registry.restore(slotOrders: found.slotOrders)
            let ids = Set(found.live.map(\.id))
            let live = found.live.map { task in
                var restored = RestoredTask(
                    task, lastSuccess: found.lastSuccesses[task.id], clocks)
                if let wait = found.dependencies[task.id]?.wait(among: ids) {
                    restored.wait(after: wait.known, broken: wait.broken)
                }
                return restored
            }
            let applications = found.applications.map {
                (key: $0.key, record: ApplicationRecord($0, clocks))
            }
            registry.restore(
                applications: applications, running: left.applications,
                spans: RestoredSpans(found.spans, clocks), frozen: frozen, at: now, &actions)
            // Their clocks depend on where their applications are.
            registry.restore(
                live, found: left.tasks, executor: executor, at: now, &actions)
        }
        restored()
        var isDone = false
        while !isDone {
            core.perform()
            let steps = try core.update { registry, _, actions throws(StoreError) in
                try writer.commit(clocks, &registry, &actions, by: write)
            }
            committed(steps)
            isDone = steps.isEmpty
        }
    }

    /// Whether something is still on its way to the disk, which gets some seconds for it at a stop.
    package func isAwaited() -> Bool {
        let hasUnstoredEnds = core.registry.hasUnstoredEnds
        switch writer.drain(at: core.now, hasUnstoredEnds: hasUnstoredEnds) {
        case .done: return false
        case .waiting: return true
        case .givenUp:
            log.say(.storeNotWaitedFor)
            return false
        }
    }

    /// Whether a stop has waited for the disk in vain.
    package var isGivenUp: Bool { writer.isGivenUp }

    /// Ends the threads of the disk; a disk that was waited for in vain has been told of.
    func close(_ history: HistoryThread) {
        tellOfLosses()
        guard !writer.isGivenUp else { return }
        let isClosed = history.close() && backend.close(used: core.registry.identifierLast)
        if let fault = backend.takeProgress().outputFault {
            log.say(.outputNotKept, [.reason: "\(fault)"])
        }
        if !isClosed || core.registry.unstoredEndCount > 0 { log.say(.storeNotWaitedFor) }
    }
}
