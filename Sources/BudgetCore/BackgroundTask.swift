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

    /// The daemon stopped, and no kill had ended its processes.
    package static let stillThere = Reason.recorded(
        "the daemon stopped while its processes, which were killed, were still there")

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
///
/// There may be a million, so that what many have in common is shared, and what is small comes last.
package struct BackgroundTask: Equatable, Sendable {
    package private(set) var id: TaskID
    /// What was granted.
    private(set) var terms: Terms
    package private(set) var name: String
    package internal(set) var reason: Reason?

    /// When it was submitted, or begun where it never waited.
    package private(set) var submittedAt: Instant
    package internal(set) var begunAt: Instant = .never
    package internal(set) var endedAt: Instant = .never
    /// When its processes or its time were given back; the clock stands still after it.
    var usedNanoseconds: Int64 = 0
    /// Since when its clock runs; `never` while it stands still.
    private var clockTickingSince: Instant = .never

    /// When the handler fires; `never` where it has fired or no limit applies.
    package internal(set) var handlerAt: Instant = .never
    /// When the task is stopped.
    package internal(set) var hardAt: Instant = .never
    /// The hard limit of the task's own budget, before an application's deadline cuts it.
    var ownHardAt: Instant = .never
    /// The end of what extensions can reach.
    package internal(set) var lifetimeEndsAt: Instant = .never
    /// Since when it is dormant.
    var pausedAt: Instant = .never
    /// When the task grows old enough to be named in the log; `never` once it has been.
    var warnAt: Instant = .never

    package private(set) var owner: OwnerID
    /// The process that a held task lives with, where it is not a connection.
    package internal(set) var holderProcess: ProcessID?
    package private(set) var kind: TaskKind
    package internal(set) var state: TaskState = .queued
    package internal(set) var outcome: Outcome?
    /// What ends the remaining time first.
    package internal(set) var bound: Bound?
    /// Whether its last grant was cut by the lifetime limit.
    package internal(set) var isCutByLifetime = false
    /// Whether its terms name an application; asked for far more often than which.
    private(set) var hasApplication: Bool

    init(
        id: TaskID, owner: OwnerID, kind: TaskKind, name: String, terms: Terms, at now: Instant
    ) {
        self.id = id
        self.owner = owner
        self.kind = kind
        self.name = name
        self.terms = terms
        submittedAt = now
        hasApplication = terms.application != nil
    }

    /// That of a slot which is not in use.
    static let vacant = BackgroundTask(
        id: .invalid, owner: .root, kind: .held, name: "", terms: .none, at: .never)

    /// Makes a vacant one that of a task, in its place: copying it takes longer than all else of a begin.
    @inline(__always)
    mutating func occupy(
        id: TaskID, owner: OwnerID, kind: TaskKind, name: consuming String,
        terms: consuming Terms, at now: Instant
    ) {
        self.id = id
        self.owner = owner
        self.kind = kind
        hasApplication = terms.application != nil
        self.name = name
        self.terms = terms
        submittedAt = now
    }

    /// Makes it a vacant one, but for the terms, which nobody asks for then.
    mutating func vacate() {
        id = .invalid
        owner = .root
        kind = .held
        name = ""
        submittedAt = .never
        hasApplication = false
        prepareAgain(isCut: false)
        endedAt = .never
        holderProcess = nil
        outcome = nil
    }

    /// Gives away for good what is kept elsewhere, for others of the kind: so that nothing has to count who has it.
    mutating func exchange(_ terms: inout Terms, _ name: inout String, _ reason: inout Reason?) {
        swap(&self.terms, &terms)
        swap(&self.name, &name)
        swap(&self.reason, &reason)
    }

    init(_ restored: RestoredTask) {
        let submission = restored.submission
        self.init(
            id: restored.id, owner: submission.owner, kind: .run, name: submission.name,
            terms: Terms(
                profile: restored.profile, application: submission.application,
                budget: restored.budget, grace: restored.grace,
                lifetimeMax: restored.lifetimeMax),
            at: restored.submittedAt)
        isCutByLifetime = restored.isCutByLifetime
    }

    init(_ restored: RestoredTask, _ end: RestoredEnd) {
        self.init(restored)
        begunAt = restored.begunAt ?? .never
        usedNanoseconds = end.used.wholeNanoseconds
        self.end(end.outcome, end.reason, at: end.endedAt)
    }

    package var application: String? { terms.application }
    package var profile: String { terms.profile }
    /// What was granted; `nil` where there is no limit.
    package var budget: Budget? { terms.budget }
    /// How long before the hard limit the handler fires, also where the task is stopped early.
    package var grace: Duration { .nanoseconds(terms.graceNanoseconds) }
    /// How long it may last over all its extensions.
    package var lifetimeMax: Duration? { terms.lifetimeMax }

    /// Whether the task counts as live: begun and not ended.
    package var isLive: Bool { state != .queued && state != .ended }

    /// Whether the clock of its budget runs.
    package var isTicking: Bool { clockTickingSince != .never }

    /// How long its clock has run.
    package func used(at now: Instant) -> Duration { .nanoseconds(usedNanoseconds(at: now)) }

    func usedNanoseconds(at now: Instant) -> Int64 {
        guard isTicking else { return usedNanoseconds }
        let (sum, overflow) = usedNanoseconds.addingReportingOverflow(
            now.nanoseconds(since: clockTickingSince))
        return overflow ? .max : sum
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
        usedNanoseconds = 0
        clockTickingSince = .never
        (handlerAt, hardAt, ownHardAt, lifetimeEndsAt) = (.never, .never, .never, .never)
        (pausedAt, warnAt) = (.never, .never)
        isCutByLifetime = isCut
        bound = nil
    }

    mutating func startClock(at now: Instant) {
        if clockTickingSince == .never { clockTickingSince = now }
    }

    mutating func stopClock(at now: Instant) {
        usedNanoseconds = usedNanoseconds(at: now)
        clockTickingSince = .never
    }
}
