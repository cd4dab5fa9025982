import BudgetCore
import TaskStore

@testable import bgtaskd

extension Shell {
    func order(_ step: StoreStep) {
        guard let change = StoreChange(step, step.task.flatMap(registry.record), clocks) else {
            return registry.notStored(step, "its task is not known", at: now, &actions)
        }
        steps.append(step)
        changes.append(change)
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
                if isProbing { try opened.store.probe() } else { try opened.store.apply(written) }
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

    private func take(_ result: Result<Void, StoreError>) throws {
        let steps = inHand
        let isProbe = isProbing
        inHand = []
        isProbing = false
        switch result {
        case .success:
            try taken(steps)
            guard isProbe, registry.storeFault != nil else { return }
            isProbeDue = false
            registry.storeHealed(at: now, &actions)
        case .failure(let error):
            hasRefused = true
            for step in steps {
                if case .started(let id) = step { ledger.startRefused(id) }
                if mayHaveTaken, case .submitted(let id, _) = step { ledger.mayReturn(id) }
                registry.notStored(step, error.text, at: now, &actions)
            }
            isProbeDue = true
        }
    }

    func taken(_ steps: [StoreStep]) throws {
        for step in steps {
            if case .ended(let id) = step { try ledger.endTaken(id) }
            registry.stored(step, at: now, &actions)
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
        case .submitted(let id, _), .started(let id), .requeued(let id), .ended(let id): id
        case .identifiersReserved: nil
        }
    }
}
