/// Who does the work of a background task.
package enum TaskKind: UInt8, Sendable {
    /// The client does it itself and holds the time: UIKit's begin and end.
    case held
    /// The daemon runs a command: begin at its start, end at its exit.
    case run
}

/// Where a background task is between its begin and its end.
package enum TaskState: UInt8, Sendable {
    /// Run tasks only: waits for its turn.
    case queued
    /// Its application is in the foreground; the clock stands still.
    case dormant
    case running
    /// The expiration handler has fired, or the task is being stopped.
    case expiring
    case ended
}

/// How a background task ended; every ended task has exactly one.
package enum Outcome: UInt8, Sendable, CaseIterable {
    /// Ended before its handler fired; a run task exited 0.
    case completed
    /// A run task exited non-zero, died of a signal that was not ours, or could not be started.
    case failed
    /// Ended after its handler fired and before the hard limit, whatever the exit status.
    case expired
    /// Still there at the hard limit, and stopped.
    case overrun
    /// Ended by a user's or operator's order.
    case cancelled
    /// The holder's connection or process went away without `end`.
    case abandoned
    /// The daemon or the machine stopped under it.
    case interrupted
}

/// Why a task is stopped or was told to end, beyond its own end.
package indirect enum Reason: Equatable, Sendable {
    case budgetSpent
    case applicationTimeSpent
    case simulated
    case shutdown
    case cancelled(by: OwnerID, text: String?)
    case connectionClosed
    case processExited
    /// The command could not be started; the text says what failed.
    case notStarted(String)
    /// A command that waited in the queue when a daemon stopped that keeps nothing on disk.
    case queueLost
    /// The daemon or the machine went down under it.
    case daemonLost
    /// The words that an earlier daemon recorded.
    case recorded(String)

    static let textBytesMax = 1024

    /// The same with a text of the cause that is no longer than that.
    func cut(toBytes bytesMax: Int) -> Reason {
        switch self {
        case .notStarted(let text): .notStarted(text.cut(toBytes: bytesMax))
        case .recorded(let text): .recorded(text.cut(toBytes: bytesMax))
        case .cancelled(let owner, let text):
            .cancelled(by: owner, text: text?.cut(toBytes: bytesMax))
        default: self
        }
    }
}

/// One entry of the `BackgroundTaskRegistry`: borrowed time with an id and a name.
package struct BackgroundTask: Equatable, Sendable {
    package let id: TaskID
    package let owner: OwnerID
    package let kind: TaskKind
    package internal(set) var state: TaskState
    package internal(set) var outcome: Outcome?
    package let name: String
    /// The process that a held task lives with, where it is not a connection.
    package internal(set) var holderProcess: ProcessID?
    package let application: String?
    package let profile: String
    /// What was granted; `nil` where there is no limit.
    package let budget: Budget?
    /// How long before the hard limit the handler fires, also where the task is stopped early.
    package let grace: Duration
    package internal(set) var reason: Reason?

    /// When it was submitted, or begun where it never waited.
    package let submittedAt: Instant
    package internal(set) var begunAt: Instant
    package internal(set) var endedAt: Instant
    /// When its processes or its time were given back; the clock stands still after it.
    private var clockUsed: Duration = .zero
    private var clockTickingSince: Instant?

    /// When the handler fires; `never` where it has fired or no limit applies.
    package internal(set) var handlerAt: Instant = .never
    /// When the task is stopped.
    package internal(set) var hardAt: Instant = .never
    /// The hard limit of the task's own budget, before an application's deadline cuts it.
    var ownHardAt: Instant = .never
    /// How long it may last over all its extensions.
    package internal(set) var lifetimeMax: Duration?
    /// Whether its last grant was cut by that limit.
    package internal(set) var isCutByLifetime = false
    /// The end of what extensions can reach.
    package internal(set) var lifetimeEndsAt: Instant = .never
    /// What ends the remaining time first.
    package internal(set) var bound: Bound?
    /// Since when it is dormant.
    var pausedAt: Instant = .never
    /// When the task grows old enough to be named in the log; `never` once it has been.
    var warnAt: Instant = .never

    init(
        id: TaskID,
        owner: OwnerID,
        kind: TaskKind,
        name: String,
        application: String?,
        profile: Profile,
        budget: Budget?,
        at now: Instant
    ) {
        self.id = id
        self.owner = owner
        self.kind = kind
        self.name = name
        self.application = application
        self.profile = profile.name
        self.budget = budget
        grace = budget?.grace ?? profile.grace
        state = .queued
        submittedAt = now
        begunAt = .never
        endedAt = .never
    }

    init(_ restored: RestoredTask) {
        let submission = restored.submission
        id = restored.id
        owner = submission.owner
        kind = .run
        name = submission.name
        application = submission.application
        profile = restored.profile
        budget = restored.budget
        grace = restored.grace
        state = .queued
        submittedAt = restored.submittedAt
        begunAt = .never
        endedAt = .never
    }

    init(_ restored: RestoredTask, _ end: RestoredEnd) {
        self.init(restored)
        lifetimeMax = restored.lifetimeMax
        isCutByLifetime = restored.isCutByLifetime
        begunAt = restored.begunAt ?? .never
        endedAt = end.endedAt
        clockUsed = end.used
        state = .ended
        outcome = end.outcome
        reason = end.reason
    }

    /// Whether the task counts as live: begun and not ended.
    package var isLive: Bool { state != .queued && state != .ended }

    /// Whether the clock of its budget runs.
    package var isTicking: Bool { clockTickingSince != nil }

    /// How long its clock has run.
    package func used(at now: Instant) -> Duration {
        guard let clockTickingSince else { return clockUsed }
        return clockUsed + (now - clockTickingSince)
    }

    /// The time since the begin, since the submission while queued, up to the end.
    package func age(at now: Instant) -> Duration {
        let start = begunAt == .never ? submittedAt : begunAt
        return (state == .ended ? endedAt : now) - start
    }

    /// Makes it ready to begin anew.
    mutating func prepareAgain(isCut: Bool) {
        state = .queued
        reason = nil
        begunAt = .never
        clockUsed = .zero
        clockTickingSince = nil
        (handlerAt, hardAt, ownHardAt, lifetimeEndsAt) = (.never, .never, .never, .never)
        (pausedAt, warnAt) = (.never, .never)
        isCutByLifetime = isCut
        bound = nil
    }

    mutating func startClock(at now: Instant) {
        clockTickingSince = clockTickingSince ?? now
    }

    mutating func stopClock(at now: Instant) {
        clockUsed = used(at: now)
        clockTickingSince = nil
    }
}

/// The rule that ends the remaining time first.
package enum Bound: UInt8, Sendable {
    case ownBudget
    case applicationBackgroundTime
    case lifetimeLimit
}

/// What a task has left.
package struct Remaining: Equatable, Sendable {
    /// Until the expiration handler fires; `nil` where no limit applies now.
    package let untilHandler: Duration?
    /// Until the hard limit.
    package let untilHardLimit: Duration?
    package let bound: Bound?

    /// No limit applies now: none is set, the clock stands still, or it has not begun.
    package static let unlimited = Remaining(untilHandler: nil, untilHardLimit: nil, bound: nil)
}
