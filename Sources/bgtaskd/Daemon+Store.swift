internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd
internal import TaskStore

/// What is ordered to be on disk and is not confirmed yet.
struct StoreQueue {
    /// What the store's thread will be given next.
    var steps: [StoreStep] = []
    var changes: [StoreChange] = []
    /// What the thread has, the oldest first.
    var inHand: [StoreStep] = []
    var isProbing = false
    /// When a disk that failed is looked at again.
    var probeAt: Instant?
    /// When the disk should have answered what the thread has in hand.
    var answerDueAt: Instant?
    /// When a stop does not wait for the disk any longer.
    var stopWaitEndsAt: Instant?
    /// Whether a stop has had the disk looked at for the last time.
    var isLastProbeDone = false
    /// Whether a stop has waited for the disk in vain.
    var isGivenUp = false

    var isIdle: Bool { steps.isEmpty && inHand.isEmpty }

    /// Takes out those of the steps that the thread has which it has written.
    mutating func takeWritten(_ count: Int) -> [StoreStep] {
        guard count < inHand.count else {
            defer { inHand = [] }
            return inHand
        }
        defer { inHand = Array(inHand.dropFirst(count)) }
        return Array(inHand.prefix(count))
    }

    /// Takes out all that is not written.
    mutating func takeSteps() -> [StoreStep] {
        defer { (inHand, steps, changes) = ([], [], []) }
        return inHand + steps
    }

    /// When the disk is looked at again, where nothing is on its way to it: what comes of that is told first.
    var nextProbe: Instant? { isIdle ? probeAt : nil }
}

extension Daemon {
    /// How long a disk that failed is left alone.
    private static let probeInterval = Duration.seconds(1)
    /// How long a disk may take for a commit.
    private static let patience = Duration.seconds(5)

    /// Takes down what must be on disk before it is true; written at the end of the turn.
    func order(_ step: StoreStep, at now: Instant) {
        let clocks = clocks(at: now)
        guard let change = change(for: step, clocks) else {
            return registry.notStored(step, "its task is not known", at: now, &actions)
        }
        storeQueue.steps.append(step)
        storeQueue.changes.append(change)
    }

    private func change(for step: StoreStep, _ clocks: ClockPair) -> StoreChange? {
        guard case .applicationSaved(let key) = step else {
            return StoreChange(step, step.task.flatMap { registry.record($0) }, clocks)
        }
        guard let record = registry.applicationRecord(key) else { return nil }
        return .applicationSaved(StoredApplication(key, record, clocks))
    }

    /// Gives the store's thread what has come up.
    func writeSteps(at now: Instant) {
        guard !storeQueue.isProbing, !storeQueue.steps.isEmpty else { return }
        storeThread.write(storeQueue.changes)
        if storeQueue.inHand.isEmpty { storeQueue.answerDueAt = now + Daemon.patience }
        storeQueue.inHand += storeQueue.steps
        (storeQueue.steps, storeQueue.changes) = ([], [])
    }

    /// The store's thread has something to tell.
    func storeReady() {
        let now = now
        let progress = storeThread.takeProgress()
        if let complaint = progress.complaint {
            log.say(.storeNotKept, [.reason: "\(complaint)"])
        }
        take(progress, at: now)
        endTurn(at: now)
    }

    private func take(_ progress: StoreThread.Progress, at now: Instant) {
        if progress.writtenCount > 0 {
            take(storeQueue.takeWritten(progress.writtenCount), progress.applied, at: now)
            storeQueue.answerDueAt = storeQueue.inHand.isEmpty ? nil : now + Daemon.patience
            // One write that a full disk had room for heals nothing.
            if registry.storeFault != nil { storeQueue.probeAt = storeQueue.probeAt ?? now }
        }
        if let failure = progress.failure { storeFailed(failure, at: now) }
        guard progress.isProbed else { return }
        storeQueue.isProbing = false
        guard registry.storeFault != nil else { return }
        log.say(.storeHealed)
        storeQueue.probeAt = nil
        registry.storeHealed(at: now, &actions)
    }

