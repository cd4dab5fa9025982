package import BudgetCore
package import TaskStore

/// Has a store write what the core orders, and tells the core what came of it.
///
/// Orders of a turn go to the store together, at its end; several commits may be under way. A disk that fails is
/// looked at again after a second, and again. One that does not answer for five seconds is said to have failed,
/// though what it has may still be written.
package struct StoreWriter: ~Copyable {
    /// What has come of orders; the core has been told.
    package struct Outcome {
        package var stored: [StoreStep] = []
        package var refused: [StoreStep] = []
        /// Why they were refused, or why a probe found nothing better.
        package var failure: StoreError?
        /// Whether the disk was well before that.
        package var isNewFailure = false
        /// Whether a disk that had failed is well.
        package var hasHealed = false
        /// What could not be done for the file, beside the orders.
        var complaint: StoreError?
        /// What keeps output from the disk since just now.
        var outputFault: StoreError?
        /// Ended tasks that were forgotten since the disk was full, or what they had printed.
        var forgottenCount = 0
        /// Spans of applications that found no room while they waited, by account.
        var droppedSpans: [OwnerID: Int] = [:]
    }

    /// How a stop stands with what is on its way to the disk.
    package enum Drain {
        /// Nothing is left to wait for.
        case done
        case waiting
        /// It was waited for in vain.
        case givenUp
    }

    /// The executor that commands are started by from now on; `nil` before one was found.
    var executor: ExecutorInstance?

    private let backend: any StoreBackend
    /// What the store is given at the end of the turn.
    private var steps: [StoreStep] = []
    private var changes: [StoreChange] = []
    /// What the store has, the oldest first.
    private var inFlight: [StoreStep] = []
    /// What it has told, of which the core has not been told all.
    private var untold = StoreProgress()
    private var probe = Probe.none
    /// When the disk should have answered what the store has.
    private var commitDueAt: Instant?
    private var stop = Stop()

    /// Looks at a disk that has failed.
    private enum Probe: Equatable {
        case none
        case due(Instant)
        case underWay
    }

    private struct Stop {
        /// When it does not wait for the disk any longer; `nil` where nothing was to be waited for yet.
        var endsAt: Instant?
        /// Whether it has had the disk looked at for the last time.
        var isLastProbeDone = false
        var isGivenUp = false
    }

    /// How long a disk that failed is left alone.
    static let probeInterval = Duration.seconds(1)
    /// How long a disk may take for a commit.
    static let commitTimeout = Duration.seconds(5)
    /// How long a stop waits for the disk.
    static let stopTimeout = Duration.seconds(10)

    package init(_ backend: any StoreBackend) {
        self.backend = backend
    }

    /// Whether nothing is on its way to the disk.
    package var isIdle: Bool { steps.isEmpty && inFlight.isEmpty }

    /// Whether the core has not been told of all that the store has told.
    private var hasUntold: Bool { untold.writtenCount > 0 }

    /// Whether a failed disk is being looked at.
    package var isProbing: Bool { probe == .underWay }

    /// Whether a stop has waited for the disk in vain.
    package var isGivenUp: Bool { stop.isGivenUp }

    /// When `deadlineReached` is due, or a stop does not wait any longer.
    package var nextDeadline: Instant {
        let stopEndsAt = stop.isGivenUp ? nil : stop.endsAt
        return min(probeDueAt ?? .never, commitDueAt ?? .never, stopEndsAt ?? .never)
    }

    /// When the disk is looked at again, where nothing is on its way to it: what comes of that is told first.
    private var probeDueAt: Instant? {
        if case .due(let instant) = probe, isIdle { instant } else { nil }
    }

    // MARK: - Orders

    /// Takes down what must be on disk before it is true, as it is now.
    ///
    /// - Returns: whether there is what it is about; else it is refused at once.
    @discardableResult
    package mutating func enqueue(
        _ step: StoreStep, _ clocks: ClockPair, _ registry: inout BackgroundTaskRegistry,
        _ actions: inout [Action]
    ) -> Bool {
        guard let change = StoreChange(step, of: registry, clocks, executor) else {
            registry.notStored(step, "its task is not known", at: clocks.instant, &actions)
            return false
        }
        steps.append(step)
        changes.append(change)
        return true
    }

    /// Gives the store what has come up.
    package mutating func flush(at now: Instant) {
        guard !isProbing, !steps.isEmpty else { return }
        backend.write(changes)
        if inFlight.isEmpty { commitDueAt = now + Self.commitTimeout }
        inFlight += steps
        (steps, changes) = ([], [])
    }

    /// Commits what has come up, before anybody is served.
    ///
    /// - Returns: what is on disk now; nothing where nothing had come up.
    mutating func commit(
        _ clocks: ClockPair, _ registry: inout BackgroundTaskRegistry, _ actions: inout [Action],
        by write: ([StoreChange]) throws(StoreError) -> Applied
    ) throws(StoreError) -> [StoreStep] {
        if steps.isEmpty { return [] }
        let (steps, changes) = (steps, changes)
        (self.steps, self.changes) = ([], [])
        confirm(steps, try write(changes), clocks, &registry, &actions)
        return steps
    }

    // MARK: - What comes of them

    /// Tells the core what the store has done since this was last called.
    ///
    /// - Parameter countMax: at most so many steps; `hasUntold` says that there are others. What has failed is told with all
    ///   of them: nothing more is to be ordered before.
    package mutating func takeProgress(
        atMost countMax: Int = .max, _ clocks: ClockPair,
        _ registry: inout BackgroundTaskRegistry, _ actions: inout [Action]
    ) -> Outcome {
        var outcome = Outcome()
        if !hasUntold {
            untold = backend.takeProgress()
            outcome.complaint = untold.complaint
            outcome.outputFault = untold.outputFault
            outcome.droppedSpans = untold.droppedSpans
            outcome.forgottenCount = untold.forgottenCount
        }
        let progress = untold
        let wasWell = registry.storeFault == nil
        // What was written before it failed lets nothing start that would be written to it next.
        if let failure = progress.failure { registry.storeInDoubt(Self.reason(failure.text)) }
        let count = min(progress.writtenCount, progress.failure == nil ? countMax : .max)
        untold.writtenCount -= count
        if count > 0 {
            outcome.stored = Array(inFlight.prefix(count))
            inFlight = Array(inFlight.dropFirst(count))
            confirm(outcome.stored, progress.applied, clocks, &registry, &actions)
        }
        guard !hasUntold else { return outcome }
        if count > 0 {
            commitDueAt = inFlight.isEmpty ? nil : clocks.instant + Self.commitTimeout
            // One write that a full disk had room for heals nothing.
            if registry.storeFault != nil, probe == .none { probe = .due(clocks.instant) }
        }
        if let failure = progress.failure {
            outcome.failure = failure
            outcome.isNewFailure = wasWell
            fail(failure, &outcome, at: clocks.instant, &registry, &actions)
        }
        if progress.isProbed {
            probe = .none
            outcome.hasHealed = registry.storeFault != nil
            registry.storeHealed(at: clocks.instant, &actions)
        }
        untold = StoreProgress()
        return outcome
    }

    private mutating func fail(
        _ failure: StoreError, _ outcome: inout Outcome, at now: Instant,
        _ registry: inout BackgroundTaskRegistry, _ actions: inout [Action]
    ) {
        // What was ordered since may rest on it.
        outcome.refused = inFlight + steps
        (inFlight, steps, changes) = ([], [], [])
        for step in outcome.refused {
            registry.notStored(step, Self.reason(failure.text), at: now, &actions)
        }
        commitDueAt = nil
        probe = .due(now + Self.probeInterval)
    }

    private func confirm(
        _ steps: [StoreStep], _ applied: Applied, _ clocks: ClockPair,
        _ registry: inout BackgroundTaskRegistry, _ actions: inout [Action]
    ) {
        for step in steps {
            let success = step.task.flatMap { applied.lastSuccesses[$0] }.map(clocks.boot)
            registry.stored(step, lastSuccess: success, at: clocks.instant, &actions)
        }
    }

    /// What a submitter is told; the path is the administrator's business.
    private static func reason(_ text: String) -> String { "tasks cannot be stored: \(text)" }

    // MARK: - Time

    /// Does what is due: has new work refused where the disk does not answer, and looks at one that failed.
    ///
    /// - Returns: what is to be said of a disk that was well until now; `nil` where nothing is.
    package mutating func deadlineReached(
        at now: Instant, _ registry: inout BackgroundTaskRegistry
    ) -> String? {
        if let dueAt = probeDueAt, dueAt <= now { startProbe() }
        guard let dueAt = commitDueAt, dueAt <= now else { return nil }
        commitDueAt = nil
        let text =
            "the disk has not answered for \(Self.commitTimeout.components.seconds) s"
        defer { registry.storeInDoubt(Self.reason(text)) }
        return registry.storeFault == nil ? text : nil
    }

    /// Whether a stop has to wait for the disk, which gets some seconds for it.
    ///
    /// - Parameter hasUnstoredEnds: whether ends were told that the disk does not know; it is looked at once more
    ///   then.
    package mutating func drain(at now: Instant, hasUnstoredEnds: Bool) -> Drain {
        if hasUnstoredEnds, !stop.isLastProbeDone, isIdle, !isProbing {
            stop.isLastProbeDone = true
            startProbe()
        }
        if isIdle, !isProbing { return .done }
        let endsAt = stop.endsAt ?? now + Self.stopTimeout
        stop.endsAt = endsAt
        stop.isGivenUp = now >= endsAt
        return stop.isGivenUp ? .givenUp : .waiting
    }

    private mutating func startProbe() {
        probe = .underWay
        backend.probe()
    }
}

extension StoreChange {
    /// What a step says of what it is about, as the core knows that now; `nil` where it knows nothing of it.
    fileprivate init?(
        _ step: StoreStep, of registry: borrowing BackgroundTaskRegistry, _ clocks: ClockPair,
        _ executor: ExecutorInstance?
    ) {
        guard case .applicationSaved(let key) = step else {
            let record = if let task = step.task { registry.record(task) } else { TaskRecord?.none }
            self.init(step, record, clocks, executor: executor)
            guard case .submitted(var task) = self, !task.queueing.after.isEmpty else { return }
            task.dependencies = registry.dependencies(of: task.id)
            self = .submitted(task)
            return
        }
        guard let record = registry.applicationRecord(key) else { return nil }
        self = .applicationSaved(StoredApplication(key, record, clocks))
    }
}

extension StoreStep {
    /// The task that it is about.
    fileprivate var task: TaskID? {
        switch self {
        case .submitted(let id, _), .started(let id), .startUndone(let id), .ended(let id),
            .attemptEnded(let id), .cancelling(let id), .changed(let id):
            id
        case .identifiersReserved, .groupPaused, .ownerPaused, .slotsOrdered, .cleaned,
            .applicationSaved, .applicationForgotten:
            nil
        }
    }
}
