/// One thing that must be on disk: the shell writes it and answers with `stored` or `notStored`.
///
/// Steps are written in their order. Those of one turn may share a commit, and then succeed or fail as
/// one. What a step says of a task is in the task's record at the moment of the action.
package enum StoreStep: Hashable, Sendable {
    /// A command was submitted; `isStarted` where it starts as soon as this is on disk, so that one
    /// commit is enough for both.
    case submitted(TaskID, isStarted: Bool)
    /// A queued command starts as soon as this is on disk.
    case started(TaskID)
    /// A command whose start is on disk was not started after all; it is queued again.
    case startUndone(TaskID)
    /// A run task has ended, with the conclusion in its record.
    case ended(TaskID)
    /// An attempt of a run task has ended, with the conclusion in its record; the task waits for the next.
    case attemptEnded(TaskID)
    /// A running task that would be tried again is being cancelled, and is not to be.
    case cancelling(TaskID)
    /// A queued task waits by other rules, which are in its record.
    case changed(TaskID)
    /// A group is held back, or let go.
    case groupPaused(String, Bool)
    /// The same for all tasks of an owner.
    case ownerPaused(OwnerID, Bool)
    /// There are as many slots from now on.
    case slotsOrdered(SlotOrder)
    /// Of tasks that have ended, those that the caller may see are forgotten.
    case cleaned([TaskID], by: Caller)
    /// What is known of an application has changed; its record is that of the moment of the action.
    case applicationSaved(ApplicationKey)
    case applicationForgotten(ApplicationKey)
    /// Ids up to and including this one may be handed out.
    case identifiersReserved(through: TaskID)
}

/// How a run task ends, decided and not told yet: the disk has to know first.
package struct Conclusion: Equatable, Sendable {
    package let outcome: Outcome
    package let reason: Reason?
    package let endedAt: Instant
    /// The same moment on the clock that goes on while the machine sleeps, also where it sleeps before the
    /// disk knows.
    package let endedAtBoot: BootInstant
    /// How long after it the next attempt may begin; `nil` where there is none.
    package let retryDelay: Duration?
    /// Whether its processes were still there `RegistryLimits.stuckAfter` after they were killed.
    let wasStuck: Bool

    package init(
        outcome: Outcome, reason: Reason?, endedAt: Instant, endedAtBoot: BootInstant,
        retryDelay: Duration?, wasStuck: Bool
    ) {
        self.outcome = outcome
        self.reason = reason
        self.endedAt = endedAt
        self.endedAtBoot = endedAtBoot
        self.retryDelay = retryDelay
        self.wasStuck = wasStuck
    }
}

/// A run task as an earlier daemon left it on disk.
package struct RestoredTask: Sendable {
    package var id: TaskID
    package var submission: Submission
    package var profile: String
    /// What was granted; `nil` where there is no limit.
    package var budget: Budget?
    package var grace: Duration
    package var lifetimeMax: Duration?
    package var isCutByLifetime: Bool
    /// On the clock of this run, where it may lie before the machine's start.
    package var submittedAt: Instant
    /// When it was started; `nil` where it waited.
    package var begunAt: Instant?
    /// How it ended; `nil` where it had not.
    package var end: RestoredEnd?
    /// The present attempt, from 1.
    package var attempt = 1
    package var attempts: [EndedAttempt] = []
    /// When it may start: its earliest begin, or the end of the delay before another attempt.
    package var notBefore = BootInstant.distantPast
    /// When a task of its owner and name last completed; of those that keep an interval.
    package var lastSuccess: BootInstant?
    /// Whether an order to cancel it was taken while it ran.
    package var isCancelled = false
    /// The executor that its command was to be started by; `nil` where there was none.
    package var executor: ExecutorInstance?
    /// The tasks after which it comes.
    package private(set) var dependencies: [Dependency] = []
    /// The one that did not end as it was needed; `nil` where there is none.
    package private(set) var broken: BrokenDependency?

    package init(
        id: TaskID, submission: Submission, profile: String, budget: Budget?, grace: Duration,
        lifetimeMax: Duration?, isCutByLifetime: Bool, submittedAt: Instant, begunAt: Instant?
    ) {
        self.id = id
        self.submission = submission
        self.profile = profile
        self.budget = budget
        self.grace = grace
        self.lifetimeMax = lifetimeMax
        self.isCutByLifetime = isCutByLifetime
        self.submittedAt = submittedAt
        self.begunAt = begunAt
    }

    /// What becomes of a restored task.
    enum Fate {
        /// - Parameter isStartUndone: whether the disk takes it for begun, and it is not.
        case waits(isStartUndone: Bool)
        case goesOn(FoundCommand)
        /// What had begun is gone.
        case lost(begunAt: Instant)
    }

    /// - Parameters:
    ///   - command: the one that was found of it.
    ///   - executor: the program that runs commands now.
    func fate(_ command: FoundCommand?, _ executor: ExecutorInstance?) -> Fate {
        guard let begunAt else { return .waits(isStartUndone: false) }
        guard !submission.work.wakesApplication else { return .lost(begunAt: begunAt) }
        if let command, command.attempt == attempt { return .goesOn(command) }
        // The order to start it did not reach the program that would have it otherwise.
        let isStartUndone = executor != nil && self.executor == executor && !isCancelled
        return isStartUndone ? .waits(isStartUndone: true) : .lost(begunAt: begunAt)
    }

    /// Lets it wait for others.
    ///
    /// - Parameter broken: the first that did not end as it was needed.
    package mutating func wait(after dependencies: [Dependency], broken: BrokenDependency?) {
        self.dependencies = dependencies
        self.broken = broken
    }
}

/// The end of a run task as an earlier daemon recorded it, or an earlier hour of this one.
package struct RestoredEnd: Sendable {
    package var outcome: Outcome
    package var reason: Reason?
    package var exit: ProcessExit?
    /// When its handler last fired; `nil` where it did not.
    package var warnedAt: Instant?
    package var endedAt: Instant
    package var used: Duration
    package var use: ResourceUse?

    package init(
        outcome: Outcome, reason: Reason?, exit: ProcessExit?, warnedAt: Instant? = nil,
        endedAt: Instant, used: Duration, use: ResourceUse? = nil
    ) {
        self.outcome = outcome
        self.reason = reason
        self.exit = exit
        self.warnedAt = warnedAt
        self.endedAt = endedAt
        self.used = used
        self.use = use
    }
}

extension TaskRecord {
    /// The record of an ended task; `nil` where it has not ended.
    package init?(ended restored: RestoredTask) {
        guard restored.end != nil else { return nil }
        self.init(task: BackgroundTask(restored), run: RunTask(restored))
    }
}
