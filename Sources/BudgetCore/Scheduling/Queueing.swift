/// What must be so before a task starts; each is read from the kernel by the shell.
package struct Conditions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    /// There is a default route.
    package static let network = Conditions(rawValue: 1)
    /// The machine is not on battery.
    package static let externalPower = Conditions(rawValue: 2)
    /// The machine has little else to do.
    package static let idle = Conditions(rawValue: 4)

    package static let all: Conditions = [.network, .externalPower, .idle]

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }
}

/// What happens to a submission whose name another task has that was submitted as unique and has not ended
/// (rule 26 in docs/architecture.md).
package enum Uniqueness: UInt8, Sendable {
    /// That task stands for it.
    case keep
    /// That task is cancelled; the new one starts when it is gone.
    case replace
    /// That task is cancelled where it has not started; where it runs it goes on, is not tried again, and the new one
    /// waits for its end.
    case replaceQueued
}

/// How often and when a task is tried again that has not completed (rule 27 in docs/architecture.md).
package struct Retry: Equatable, Sendable {
    /// All attempts, the first included.
    package var attempts: Int
    /// Before the second attempt; twice as long before each one after it, up to `delayMax`.
    package var delay: Duration
    /// Whether it is tried again also where the daemon or the machine stopped under it.
    package var onInterruption: Bool

    package static let attemptsMax = 100
    package static let delayUsual = Duration.seconds(30)
    package static let delayMax = Duration.seconds(5 * 3600)

    package init(attempts: Int, delay: Duration? = nil, onInterruption: Bool = false) {
        self.attempts = attempts
        self.delay = delay ?? Retry.delayUsual
        self.onInterruption = onInterruption
    }

    /// How long after the end of an attempt the next one may begin.
    ///
    /// - Parameter attempt: the one that has ended, from 1.
    package func delay(after attempt: Int) -> Duration {
        var result = min(delay, Retry.delayMax)
        for _ in 1..<max(attempt, 1) where result < Retry.delayMax { result = result * 2 }
        return min(result, Retry.delayMax)
    }
}

/// A task that has to have ended before another one starts (rule 29 in docs/architecture.md).
package struct Predecessor: Hashable, Sendable {
    package let id: TaskID
    /// Whether any end will do; else it has to be completed.
    package let anyOutcome: Bool

    /// How many of them a task may have.
    package static let countMax = 64

    package init(_ id: TaskID, anyOutcome: Bool = false) {
        self.id = id
        self.anyOutcome = anyOutcome
    }
}

/// What decides when a queued task may run.
package struct Queueing: Equatable, Sendable {
    /// The group whose slots it takes, besides those of the daemon.
    package var group: String?
    /// Among the tasks of one owner the higher one runs first.
    package var priority = 0
    /// A lower bound, counted from the submission.
    package var earliestBegin: Duration?
    package var conditions: Conditions = []
    /// Counted from the last successful end of this owner's tasks of the same name (rule 25 in docs/architecture.md).
    package var minimumInterval: Duration?
    package var unique: Uniqueness?
    package var retry: Retry?
    /// Tasks of the same owner, submitted before it, that have to have ended.
    package var after: [Predecessor] = []
    /// Slots of the daemon, and of its group, that it takes; where there are fewer in all, it takes all.
    package var slots = 1
    /// Whether somebody holds it back until further notice (rule 31 in docs/architecture.md).
    package var isPaused = false
    /// The ended task that it repeats, which decides nothing (rule 33 in docs/architecture.md).
    package var restartOf: TaskID?

    package init() {}

    /// What a task is queued by that repeats one: when that was to begin, what it came after and whether it was paused
    /// does not count again.
    ///
    /// - Parameter id: the task that it repeats.
    package func restarted(_ id: TaskID) -> Queueing {
        var result = self
        result.earliestBegin = nil
        result.after = []
        result.isPaused = false
        result.restartOf = id
        return result
    }

    /// What the tasks that it comes after take in memory, about.
    var byteCount: Int { after.count * 96 }

    /// Whether other tasks of its name can hold it back.
    var isByName: Bool { minimumInterval != nil || unique != nil }

    /// How long it waits before anything else; `nil` where it need not.
    var wait: Duration? { earliestBegin.flatMap { $0 > .zero ? $0 : nil } }
}

/// What is to be otherwise about when a queued task may run; what is `nil` stays.
package struct QueueingChange: Equatable, Sendable {
    package var priority: Int?
    /// An empty one: of no group.
    package var group: String?
    /// Counted from the change.
    package var earliestBegin: Duration?
    package var conditions: Conditions?
    package var slots: Int?
    package var isPaused: Bool?

    package init() {}

    /// Whether it changes nothing else.
    var isPauseAlone: Bool {
        var rest = self
        rest.isPaused = nil
        return rest == QueueingChange()
    }

    /// Refuses what the limits forbid, of what it changes alone: they may have changed since the submission.
    func check(
        from before: Queueing, _ limits: RegistryLimits, for owner: OwnerID
    ) throws(Refusal) {
        var asked = applied(to: Queueing())
        if group != nil || slots != nil {
            let after = applied(to: before)
            (asked.group, asked.slots) = (after.group, after.slots)
        }
        try asked.check(limits, for: owner)
    }

    package func applied(to queueing: Queueing) -> Queueing {
        var result = queueing
        if let priority { result.priority = priority }
        if let group { result.group = group.isEmpty ? nil : group }
        if let earliestBegin { result.earliestBegin = earliestBegin }
        if let conditions { result.conditions = conditions }
        if let slots { result.slots = slots }
        if let isPaused { result.isPaused = isPaused }
        return result
    }
}
