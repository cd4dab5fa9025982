// How applications are frozen and thawed, as the shell reports it.
extension BackgroundTaskRegistry {
    private func isFreezing(_ key: ApplicationKey, _ number: UInt64) -> Bool {
        applications[key]?.run?.phase == .freezing(number)
    }

    /// All processes are frozen: the kernel has said so.
    package mutating func applicationFrozen(
        _ key: ApplicationKey, _ number: UInt64, at now: Instant, _ actions: inout [Action]
    ) {
        guard isFreezing(key, number) else { return }
        applications.update(key) {
            $0.run?.phase = .frozen
            $0.run?.freezeLimitAt = .never
            $0.run?.freezeFailure = nil
        }
        move(key, on: .frozen, at: now, &actions)
        applicationMoved(key, to: .suspended, at: now, &actions)
    }

    /// They could not all be frozen, and none is; it is tried again.
    package mutating func applicationNotFrozen(
        _ key: ApplicationKey, _ number: UInt64, _ reason: String, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard isFreezing(key, number) else { return }
        noteFreezeFailure(key, reason, &actions)
        applications.update(key) {
            $0.run?.phase = .running
            $0.run?.freezeLimitAt = .never
        }
        planSuspension(key, promptly: true, at: now)
    }

    /// A freeze was not confirmed in its time: it is undone, and tried again.
    mutating func giveUpFreeze(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        let limit = BackgroundTaskRegistry.freezeLimit.components.seconds
        noteFreezeFailure(key, "not all of it was frozen within \(limit) s", &actions)
        thaw(key, at: now, &actions)
    }

    private mutating func noteFreezeFailure(
        _ key: ApplicationKey, _ reason: String, _ actions: inout [Action]
    ) {
        let isNew = applications[key]?.run?.freezeFailure != reason
        applications.update(key) { $0.run?.freezeFailure = reason }
        if isNew { note(key, .notFrozen(reason), &actions) }
    }

    /// None of its processes is frozen.
    package mutating func applicationThawed(
        _ key: ApplicationKey, _ number: UInt64, at now: Instant, _ actions: inout [Action]
    ) {
        guard let run = applications[key]?.run, run.phase == .thawing(number) else { return }
        guard !isDraining else { return release(key, at: now, &actions) }
        applications.update(key) {
            $0.run?.phase = .running
            $0.run?.thawAt = .never
            $0.run?.thawFailure = nil
        }
        if run.comesToFront {
            comeToFront(key, on: .activated, at: now, &actions)
        } else {
            stayAwake(key, at: now, &actions)
        }
    }

    /// Somebody else has thawed a suspended application: it is in the background again for a while.
    package mutating func applicationThawedByOthers(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard applications[key]?.run?.phase == .frozen, !isDraining else { return }
        applications.update(key) { $0.run?.phase = .running }
        stayAwake(key, at: now, &actions)
    }

    /// Its processes could not be thawed: whoever waits for that is told.
    package mutating func applicationNotThawed(
        _ key: ApplicationKey, _ number: UInt64, _ reason: String, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let application = applications[key], application.run?.phase == .thawing(number)
        else { return }
        if application.run?.thawFailure != reason { note(key, .notThawed(reason), &actions) }
        guard !isDraining else {
            return release(key, stillFrozen: true, at: now, &actions)
        }
        let lost = application.run?.messages.count ?? 0
        if lost > 0 { note(key, .messagesDropped(lost), &actions) }
        applications.update(key) {
            $0.run?.thawFailure = reason
            $0.run?.messages = []
            $0.run?.comesToFront = false
            $0.run?.thawAt = .never
            if application.state == .suspended {
                $0.run?.phase = .frozen
            } else {
                $0.run?.thawAt = now + BackgroundTaskRegistry.thawRetry
            }
        }
        answerWaiters(key, .notAccepting(reason), &actions) { $0 != .gone }
    }

    /// How long the kernel, or the service manager, may take for a freeze.
    static let freezeLimit = Duration.seconds(5)
    static let freezeRetry = Duration.seconds(10)
    /// Longer than a service manager is waited for.
    static let thawRetry = Duration.seconds(10)

    /// Thaws it, and once more where no answer comes.
    mutating func thaw(_ key: ApplicationKey, at now: Instant, _ actions: inout [Action]) {
        let number = applications.nextNumber()
        applications.update(key) {
            $0.run?.phase = .thawing(number)
            $0.run?.freezeLimitAt = .never
            $0.run?.thawAt = now + BackgroundTaskRegistry.thawRetry
        }
        actions.append(.application(key, .thaw(number)))
    }
}
