/// What an application's place in its lifecycle means for the tasks that it holds.
package enum ApplicationClock: Equatable, Sendable {
    /// In front: nothing is spent, tasks are dormant.
    case foreground
    /// In the background: all its tasks share one deadline, and their handlers fire together
    /// `grace` before it.
    case background(until: Instant, grace: Duration)
    /// Frozen: nobody could do what is begun.
    case suspended
}

extension BackgroundTaskRegistry {
    /// An application went to the front, left it, or is not known any more (`nil`: its tasks have
    /// their own budgets alone). While the registry drains, coming to the front saves no task.
    package mutating func applicationMoved(
        _ key: ApplicationKey,
        to clock: ApplicationClock?,
        at now: Instant,
        _ actions: inout [Action]
    ) {
        applicationClocks[key] = clock
        for id in applications.tasks(of: key) {
            guard let slot = table.slot(of: id), table[slot].isLive, !isStopping(slot),
                !isConcluded(slot)
            else { continue }
            if clock == .foreground, !isDraining {
                makeDormant(slot, at: now, &actions)
            } else {
                resume(slot, at: now, &actions)
            }
        }
    }

    func applicationClock(of task: BackgroundTask) -> ApplicationClock? {
        guard !applicationClocks.isEmpty, let application = task.application else { return nil }
        return applicationClocks[ApplicationKey(owner: task.owner, id: application)]
    }

    /// Refuses a begin whose handler nobody could obey (DESIGN.md rule 13).
    func checkBackgroundTime(
        application: String?, owner: OwnerID, at now: Instant
    ) throws(Refusal) {
        guard !applicationClocks.isEmpty, let application else { return }
        let key = ApplicationKey(owner: owner, id: application)
        switch applicationClocks[key] {
        case .background(let until, let grace):
            guard until - now >= grace else {
                throw .tooLittleTime(remaining: max(until - now, .zero), needed: grace)
            }
        case .suspended: throw .tooLittleTime(remaining: .zero, needed: grace(of: key))
        case .foreground, nil: return
        }
    }

    private mutating func makeDormant(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard table[slot].state != .dormant else { return }
        table[slot].state = .dormant
        table[slot].reason = nil
        table[slot].stopClock(at: now)
        table[slot].pausedAt = now
        updateDeadlines(slot)
        actions.append(.tell(.dormant, table[slot].id))
    }

    private mutating func resume(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard table[slot].state == .dormant else { return updateDeadlines(slot) }
        let pause = now - table[slot].pausedAt
        table[slot].ownHardAt = table[slot].ownHardAt + pause
        table[slot].lifetimeEndsAt = table[slot].lifetimeEndsAt + pause
        table[slot].state = .running
        table[slot].startClock(at: now)
        updateDeadlines(slot)
        actions.append(.tell(.resumed, table[slot].id))
    }
}
