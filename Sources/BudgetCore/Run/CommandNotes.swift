/// What is needed to have a task back whose command goes on while one daemon follows another: eight words that are kept
/// with the command.
///
/// Its instants are on CLOCK_MONOTONIC, and mean the same to each daemon of one boot.
package struct CommandNotes: Equatable, Sendable {
    /// When this attempt began.
    let begunAt: Instant
    let clock: Clock
    let course: Course
    /// Why it expires, or is stopped; without the text of who cancelled it.
    let reason: Reason?
    let ownHardAt: Instant
    let lifetimeEndsAt: Instant
    let handlerFiredAt: Instant
    /// How many fires of its handler the program that runs commands had told of.
    let handlerFires: UInt32
    package let marks: Marks

    package init(
        begunAt: Instant, clock: Clock, course: Course, reason: Reason?, ownHardAt: Instant,
        lifetimeEndsAt: Instant, handlerFiredAt: Instant, handlerFires: UInt32, marks: Marks
    ) {
        self.begunAt = begunAt
        self.clock = clock
        self.course = course
        self.reason = reason
        self.ownHardAt = ownHardAt
        self.lifetimeEndsAt = lifetimeEndsAt
        self.handlerFiredAt = handlerFiredAt
        self.handlerFires = handlerFires
        self.marks = marks
    }

    /// How much of its budget is spent.
    package enum Clock: Equatable, Sendable {
        case stopped(usedNanoseconds: Int64)
        /// It runs as if it had run without a stop since then.
        case ticking(since: Instant)
    }

    /// What is done with its processes.
    package enum Course: Equatable, Sendable {
        case goesOn
        case dormant(since: Instant)
        /// They are being stopped, and are killed then.
        case stops(Outcome, killAt: Instant)
        /// They were killed then for the first time.
        case killed(Outcome, since: Instant)
    }

    /// What is so or not.
    package struct Marks: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The handler has fired, or it is being stopped.
        package static let isExpiring = Marks(rawValue: 1 << 0)
        /// Its last grant was cut by the lifetime limit.
        static let isCutByLifetime = Marks(rawValue: 1 << 1)
        /// Its processes are stopped by an order to pause it.
        package static let isPaused = Marks(rawValue: 1 << 2)
        /// Its age was told.
        static let isKnownAsOld = Marks(rawValue: 1 << 3)
    }

    /// Whether it may have been so at that time: nothing of it is to come that has been.
    func isPossible(at now: Instant) -> Bool {
        let began =
            switch clock {
            case .stopped: begunAt
            case .ticking(let since): since
            }
        let changed =
            switch course {
            case .goesOn, .stops: begunAt
            case .dormant(let since), .killed(_, let since): since
            }
        let firedAt = handlerFiredAt == .never ? begunAt : handlerFiredAt
        return max(begunAt, began, changed, firedAt) <= now
    }
}

extension CommandNotes {
    /// Those of a task of which nothing is known but its begin and when its command is due: it has its whole budget,
    /// but for what is beyond that.
    init(
        of task: BackgroundTask, _ command: FoundCommand, begunAt: Instant, at now: Instant
    ) {
        self.begunAt = begunAt
        clock = .ticking(since: begunAt)
        course = .goesOn
        reason = nil
        let granted = task.budget.map { now.later(byNanoseconds: $0.durationNanoseconds) }
        lifetimeEndsAt = begunAt.later(byNanoseconds: task.terms.lifetimeNanoseconds)
        ownHardAt = min(granted ?? .never, command.limitAt, lifetimeEndsAt)
        handlerFiredAt = .never
        handlerFires = 0
        marks = command.handlerAt == .never && command.limitAt != .never ? .isExpiring : []
    }
}

// In words.
extension CommandNotes {
    private static let wordCount = 8

    /// What the last word has, and where each part of it begins.
    private enum Part {
        static let layout: UInt64 = 1
        static let marks: UInt64 = 8
        static let course: UInt64 = 16
        static let outcome: UInt64 = 24
        static let reason: UInt64 = 32
        static let isTicking: UInt64 = 40
    }

