package import BudgetCore

/// Everything of a run task that survives a restart.
///
/// Durations are kept in whole milliseconds, rounded down; that of the budget and those that hold the task
/// back are rounded up.
package struct StoredTask: Equatable, Sendable {
    /// Where a task stands; it follows from the times that are recorded.
    package enum State: Sendable {
        case queued, started, ended
    }

    package var id: TaskID
    package var owner: OwnerID
    package var name: String
    package var application: String?
    package var profile: String
    /// What was granted; `nil` where there is no limit.
    package let budget: Budget?
    /// How long before the hard limit the handler fires, also where the task is stopped early; the
    /// budget's own where there is one.
    package let grace: Duration
    /// How long it may last over all its extensions; `nil` where there is no limit.
    package var lifetimeMax: Duration?
    /// Whether the budget that was asked for was cut by that limit.
    package var isCutByLifetime: Bool
    /// The command and what it needs. Of an ended task the command and its folder, cut where they are long: an
    /// `EndedSubmission` has the rest.
    package var work: Work
    /// Its `earliestBegin` counts from `queuedAt`; of a retry it is the delay before it.
    package var queueing: Queueing
    package var submittedAt: WallTime
    /// Since when it waits in the queue: the submission, or the end of the attempt before this one.
    package var queuedAt: WallTime
    /// When the present attempt started; `nil` while it waits, and where it could not be started.
    package var startedAt: WallTime?
    /// The present attempt, from 1.
    package var attempt: Int
    /// The tasks after which it comes, with how those ended that had at its submission. Written with the submission, and
    /// read by `TaskStore.dependencies`.
    package var dependencies: [Dependency] = []
    /// Those before it, from the first; not in listings. Written by `StoreChange.requeued` alone.
    package var attempts: [StoredAttempt] = []
    /// Whether it was cancelled while it ran, so that no attempt follows.
    package var isCancelled = false
    /// Which run of the executor the present attempt is started by; `nil` where there was none, while the task waits,
    /// and after its end.
    package var executor: ExecutorInstance?
    package var end: StoredEnd?

    package var state: State {
        if end != nil { return .ended }
        return startedAt == nil ? .queued : .started
    }

    package init(
        id: TaskID,
        owner: OwnerID,
        name: String,
        application: String? = nil,
        profile: String,
        budget: Budget?,
        grace: Duration,
        lifetimeMax: Duration? = nil,
        isCutByLifetime: Bool = false,
        work: Work,
        queueing: Queueing = Queueing(),
        submittedAt: WallTime,
        startedAt: WallTime? = nil
    ) {
        self.id = id
        self.owner = owner
        self.name = name
        self.application = application
        self.profile = profile
        self.budget = budget
        self.grace = budget?.grace ?? grace
        self.lifetimeMax = lifetimeMax
        self.isCutByLifetime = isCutByLifetime
        self.work = work
        self.queueing = queueing
        self.submittedAt = submittedAt
        queuedAt = submittedAt
        self.startedAt = startedAt
        attempt = 1
    }
}

/// How a task, or one attempt of it, ended.
package struct StoredEnd: Equatable, Sendable {
    package var at: WallTime
    package var outcome: Outcome
    package var exit: ProcessExit?
    package var reason: Reason?
    /// When its expiration handler was last run; `nil` where it was not.
    package var warnedAt: WallTime?
    /// How long the clock of its budget has run.
    package var used: Duration
    package var cpu: Duration?
    package var memoryPeakBytes: Int?

    package init(
        at: WallTime,
        outcome: Outcome,
        exit: ProcessExit? = nil,
        reason: Reason? = nil,
        warnedAt: WallTime? = nil,
        used: Duration,
        cpu: Duration? = nil,
        memoryPeakBytes: Int? = nil
    ) {
        self.at = at
        self.outcome = outcome
        self.exit = exit
        self.reason = reason
        self.warnedAt = warnedAt
        self.used = used
        self.cpu = cpu
        self.memoryPeakBytes = memoryPeakBytes
    }
}

/// An attempt of a task that was queued again after it.
package struct StoredAttempt: Equatable, Sendable {
    /// From 1.
    package var attempt: Int
    package var startedAt: WallTime?
    package var end: StoredEnd

    package init(attempt: Int, startedAt: WallTime?, end: StoredEnd) {
        self.attempt = attempt
        self.startedAt = startedAt
        self.end = end
    }
}
