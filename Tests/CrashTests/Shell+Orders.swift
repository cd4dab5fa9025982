import BudgetCore

@testable import DaemonShell

// What the daemon is told by its timers, by the kernel and by operators.
extension Shell {
    func pass(_ duration: Duration) {
        machine.pass(duration)
        timersFire()
    }

    /// The machine is suspended and wakes up again.
    func suspend(for duration: Duration) {
        machine.suspend(for: duration)
        registry.asleep = machine.asleep
        ledger.count("slept")
        timersFire()
    }

    /// The timers are armed at what is due next, each on its clock.
    private func timersFire() {
        let isDue = registry.nextDeadline ?? .never <= now
        let isQueueDue = registry.nextQueueDeadline ?? .never <= machine.boot
        if isDue || isQueueDue { registry.deadlineReached(at: now, &actions) }
        guard store.nextDeadline <= now, store.deadlineReached(at: now, &registry) != nil else {
            return
        }
        ledger.count("disk silent")
        ledger.applications.silent()
    }

    func setConditions(_ conditions: Conditions) {
        ledger.conditions = conditions
        registry.conditionsChanged(to: conditions, at: now, &actions)
    }

    /// An operator holds a group back, or lets it go.
    func setPaused(_ group: String, _ isPaused: Bool) throws {
        let waits: Bool
        do throws(Refusal) {
            waits = try registry.setPaused(group, isPaused, &actions)
        } catch {
            return ledger.count("pause refused at once")
        }
        guard waits else { return try ledger.groups.isSo(group, isPaused) }
        ledger.groups.ordered(group, isPaused)
        ledger.count(isPaused ? "paused" : "resumed")
    }
}
