import BudgetCore
import DaemonShell
import TaskStore

extension Shell {
    func order(_ step: StoreStep) throws {
        guard store.order(step) else {
            throw Violation("what \(step) is about is not known")
        }
        switch step {
        case .started(let id), .submitted(let id, isStarted: true):
            starting.insert(id)
            try ledger.decided(id)
        case .startUndone(let id): ledger.startUndone(id)
        default: break
        }
    }

    /// Lets the store's thread do the next thing, or the daemon hear of what it has done.
    ///
    /// - Parameter tellsFirst: where both can be.
    func advanceStore(tellsFirst: Bool) throws {
        if thread.hasNews, tellsFirst || !thread.isDue {
            try takeProgress()
        } else if let order = thread.next() {
            try carryOut(order)
        }
    }

    private func carryOut(_ order: StoreOrders.Order) throws {
        let wasFailing = disk.isFailing
        switch order {
        case .write(let changes):
            mayHaveTaken = disk.fault == .unsynced
            ledger.applications.given(changes)
            let spans = thread.takeSpans()
            let result = try Shell.ask(disk) { () throws(StoreError) in
                try opened.store.apply(changes, with: spans)
            }
            if case .success = result {
                thread.spansAnswered(isWritten: true)
            } else {
                thread.spansAnswered(isWritten: false)
            }
            switch result {
            case .success(let applied):
                ledger.applications.taken()
                thread.written(changes.count, applied)
            case .failure(let error):
                hasRefused = true
                ledger.applications.refused(mayBeTaken: mayHaveTaken)
                thread.failed(error)
            }
        case .probe:
            let result = try Shell.ask(disk) { () throws(StoreError) in
                try opened.store.probe()
            }
            switch result {
            case .success where wasFailing:
                throw Violation("a probe finds nothing wrong with a disk that is \(disk.fault)")
            case .success: thread.probed()
            case .failure(let error):
                // With it, what was ordered behind it is refused.
                hasRefused = true
                thread.failed(error)
            }
        }
    }

    /// Brings the log into the database, as the store's thread does between commits.
    func checkpoint() throws {
        let done = try Shell.ask(disk) { () throws(StoreError) in try opened.store.checkpoint() }
        // A failure is said in the log; no commit depends on it.
        if case .failure = done { ledger.count("checkpoint failed") }
    }

    /// Has the store do something that may fail where the disk does, and only there.
    static func ask<T>(
        _ disk: Disk, _ body: () throws(StoreError) -> T
    ) throws -> Result<T, StoreError> {
        let refusals = disk.refusals
        let result: Result<T, StoreError>
        do throws(StoreError) {
            result = .success(try body())
        } catch {
            result = .failure(error)
        }
        if disk.isDead { throw Stopped(place: "stopped in a store step") }
        if case .failure(let error) = result, disk.refusals == refusals {
            throw Violation("without a fault: \(error)")
        }
        return result
    }

    private func takeProgress() throws {
        let outcome = store.takeProgress()
        try stored(outcome.stored)
        if outcome.hasHealed {
            ledger.applications.healed()
            ledger.count("healed")
        }
        if !outcome.stored.isEmpty, outcome.failure != nil { ledger.count("written in part") }
        for step in outcome.refused { refused(step) }
        guard outcome.failure != nil else { return }
        ledger.applications.forgetEnds { core.registry.applicationRecord($0) != nil }
    }

    private func refused(_ step: StoreStep) {
        switch step {
        case .started(let id):
            starting.remove(id)
            ledger.startUndone(id)
        case .submitted(let id, _):
            starting.remove(id)
            if mayHaveTaken { ledger.mayReturn(id) }
        case .cancelling(let id): ledger.cancelRefused(id)
        default: break
        }
    }

    /// The disk has taken what was ordered.
    func stored(_ steps: [StoreStep]) throws {
        for step in steps {
            switch step {
            case .started(let id), .submitted(let id, _): starting.remove(id)
            case .ended(let id): try ledger.endTaken(id)
            case .cancelling(let id): ledger.cancelStored(id)
            default: break
            }
        }
    }

    /// Whether the daemon ends now; where it does, the last that it does is done.
    func hasStopped() throws -> Bool {
        guard core.registry.isDraining, core.registry.liveCount == 0, processes.isEmpty,
            core.registry.runningApplicationCount == 0
        else { return false }
        guard !store.isAwaited() else { return false }
        if store.isGivenUp {
            ledger.count("disk not waited for")
        } else {
            try close()
            ledger.hasStopped = !hasRefused
            ledger.count("orderly stops")
        }
        return true
    }

    /// The end of an orderly stop.
    private func close() throws {
        let last = core.registry.identifierLast
        _ = try Shell.ask(disk) { () throws(StoreError) in
            try opened.reader.close()
            try opened.store.apply([.identifiersReserved(through: last)])
            try opened.store.close()
        }
    }
}
