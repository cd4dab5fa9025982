import BudgetCore
import TaskStore

@testable import bgtaskd

extension Shell {
    func order(_ step: StoreStep) throws {
        guard let change = change(for: step) else {
            throw Violation("what \(step) is about is not known")
        }
        switch step {
        case .started(let id), .submitted(let id, isStarted: true): try ledger.decided(id)
        case .requeued(let id): ledger.startUndone(id)
        default: break
        }
        steps.append(step)
        changes.append(change)
    }

    private func change(for step: StoreStep) -> StoreChange? {
        guard case .applicationSaved(let key) = step else {
            return StoreChange(step, step.task.flatMap { registry.record($0) }, clocks)
        }
        return registry.applicationRecord(key).map {
            .applicationSaved(StoredApplication(key, $0, clocks))
        }
    }

    /// Lets the store's thread do the next thing: write, or say what came of it.
    func advanceStore() throws {
        if let result {
            self.result = nil
            try take(result)
        } else if !inHand.isEmpty || isProbing {
            let wasFailing = disk.isFailing
            mayHaveTaken = disk.fault == .unsynced
            result = try Shell.ask(disk) { () throws(StoreError) in
                guard isProbing else { return try opened.store.apply(written) }
                try opened.store.probe()
                return Applied()
            }
            if isProbing, case .success = result, wasFailing {
                throw Violation("a probe finds nothing wrong with a disk that is \(disk.fault)")
            }
        } else if isProbeDue, isStoreIdle {
            (isProbeDue, isProbing) = (false, true)
        }
    }

    /// Tasks whose start is on its way to the disk.
    var starting: [TaskID] {
        (inHand + steps).compactMap { step in
            if case .started(let id) = step { id } else { nil }
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

    private func take(_ result: Result<Applied, StoreError>) throws {
        let steps = inHand
        let isProbe = isProbing
        inHand = []
        isProbing = false
        switch result {
        case .success(let applied):
            ledger.applications.taken()
            try taken(steps, applied)
            guard isProbe, registry.storeFault != nil else { return }
            isProbeDue = false
            registry.storeHealed(at: now, &actions)
        case .failure(let error):
            hasRefused = true
            ledger.applications.refused(mayBeTaken: mayHaveTaken)
            let since = self.steps
            (self.steps, changes) = ([], [])
            for step in steps + since {
                refused(step)
                registry.notStored(step, error.text, at: now, &actions)
            }
            ledger.applications.forgetEnds { registry.applicationRecord($0) != nil }
            isProbeDue = true
        }
    }

    private func refused(_ step: StoreStep) {
        switch step {
        case .started(let id): ledger.startUndone(id)
        case .submitted(let id, _) where mayHaveTaken: ledger.mayReturn(id)
        case .cancelling(let id): ledger.cancelRefused(id)
        default: break
        }
    }

    /// The disk has taken what was ordered.
    func taken(_ steps: [StoreStep], _ applied: Applied) throws {
        let clocks = clocks
        for step in steps {
            switch step {
            case .ended(let id): try ledger.endTaken(id)
            case .cancelling(let id): ledger.cancelStored(id)
            default: break
            }
            let success = step.task.flatMap { applied.lastSuccesses[$0] }.map(clocks.boot)
            registry.stored(step, lastSuccess: success, at: now, &actions)
        }
    }

    /// The end of an orderly stop.
    func close() throws {
        let last = registry.identifierLast
        _ = try Shell.ask(disk) { () throws(StoreError) in
            try opened.reader.close()
            try opened.store.apply([.identifiersReserved(through: last)])
            try opened.store.close()
        }
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
