import BudgetCore
import DaemonShell

// What the program that runs commands does by itself, by the times that it was told last.
extension Shell {
    /// Tells it what has changed.
    func mirrorTimes() {
        for id in core.update({ registry, _, _ in registry.takeChangedTimes() }) {
            mirrorTimes(of: id)
        }
    }

    func mirrorTimes(of id: TaskID) {
        guard processes[id] != nil, let times = core.registry.commandDeadlines(of: id)
        else { return }
        processes[id]?.handlerAt = times.handlerAt
        processes[id]?.limitAt = times.limitAt
    }

    /// Does what is due by its times.
    func executorFires() {
        for id in processes.keys.sorted() {
            guard let process = processes[id], !process.isGone else { continue }
            if process.handlerAt <= now { fireHandler(id) }
            if process.limitAt <= now { fireLimit(id) }
        }
    }

    /// Fires a handler, and tells of it.
    func fireHandler(_ id: TaskID) {
        guard let process = processes[id] else { return }
        let count = process.firedCount + 1
        processes[id]?.firedCount = count
        processes[id]?.handlerAt = .never
        if process.isMainThere, core.registry.record(id)?.run?.work.expiration.command != nil {
            processes[id]?.hasHandler = true
        }
        ledger.count("handlers fired by the executor")
        core.update({ registry, now, actions in
            registry.commandWarned(id, count: count, at: now, &actions)
        })
    }

    private func fireLimit(_ id: TaskID) {
        processes[id]?.limitAt = .never
        processes[id]?.handlerAt = .never
        processes[id]?.isKilled = true
        ledger.killed(id)
        ledger.count("limits reached by the executor")
        core.update({ registry, now, actions in
            registry.commandLimitReached(id, at: now, &actions)
        })
    }
}
