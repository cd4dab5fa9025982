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
    /// No daemon was there for too long.
    case daemonAway
    /// The program that runs commands ends.
    case executorStop
    case cancelled(by: OwnerID, text: String?)
    case connectionClosed
    case processExited
    /// The command could not be started; the text says what failed.
    case notStarted(String)
    /// A task that it was to come after did not end as it was needed.
    case predecessor(BrokenDependency)
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

    /// Whether a program of ours has ended the task for the sake of its own end.
    var isInterruption: Bool {
        switch self {
        case .shutdown, .daemonAway, .executorStop: true
        default: false
        }
    }

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
    package private(set) var reason: Reason?

    /// When it was submitted, or begun where it never waited.
    package private(set) var submittedAt: Instant
    package private(set) var begunAt: Instant = .never
    package private(set) var endedAt: Instant = .never
    /// When its processes or its time were given back; the clock stands still after it.
    private var usedNanoseconds: Int64 = 0
    /// Since when its clock runs; `never` while it stands still.
    private var clockTickingSince: Instant = .never

    /// When the handler fires; `never` where it has fired or no limit applies.
    package private(set) var handlerAt: Instant = .never
    /// When it last fired in this attempt; `never` where it has not.
    private(set) var handlerFiredAt: Instant = .never
    /// When the task is stopped.
    package private(set) var hardAt: Instant = .never
    /// The hard limit of the task's own budget, before an application's deadline cuts it.
    private(set) var ownHardAt: Instant = .never
    /// The end of what extensions can reach.
    package private(set) var lifetimeEndsAt: Instant = .never
    /// Since when it is dormant.
    private var pausedAt: Instant = .never
    /// When the task grows old enough to be named in the log; `never` once it has been.
    private(set) var warnAt: Instant = .never

    package private(set) var owner: OwnerID
    /// The process that a held task lives with, where it is not a connection.
    package private(set) var holderProcess: ProcessID?
    package private(set) var kind: TaskKind
    package private(set) var state: TaskState = .queued
    package private(set) var outcome: Outcome?
    /// What ends the remaining time first.
    package private(set) var bound: Bound?
    /// Whether its last grant was cut by the lifetime limit.
    package private(set) var isCutByLifetime = false
    /// Whether it shares the time of the application that its terms name, as all do but those that wake it; asked for
    /// far more often than which.
    private(set) var hasApplication: Bool

    init(
        id: TaskID, owner: OwnerID, kind: TaskKind, name: String, terms: Terms,
        isCutByLifetime: Bool = false, wakesApplication: Bool = false, at now: Instant
    ) {
        self.id = id
        self.owner = owner
        self.kind = kind
        self.name = name
        self.terms = terms
        self.isCutByLifetime = isCutByLifetime
        submittedAt = now
        hasApplication = terms.application != nil && !wakesApplication
    }

    /// One that an earlier daemon left, or that had ended there.
    init(_ restored: RestoredTask) {
        let submission = restored.submission
        self.init(
            id: restored.id, owner: submission.owner, kind: .run, name: submission.name,
            terms: Terms(
                profile: restored.profile, application: submission.application,
                budget: restored.budget, grace: restored.grace,
                lifetimeMax: restored.lifetimeMax),
            isCutByLifetime: restored.isCutByLifetime,
            wakesApplication: submission.work.wakesApplication, at: restored.submittedAt)
        guard let end = restored.end else { return }
        begunAt = restored.begunAt ?? .never
        handlerFiredAt = end.warnedAt ?? .never
        usedNanoseconds = end.used.wholeNanoseconds
        self.end(end.outcome, end.reason, at: end.endedAt)
    }

    /// One that has ended, as it is remembered.
    init(
        id: TaskID, owner: OwnerID, kind: TaskKind, name: String, terms: Terms,
        holderProcess: ProcessID?, submittedAt: Instant, begunAt: Instant,
        handlerFiredAt: Instant, bound: Bound?,
        isCutByLifetime: Bool, usedNanoseconds: Int64
    ) {
        self.init(
            id: id, owner: owner, kind: kind, name: name, terms: terms,
            isCutByLifetime: isCutByLifetime, at: submittedAt)
        self.holderProcess = holderProcess
        self.begunAt = begunAt
        self.handlerFiredAt = handlerFiredAt
        self.bound = bound
        self.usedNanoseconds = usedNanoseconds
    }

    /// That of a slot which is not in use.
    static let vacant = BackgroundTask(
        id: .invalid, owner: .root, kind: .held, name: "", terms: .none, at: .never)

    /// Makes a vacant one that of a held task, in its place: copying it takes longer than all else of a begin.
    @inline(__always)
    mutating func occupy(
        id: TaskID, owner: OwnerID, name: consuming String, terms: consuming Terms,
        holderProcess: ProcessID?, at now: Instant
    ) {
        self.holderProcess = holderProcess
        self.id = id
        self.owner = owner
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
        prepareAgain()
        endedAt = .never
        holderProcess = nil
        outcome = nil
    }

    /// Moves the terms and the texts out by swapping, to avoid retain and release.
    mutating func exchange(_ terms: inout Terms, _ name: inout String, _ reason: inout Reason?) {
        swap(&self.terms, &terms)
        swap(&self.name, &name)
        swap(&self.reason, &reason)
    }

    package var application: String? { terms.application }
    package var profile: String { terms.profile }
    /// What was granted; `nil` where there is no limit.
    package var budget: Budget? { terms.budget }
    /// How long before the hard limit the handler fires, also where the task is stopped early.
    package var grace: Duration { .nanoseconds(terms.graceNanoseconds) }
    /// How long it may last over all its extensions.
    package var lifetimeMax: Duration? { terms.lifetimeMax }

    /// When this attempt started, or the time was granted that a client holds; `nil` where it has not.
    package var startedAt: Instant? { begunAt == .never ? nil : begunAt }
    /// When its handler last fired in this attempt; `nil` where it has not.
    package var warnedAt: Instant? { handlerFiredAt == .never ? nil : handlerFiredAt }

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

    /// What it has left, and the rule that bounds it; of a queued one all that it will have.
    func remaining(at now: Instant) -> Remaining {
        if state == .queued, let budget {
            return Remaining(
                untilHandlerNanoseconds: budget.durationNanoseconds - budget.graceNanoseconds,
                untilHardLimitNanoseconds: budget.durationNanoseconds, bound: .ownBudget)
        }
        guard isLive, hardAt != .never else { return .unlimited }
        let untilHandler = state == .running ? handlerAt.nanoseconds(since: now) : 0
        return Remaining(
            untilHandlerNanoseconds: max(untilHandler, 0),
            untilHardLimitNanoseconds: max(hardAt.nanoseconds(since: now), 0), bound: bound)
    }

    // MARK: - Its life

    /// Its budget starts; where its application is in front, nothing of it is spent yet.
    mutating func begin(isDormant: Bool, warnAfterNanoseconds: Int64, at now: Instant) {
        begunAt = now
        warnAt = now.later(byNanoseconds: warnAfterNanoseconds)
        lifetimeEndsAt = now.later(byNanoseconds: terms.lifetimeNanoseconds)
        if let budget = terms.budget {
            ownHardAt = now.later(byNanoseconds: budget.durationNanoseconds)
        }
        if isDormant {
            state = .dormant
            pausedAt = now
        } else {
            state = .running
            startClock(at: now)
        }
    }

    /// An earlier daemon had begun it.
    mutating func hadBegun(at begunAt: Instant) {
        self.begunAt = begunAt
    }

    /// What is to be kept with its command.
    ///
    /// - Parameters:
    ///   - teardown: how it is being stopped.
    ///   - handlerFires: how many fires of its handler were told of.
    func notes(_ teardown: Teardown?, handlerFires: UInt32, isPaused: Bool) -> CommandNotes {
        var marks: CommandNotes.Marks = isPaused ? .isPaused : []
        if state == .expiring { marks.insert(.isExpiring) }
        if isCutByLifetime { marks.insert(.isCutByLifetime) }
        if warnAt == .never { marks.insert(.isKnownAsOld) }
        return CommandNotes(
            begunAt: begunAt,
            clock: isTicking
                ? .ticking(since: clockTickingSince.earlier(byNanoseconds: usedNanoseconds))
                : .stopped(usedNanoseconds: usedNanoseconds),
            course: teardown.map(CommandNotes.Course.init)
                ?? (state == .dormant ? .dormant(since: pausedAt) : .goesOn),
            reason: CommandNotes.short(reason), ownHardAt: ownHardAt,
            lifetimeEndsAt: lifetimeEndsAt, handlerFiredAt: handlerFiredAt,
            handlerFires: handlerFires, marks: marks)
    }

    /// An earlier daemon had begun it, and its command goes on.
    mutating func goOn(_ notes: CommandNotes, warnAfterNanoseconds: Int64) {
        begunAt = notes.begunAt
        switch notes.clock {
        case .stopped(let used): usedNanoseconds = used
        case .ticking(let since): clockTickingSince = since
        }
        state = notes.marks.contains(.isExpiring) ? .expiring : .running
        if case .dormant(let since) = notes.course {
            state = .dormant
            pausedAt = since
        }
        reason = notes.reason
        (ownHardAt, lifetimeEndsAt) = (notes.ownHardAt, notes.lifetimeEndsAt)
        handlerFiredAt = notes.handlerFiredAt
        isCutByLifetime = notes.marks.contains(.isCutByLifetime)
        if !notes.marks.contains(.isKnownAsOld) {
            warnAt = begunAt.later(byNanoseconds: warnAfterNanoseconds)
        }
    }

    /// Makes it ready to begin anew.
    mutating func prepareAgain() {
        state = .queued
        reason = nil
        begunAt = .never
        handlerFiredAt = .never
        usedNanoseconds = 0
        clockTickingSince = .never
        (handlerAt, hardAt, ownHardAt, lifetimeEndsAt) = (.never, .never, .never, .never)
        (pausedAt, warnAt) = (.never, .never)
        isCutByLifetime = false
        bound = nil
    }

    /// Its application comes to the front: nothing is spent there.
    ///
    /// - Returns: whether it was not dormant already.
    mutating func becomeDormant(at now: Instant) -> Bool {
        guard state != .dormant else { return false }
        state = .dormant
        reason = nil
        stopClock(at: now)
        pausedAt = now
        return true
    }

    /// Its application has left the front: its limits are as much later as it was dormant.
    ///
    /// - Returns: whether it was dormant.
    mutating func resume(at now: Instant) -> Bool {
        guard state == .dormant else { return false }
        let pause = now - pausedAt
        ownHardAt = ownHardAt + pause
        lifetimeEndsAt = lifetimeEndsAt + pause
        state = .running
        startClock(at: now)
        return true
    }

    /// How it ends that ends now; `nil` where its handler has not fired. Whom a stop of the daemon has told to end is
    /// interrupted by it, also where it obeys.
    var outcomeInGrace: Outcome? {
        guard state == .expiring else { return nil }
        return reason?.isInterruption == true ? .interrupted : .expired
    }

    /// How it ends that is still there at its hard limit.
    var outcomeAtHardLimit: Outcome {
        reason?.isInterruption == true ? .interrupted : .overrun
    }

    /// The handler fires.
    mutating func expire(_ reason: Reason, at now: Instant) {
        state = .expiring
        self.reason = reason
        handlerFiredAt = now
    }

    /// The handler has fired, as who did that says.
    mutating func handlerFired(at moment: Instant) {
        handlerFiredAt = moment
    }

    /// Whether its handler fired later than at that moment, of which is told only now.
    func wasWarned(after moment: Instant) -> Bool {
        handlerFiredAt != .never && moment < handlerFiredAt
    }

    /// What its handler was to end had ended when it fired.
    ///
    /// - Parameter firedAt: when it had fired before that; `never` where it had not.
    mutating func endedUnwarned(_ outcome: Outcome, firedAt: Instant) {
        handlerFiredAt = firedAt
        if outcome == .completed || outcome == .failed { reason = nil }
    }

    /// The handler fires before its time, and one grace is left.
    ///
    /// - Returns: whether it had not fired before. Where it had, the reason of that stays, unless less than the rest of
    ///   its grace is left.
    mutating func expireEarly(_ reason: Reason, at now: Instant) -> Bool {
        if state == .dormant { startClock(at: now) }
        let isExpiring = state == .expiring
        cutLimit(to: now + grace, isExpiring ? reason : nil)
        return !isExpiring
    }

    /// Says why it ends as it does, where nothing else has.
    mutating func note(_ reason: Reason) {
        if self.reason == nil { self.reason = reason }
    }

    /// Its processes are stopped by an order.
    mutating func cancel(_ reason: Reason, at now: Instant) {
        if state == .dormant { startClock(at: now) }
        state = .expiring
        self.reason = reason
    }

    /// Its processes are stopped.
    mutating func stop() {
        state = .expiring
    }

    /// Its hard limit is earlier than it was, for another reason than it was told.
    mutating func cutLimit(to limit: Instant, _ reason: Reason?) {
        guard limit < ownHardAt else { return }
        ownHardAt = limit
        if let reason { self.reason = reason }
    }

    /// It has time again after its handler had fired, and the handler is to fire for it.
    mutating func runAgain() {
        state = .running
        reason = nil
    }

    /// Moves the hard limit of its own budget.
    mutating func extend(to granted: Instant, asked: Instant) {
        ownHardAt = granted
        isCutByLifetime = granted < asked
    }

    /// It was named in the log, or was to be.
    mutating func ageReported() {
        warnAt = .never
    }

    /// Ends it: nothing is due any more.
    mutating func end(_ outcome: Outcome, _ reason: Reason?, at endedAt: Instant) {
        stopClock(at: endedAt)
        state = .ended
        self.outcome = outcome
        self.reason = reason
        self.endedAt = endedAt
        handlerAt = .never
        hardAt = .never
    }

    private mutating func startClock(at now: Instant) {
        if clockTickingSince == .never { clockTickingSince = now }
    }

    mutating func stopClock(at now: Instant) {
        usedNanoseconds = usedNanoseconds(at: now)
        clockTickingSince = .never
    }

    /// Finds the hard limit as it applies, and when the handler fires.
    ///
    /// - Returns: whether its clock counts towards them.
    mutating func findLimits(_ clock: ApplicationClock?) -> Bool {
        guard isLive, state != .dormant else {
            handlerAt = .never
            hardAt = .never
            bound = nil
            return false
        }
        var handlerAt = ownHardAt.earlier(byNanoseconds: terms.graceNanoseconds)
        var hardAt = ownHardAt
        var bound: Bound? = hardAt == .never ? nil : .ownBudget
        if isCutByLifetime { bound = .lifetimeLimit }
        // One that the queue starts when it could not be warned in time has its own budget alone.
        if case .background(let until, let grace)? = clock, begunAt <= until - grace {
            if until - grace <= handlerAt { bound = .applicationBackgroundTime }
            handlerAt = min(handlerAt, until - grace)
            hardAt = min(hardAt, until)
        }
        self.handlerAt = state == .running ? handlerAt : .never
        self.hardAt = hardAt
        self.bound = bound
        return true
    }
}
