import BudgetCore
import DaemonShell

// What the daemon is told by its timers, by the kernel and by operators.
extension Shell {
    func pass(_ duration: Duration) {
        machine.pass(duration)
        core.advance()
        timersFire()
    }

    /// The machine is suspended and wakes up again.
    func suspend(for duration: Duration) {
        machine.suspend(for: duration)
        core.advance()
        ledger.count("slept")
        timersFire()
    }

    /// The timers are armed at what is due next, each on its clock.
    private func timersFire() {
        let (deadline, queueDeadline) = core.update { registry, _, _ in
            (registry.nextDeadline ?? .never, registry.nextQueueDeadline ?? .never)
        }
        let isDue = deadline <= now
        let isQueueDue = queueDeadline <= machine.boot
        if isExecutorFirst { executorFires() }
        defer { if !isExecutorFirst { executorFires() } }
        if isDue || isQueueDue {
            core.update({ registry, now, actions in registry.deadlineReached(at: now, &actions) })
        }
        guard store.nextDeadline ?? .never <= now, store.deadlineReached() else { return }
        ledger.count("disk silent")
        ledger.applications.silent()
    }

    func setConditions(_ conditions: Conditions) {
        ledger.conditions = conditions
        core.update({ registry, now, actions in
            registry.conditionsChanged(to: conditions, at: now, &actions)
        })
    }

    /// An operator holds a group back, or lets it go.
    func setPaused(_ group: String, _ isPaused: Bool) throws {
        let waits: Bool
        do throws(Refusal) {
            waits = try core.update({ registry, _, actions throws(Refusal) in
                try registry.setPaused(group, isPaused, &actions)
            })
        } catch {
            return ledger.count("pause refused at once")
        }
        guard waits else { return try ledger.groups.isSo(group, isPaused) }
        ledger.groups.ordered(group, isPaused)
        ledger.count(isPaused ? "paused" : "resumed")
    }
}
