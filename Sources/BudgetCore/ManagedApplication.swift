/// An application that is known: its record, where it is, and what is under way.
package struct ManagedApplication: Sendable {
    package let key: ApplicationKey
    /// Whom it is charged to.
    var account: OwnerID
    package internal(set) var record: ApplicationRecord
    package internal(set) var state = ApplicationState.notRunning
    /// While it runs, or is being started.
    package internal(set) var run: ApplicationRun?
    /// What the disk has; `nil` before the first time.
    var saved: ApplicationRecord?
    /// Writes that are on their way to the disk, the oldest first.
    var saves: [Save] = []
    /// What the disk refused of orders, and the record has still.
    var refusedRegistration = false
    var refusedBadge = false
    /// Whether the disk did not take its record, which it gets when it can write again.
    var isUnsaved = false
    /// The order to forget it, on its way to the disk.
    var forgetting: UInt64?
    /// Calls that wait for something.
    var waiters: [Waiter] = []
    /// When it was in front last, in the order of all applications.
    var lastUse: UInt64 = 0
    /// When silent messages woke it, in the last hour.
    var wakes: [BootInstant] = []
    /// Silent messages that wait for their hour, the oldest first.
    var deferred: [PushMessage] = []

    struct Save: Sendable {
        enum Purpose: Sendable {
            /// Nobody waits for it.
            case record
            case registration(UInt64)
            case badge(UInt64)
            case adoption(UInt64)
            /// The run that has ended is over with it.
            case end
        }

        let purpose: Purpose
        let record: ApplicationRecord
    }

    struct Waiter: Sendable {
        enum Goal: Sendable {
            case front, awake, gone
        }

        let number: UInt64
        let goal: Goal
    }

    init(_ key: ApplicationKey, _ record: ApplicationRecord) {
        self.key = key
        account = key.owner
        self.record = record
    }

    package var registration: Registration { record.registration }

    /// How its last run ended; of an end that is on its way to the disk nobody knows yet.
    package var lastTermination: Termination? {
        if case .recording(let end) = run?.phase { return end.before }
        return record.lastTermination
    }

    /// A write was refused: where an order asked for it, what that changed is taken back.
    mutating func refuse(_ purpose: Save.Purpose) {
        switch purpose {
        case .registration: refusedRegistration = true
        case .badge: refusedBadge = true
        case .record, .adoption, .end: break
        }
    }

    /// Whether a caller may know of it.
    var isKnown: Bool { saved != nil && forgetting == nil }

    /// How long it has been in the background; `nil` where it is not.
    package func background(at boot: BootInstant) -> Duration? {
        run?.leftFrontAt.map { max(boot - $0, .zero) }
    }

    /// What it has left of its background time; `nil` where none is being spent.
    package func remaining(at now: Instant) -> Duration? {
        guard state == .background, let run, run.backgroundUntil != .never else { return nil }
        return max(run.backgroundUntil - now, .zero)
    }
}

/// What is true of an application while it runs.
package struct ApplicationRun: Sendable {
    /// What the shell is doing with its processes.
    package enum Phase: Equatable, Sendable {
        case starting
        /// Taken over, and the disk does not know yet.
        case adopting(UInt64)
        case running
        case freezing(UInt64)
        case frozen
        case thawing(UInt64)
        /// Told to end, or killed.
        case ending
        /// Nothing of it is left, and the disk does not know yet.
        case recording(End)
    }

    /// How it was over: told when the disk has it.
    package struct End: Equatable, Sendable {
        enum How: Equatable, Sendable {
            case ended(TerminationReason)
            case notStarted(String)
        }

        let how: How
        /// What was known of the run before.
        let before: Termination?
    }

    package internal(set) var phase: Phase
    package let isAdopted: Bool
    /// Whether it comes to the front when it is awake, rather than for a message alone.
    var comesToFront = false
    /// Messages to be delivered when it is awake.
    var messages: [PendingMessage] = []
    /// When it entered the background.
    var leftFrontAt: BootInstant?
    /// When its background time is over.
    var backgroundUntil = Instant.never
    /// Whether it was told that this background time expires.
    var isToldOfExpiry = false
    /// Whether it was noted that this background time is over, where nothing is enforced.
    var isOverrunNoted = false
    /// When it is suspended.
    var suspendAt = Instant.never
    /// Whether it would be suspended, if that was enforced.
    package internal(set) var wouldBeSuspended = false
    /// Why it was not frozen when it should have been.
    package internal(set) var freezeFailure: String?
    /// Why it was not thawed when it should have been.
    var thawFailure: String?
    /// Messages for which it owes an answer, and when that is due; in order.
    var deliveries: [Delivery] = []
    /// Payloads of alerts that it was told of in front, the newest last.
    var presented: [String?] = []
    /// Why it is being ended, and what it held when that was decided.
    package internal(set) var verdict: Termination?
    /// When a freeze that is not confirmed is given up.
    var freezeLimitAt = Instant.never
    /// When a thaw that failed is tried again.
    var thawAt = Instant.never
    /// When it is killed, and killed again.
    var killAt = Instant.never
    var isKilled = false
    /// When it was killed first.
    var killedAt = Instant.never
    var isReportedStuck = false
    /// Whether its units stay on disk after its end, for the daemon after this one to thaw.
    var leavesUnits = false
    var exit: ProcessExit?
    /// Tasks that its end has taken with it, in the moment before the shell saw that end.
    var abandoned: [(task: HeldTask, at: Instant)] = []

    static let presentedMax = 16
    static let abandonedMax = 64
    /// Messages that wait until it is awake.
    static let messagesMax = 16
    /// Writes of one application that are on their way to the disk; what comes then is in the next.
    static let savesMax = 2

    struct Delivery: Sendable {
        let id: UInt64
        let until: Instant
    }

    /// A message, and what it is delivered by.
    struct PendingMessage: Sendable {
        let message: PushMessage
        let callbacks: [Callback]
    }

    init(_ phase: Phase, isAdopted: Bool) {
        self.phase = phase
        self.isAdopted = isAdopted
    }

    /// Whether its end is decided.
    var isEnding: Bool { phase == .ending || !hasProcesses }

    /// Whether something of it may still be there.
    var hasProcesses: Bool {
        if case .recording = phase { false } else { true }
    }

    /// What is due next.
    var nextDeadline: Instant {
        min(suspendAt, freezeLimitAt, thawAt, killAt, deliveries.map(\.until).min() ?? .never)
    }
}