    private func storeFailed(_ error: StoreError, at now: Instant) {
        storeQueue.isProbing = false
        storeQueue.answerDueAt = nil
        let isNew = registry.storeFault == nil
        // What was ordered since may rest on it.
        for step in storeQueue.takeSteps() {
            registry.notStored(step, Daemon.words(for: error), at: now, &actions)
        }
        if isNew, registry.storeFault != nil {
            log.say(.storeFailed, [.reason: "\(error)"])
        }
        storeQueue.probeAt = now + Daemon.probeInterval
    }

    /// The disk has taken what was ordered.
    private func take(_ steps: [StoreStep], _ applied: Applied, at now: Instant) {
        let clocks = clocks(at: now)
        for step in steps {
            let success = step.task.flatMap { applied.lastSuccesses[$0] }.map(clocks.boot)
            registry.stored(step, lastSuccess: success, at: now, &actions)
        }
    }

    func clocks(at now: Instant) -> ClockPair {
        ClockPair(instant: now, boot: registry.boot(at: now), time: WallClock.now())
    }

    /// What a submitter is told; the path is the administrator's business.
    static func words(for error: StoreError) -> String {
        "tasks cannot be stored: \(error.text)"
    }

    /// Says that the disk does not answer, when it should have, and has new work refused.
    func noteSilentStore(at now: Instant) {
        guard let dueAt = storeQueue.answerDueAt, dueAt <= now else { return }
        storeQueue.answerDueAt = nil
        let text = "the disk has not answered for \(Daemon.patience.components.seconds) s"
        if registry.storeFault == nil { log.say(.storeFailed, [.reason: "\(text)"]) }
        registry.storeSilent("tasks cannot be stored: \(text)")
    }

    /// Looks at a disk that failed again, when it is time.
    func probeStore(at now: Instant) {
        guard let probeAt = storeQueue.nextProbe, probeAt <= now else { return }
        probeStore()
    }

    /// Looks at the disk once more before the end, where it does not know ends that were told.
    func probeLast() {
        guard registry.hasUnstoredEnds, !storeQueue.isLastProbeDone, storeQueue.isIdle,
            !storeQueue.isProbing
        else { return }
        storeQueue.isLastProbeDone = true
        probeStore()
    }

    private func probeStore() {
        storeQueue.probeAt = nil
        storeQueue.isProbing = true
        storeThread.probe()
    }

    /// Takes over what an earlier daemon left, and has it on disk before anybody is served.
    ///
    /// - Throws: `StoreError`, where it cannot be read or written.
    func recover(from store: TaskStore, _ identifiers: TaskStore, _ found: FoundTasks)
        throws(StoreError)
    {
        let now = now
        let clocks = clocks(at: now)
        registry.restore(ended: found.ended.map { RestoredTask($0, clocks) })
        registry.restore(pausedGroups: found.pausedGroups)
        let live = found.live.map { task in
            RestoredTask(task, lastSuccess: found.lastSuccesses[task.id], clocks)
        }
        registry.restore(live, at: now, &actions)
        let applications = found.applications.map {
            (key: $0.key, record: ApplicationRecord($0, clocks))
        }
        let frozen = thawUnits(of: applications.map(\.record))
        registry.restore(applications: applications, frozen: frozen, at: now, &actions)
        perform(at: now)
        while !storeQueue.steps.isEmpty {
            let (steps, changes) = (storeQueue.steps, storeQueue.changes)
            storeQueue = StoreQueue()
            take(steps, try StoreThread.write(changes, to: store, identifiers), at: now)
            perform(at: now)
        }
        if !launches.isEmpty { continueLater() }
    }
}

extension StoreStep {
    /// The task that it is about.
    fileprivate var task: TaskID? {
        switch self {
        case .submitted(let id, _), .started(let id), .requeued(let id), .ended(let id),
            .attemptEnded(let id), .cancelling(let id):
            id
        case .identifiersReserved, .groupPaused, .applicationSaved, .applicationForgotten: nil
        }
    }
}
