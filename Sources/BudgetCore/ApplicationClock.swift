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
        clockChanged(of: applications.tasks(of: key), to: clock, at: now, &actions)
    }

    /// What its application's place means for a task; most have none.
    ///
    /// It is mutating, though it changes nothing: others are called on a copy of the registry's thousand bytes,
    /// and this one is called whenever a task begins.
    mutating func applicationClock(of task: BackgroundTask) -> ApplicationClock? {
        guard !applicationClocks.isEmpty, let key = ApplicationKey(task) else { return nil }
        return applicationClocks[key]
    }

    /// Refuses a begin whose handler nobody could obey (rule 13 in docs/architecture.md).
    mutating func checkBackgroundTime(
        application: String?, owner: OwnerID, at now: Instant
    ) throws(Refusal) {
        guard !applicationClocks.isEmpty, let application else { return }
        try checkBackgroundTime(ApplicationKey(owner: owner, id: application), at: now)
    }

    private func checkBackgroundTime(_ key: ApplicationKey, at now: Instant) throws(Refusal) {
        switch applicationClocks[key] {
        case .background(let until, let grace):
            guard until - now >= grace else {
                throw .tooLittleTime(remaining: max(until - now, .zero), needed: grace)
            }
        case .suspended: throw .tooLittleTime(remaining: .zero, needed: grace(of: key))
        case .foreground, nil: return
        }
    }
}
