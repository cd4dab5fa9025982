import BudgetCore
import DaemonShell
import TaskStore

extension Shell {
    /// Compares what is on disk with what is known, and takes it over.
    ///
    /// - Parameter canThaw: whether what is frozen can be thawed.
    func recover(canThaw: Bool) throws {
        let found = opened.found
        var tasks: [TaskID: StoredTask] = [:]
        for task in found.live + found.ended { tasks[task.id] = task }
        guard found.live.map(\.id) == found.live.map(\.id).sorted(),
            tasks.count == found.live.count + found.ended.count
        else { throw Violation("the store answers \(found)") }
        machine.daemonStarts()
        store.executor = machine.executor
        try ledger.found(tasks, pausedGroups: found.pausedGroups)
        let frozen = try thawApplications(canThaw: canThaw)
        _ = try Shell.starting(disk) { () throws(StoreError) in
            try store.recover(
                found, executor: machine.executor, frozen: frozen, by: commit,
                committed: { steps in attempt { try stored(steps) } })
        }
        try rethrow()
        for task in tasks.values { try checkTakenOver(task) }
        try checkApplicationsTakenOver()
    }

    /// Whether the registry knows a task that was found, as it was.
    private func checkTakenOver(_ stored: StoredTask) throws {
        guard let record = core.registry.record(stored.id), let run = record.run else {
            throw Violation("\(stored.id) is not taken over")
        }
        let task = record.task
        let isQueued = task.state == .queued || launches.contains(stored.id)
        let isAgain =
            try stored.state == .started
            && ledger.comesBack(ledger.fact(stored.id), after: stored.attempt)
        let isRight =
            switch stored.state {
            case .queued: isQueued && run.notBefore == notBefore(stored)
            case .started: isAgain ? isQueued : task.outcome == .interrupted
            case .ended: task.outcome == stored.end?.outcome
            }
        guard isRight, task.name == stored.name, task.owner == stored.owner,
            task.budget == stored.budget, task.lifetimeMax == stored.lifetimeMax,
            run.queueing == stored.queueing, run.attempt == stored.attempt + (isAgain ? 1 : 0),
            try areSame(run.attempts, stored.attempts, isAgain)
        else { throw Violation("\(stored) is taken over as \(record)") }
        guard isAgain else { return }
        let delay = run.queueing.retry.map { $0.delay * (1 << (stored.attempt - 1)) } ?? .zero
        guard run.notBefore == machine.boot + delay else {
            throw Violation("\(stored) waits as \(run)")
        }
    }

    /// When a queued task may start, by the time of day.
    private func notBefore(_ stored: StoredTask) -> BootInstant {
        guard let wait = stored.queueing.earliestBegin, wait > .zero else { return .distantPast }
        let elapsed = machine.time.microseconds - stored.queuedAt.microseconds
        return machine.boot - .microseconds(max(elapsed, 0)) + wait
    }

    private func areSame(
        _ attempts: [EndedAttempt], _ stored: [StoredAttempt], _ isAgain: Bool
    ) throws -> Bool {
        guard attempts.count == stored.count + (isAgain ? 1 : 0) else { return false }
        if isAgain, attempts.last?.outcome != .interrupted { return false }
        return zip(attempts, stored).allSatisfy { own, stored in
            own.attempt == stored.attempt && own.outcome == stored.end.outcome
                && own.exit == stored.end.exit && own.used == stored.end.used
                && own.use?.cpu == stored.end.cpu
        }
    }

    /// Writes what the start has ordered; one that has been stopped writes nothing.
    private func commit(_ changes: [StoreChange]) throws(StoreError) -> Applied {
        guard !isStopped else { return Applied() }
        ledger.applications.given(changes)
        let applied = try opened.store.apply(changes)
        ledger.applications.taken()
        return applied
    }

    /// Has the store do something at the start, where a fault of the disk is a reason not to start.
    static func starting<T>(
        _ disk: Disk, _ body: () throws(StoreError) -> T
    ) throws -> T {
        switch try ask(disk, body) {
        case .success(let answer): return answer
        case .failure: throw DoesNotStart()
        }
    }
}
