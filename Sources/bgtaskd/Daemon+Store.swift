internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd
internal import TaskStore

extension Daemon {
    /// Has what must be on disk before it is true written at the end of the turn.
    func order(_ step: StoreStep, at now: Instant) {
        storeWriter.enqueue(step, clocks(at: now), &registry, &actions)
    }

    /// The store's thread has something to tell.
    func storeReady() {
        let now = now
        let outcome = storeWriter.takeProgress(clocks(at: now), &registry, &actions)
        if let complaint = outcome.complaint {
            log.say(.storeNotKept, [.reason: "\(complaint)"])
        }
        if let failure = outcome.failure, outcome.isNewFailure {
            log.say(.storeFailed, [.reason: "\(failure)"])
        }
        if outcome.hasHealed { log.say(.storeHealed) }
        endTurn(at: now)
    }

    /// Does what is due about the disk.
    func storeDeadlineReached(at now: Instant) {
        if let reason = storeWriter.deadlineReached(at: now, &registry) {
            log.say(.storeFailed, [.reason: "\(reason)"])
        }
    }

    func clocks(at now: Instant) -> ClockPair {
        ClockPair(instant: now, boot: registry.boot(at: now), time: WallClock.now())
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
        var committed: [StoreStep]
        repeat {
            perform(at: now)
            committed = try storeWriter.commit(clocks, &registry, &actions) {
                changes throws(StoreError) in
                try StoreThread.write(changes, to: store, identifiers)
            }
        } while !committed.isEmpty
        if !launches.isEmpty { continueLater() }
    }
}