    /// The same in eight words.
    package var words: [UInt64] {
        var parts = Part.layout | UInt64(marks.rawValue) << Part.marks
        let started: Int64
        switch clock {
        case .stopped(let used): started = used
        case .ticking(let since):
            started = since.nanoseconds
            parts |= 1 << Part.isTicking
        }
        let (number, since, outcome) = course.parts
        parts |= UInt64(number) << Part.course
        if let outcome { parts |= UInt64(outcome.rawValue) << Part.outcome }
        let (cause, owner) = CommandNotes.parts(of: reason)
        parts |= UInt64(cause) << Part.reason
        let times = [
            begunAt.nanoseconds, started, ownHardAt.nanoseconds, lifetimeEndsAt.nanoseconds,
            handlerFiredAt.nanoseconds, since.nanoseconds,
        ]
        return times.map { UInt64(bitPattern: $0) }
            + [UInt64(handlerFires) << 32 | UInt64(owner.rawValue), parts]
    }

    /// Reads what `words` gave, and trusts nothing: what `words` never gives is refused, and no arithmetic with what is
    /// taken can overflow.
    ///
    /// - Returns: `nil` where they are no such words.
    package init?(words: some Collection<UInt64>) {
        let words = Array(words.prefix(CommandNotes.wordCount + 1))
        guard words.count == CommandNotes.wordCount else { return nil }
        let times = words.prefix(6).map { Instant(nanoseconds: Int64(bitPattern: $0)) }
        let part = { (shift: UInt64) in UInt8(truncatingIfNeeded: words[7] >> shift) }
        guard times.allSatisfy({ $0.nanoseconds >= 0 }), times[0] != .never, times[1] != .never,
            let course = Course(part(Part.course), times[5], part(Part.outcome))
        else { return nil }
        begunAt = times[0]
        clock =
            part(Part.isTicking) == 1
            ? .ticking(since: times[1]) : .stopped(usedNanoseconds: times[1].nanoseconds)
        self.course = course
        (ownHardAt, lifetimeEndsAt, handlerFiredAt) = (times[2], times[3], times[4])
        let owner = OwnerID(rawValue: UInt32(truncatingIfNeeded: words[6]))
        reason = CommandNotes.reason(part(Part.reason), owner)
        handlerFires = UInt32(truncatingIfNeeded: words[6] >> 32)
        marks = Marks(rawValue: part(Part.marks))
        // Who spends nothing has not been told that the time is nearly over.
        if case .dormant = course, marks.contains(.isExpiring) { return nil }
        guard self.words == words, marks.isSubset(of: .all) else { return nil }
    }

    private static let replaced = "replaced"

    private static func parts(of reason: Reason?) -> (number: UInt8, owner: OwnerID) {
        switch reason {
        case .budgetSpent: (1, .root)
        case .applicationTimeSpent: (2, .root)
        case .simulated: (3, .root)
        case .shutdown: (4, .root)
        case .cancelled(let owner, let text): (text == replaced ? 6 : 5, owner)
        case .daemonAway: (7, .root)
        case .executorStop: (8, .root)
        default: (0, .root)
        }
    }

    private static func reason(_ number: UInt8, _ owner: OwnerID) -> Reason? {
        switch number {
        case 1: .budgetSpent
        case 2: .applicationTimeSpent
        case 3: .simulated
        case 4: .shutdown
        case 5: .cancelled(by: owner, text: nil)
        case 6: .cancelled(by: owner, text: replaced)
        case 7: .daemonAway
        case 8: .executorStop
        default: nil
        }
    }
}

extension CommandNotes {
    /// Of a reason what words can have.
    static func short(_ reason: Reason?) -> Reason? {
        let (number, owner) = parts(of: reason)
        return self.reason(number, owner)
    }
}

extension CommandNotes.Marks {
    fileprivate static let all: Self = [
        .isExpiring, .isCutByLifetime, .isPaused, .isKnownAsOld,
    ]
}

extension CommandNotes.Course {
    init(_ teardown: Teardown) {
        self =
            teardown.kill == nil
            ? .stops(teardown.outcome, killAt: teardown.killAt)
            : .killed(teardown.outcome, since: teardown.killAt)
    }

    fileprivate var parts: (number: UInt8, since: Instant, outcome: Outcome?) {
        switch self {
        case .goesOn: (0, .never, nil)
        case .dormant(let since): (1, since, nil)
        case .stops(let outcome, let killAt): (2, killAt, outcome)
        case .killed(let outcome, let since): (3, since, outcome)
        }
    }

    fileprivate init?(_ number: UInt8, _ since: Instant, _ outcome: UInt8) {
        guard number != 0 else {
            self = .goesOn
            return
        }
        guard since != .never else { return nil }
        if number == 1 {
            self = .dormant(since: since)
            return
        }
        guard let outcome = Outcome(rawValue: outcome) else { return nil }
        switch number {
        case 2: self = .stops(outcome, killAt: since)
        case 3: self = .killed(outcome, since: since)
        default: return nil
        }
    }
}
