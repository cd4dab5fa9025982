/// What is needed to have an application back that goes on while one daemon follows another: eight words that are kept
/// with its command.
///
/// Its instants mean the same to each daemon of one boot. What it was told and has not answered is not in it.
package struct ApplicationNotes: Equatable, Sendable {
    package let state: ApplicationState
    let course: Course
    /// Whether it comes to the front when it is awake.
    let comesToFront: Bool
    let stay: BackgroundStay
    /// Whether it would be suspended, if that was enforced.
    let wouldBeSuspended: Bool
    /// When it was in front last, in the order of all applications.
    let lastUse: UInt64
    /// The last number that a freeze, a thaw or a delivery had.
    let numberLast: UInt64

    package init(
        state: ApplicationState, course: Course, comesToFront: Bool, stay: BackgroundStay,
        wouldBeSuspended: Bool, lastUse: UInt64, numberLast: UInt64
    ) {
        self.state = state
        self.course = course
        self.comesToFront = comesToFront
        self.stay = stay
        self.wouldBeSuspended = wouldBeSuspended
        self.lastUse = lastUse
        self.numberLast = numberLast
    }

    /// What is done with its processes.
    package enum Course: Equatable, Sendable {
        case starts
        case goesOn
        case freezes
        case frozen
        case thaws
        /// They are told to end, and killed then.
        case ends(TerminationReason, killAt: Instant, background: Duration?)
    }
}

extension ManagedApplication {
    /// What is to be kept with its command; `nil` where it has none that goes on.
    ///
    /// - Parameter numberLast: the last number that was given.
    func notes(numberLast: UInt64) -> ApplicationNotes? {
        guard let run, run.number != nil else { return nil }
        return ApplicationNotes(
            state: state, course: run.course, comesToFront: run.comesToFront, stay: run.stay,
            wouldBeSuspended: run.wouldBeSuspended, lastUse: lastUse, numberLast: numberLast)
    }
}

extension ApplicationRun {
    fileprivate var course: ApplicationNotes.Course {
        if let verdict {
            return .ends(
                verdict.reason, killAt: kill.begunOrDue, background: verdict.background)
        }
        return switch phase {
        case .starting, .adopting, .recording: .starts
        case .running: .goesOn
        case .freezing: .freezes
        case .frozen: .frozen
        case .thawing: .thaws
        case .ending: .ends(.interrupted, killAt: kill.begunOrDue, background: nil)
        }
    }
}

// In words.
extension ApplicationNotes {
    private static let wordCount = 8

    /// What the last word has, and where each part of it begins.
    private enum Part {
        static let layout: UInt64 = 1
        static let marks: UInt64 = 8
        static let state: UInt64 = 16
        static let course: UInt64 = 24
        static let reason: UInt64 = 32
    }

    private struct Marks: OptionSet {
        let rawValue: UInt8

        static let comesToFront = Marks(rawValue: 1 << 0)
        static let isToldOfExpiry = Marks(rawValue: 1 << 1)
        static let isOverrunNoted = Marks(rawValue: 1 << 2)
        static let wouldBeSuspended = Marks(rawValue: 1 << 3)
    }

    /// The same in eight words.
    package var words: [UInt64] {
        var marks: Marks = []
        if comesToFront { marks.insert(.comesToFront) }
        if stay.isToldOfExpiry { marks.insert(.isToldOfExpiry) }
        if stay.isOverrunNoted { marks.insert(.isOverrunNoted) }
        if wouldBeSuspended { marks.insert(.wouldBeSuspended) }
        let (number, killAt, background, reason) = course.parts
        let times = [
            (stay.since ?? .never).nanoseconds, stay.until.nanoseconds, killAt.nanoseconds,
            background?.wholeNanoseconds ?? .max,
        ]
        let parts =
            Part.layout | UInt64(marks.rawValue) << Part.marks
            | UInt64(state.rawValue) << Part.state | UInt64(number) << Part.course
            | UInt64(reason?.rawValue ?? 0) << Part.reason
        return times.map { UInt64(bitPattern: $0) } + [lastUse, numberLast, 0, parts]
    }

    /// Reads what `words` gave, and trusts nothing: what `words` never gives is refused, and no arithmetic with what is
    /// taken can overflow.
    ///
    /// - Returns: `nil` where they are no such words.
    package init?(words: some Collection<UInt64>) {
        let words = Array(words.prefix(ApplicationNotes.wordCount + 1))
        guard words.count == ApplicationNotes.wordCount else { return nil }
        let times = words.prefix(4).map { Int64(bitPattern: $0) }
        let part = { (shift: UInt64) in UInt8(truncatingIfNeeded: words[7] >> shift) }
        guard times.allSatisfy({ $0 >= 0 }), words[4] <= .max >> 1, words[5] <= .max >> 1,
            let state = ApplicationState(rawValue: part(Part.state)),
            let course = Course(
                part(Part.course), killAt: Instant(nanoseconds: times[2]),
                background: times[3] == .max ? nil : .nanoseconds(times[3]),
                reason: part(Part.reason))
        else { return nil }
        let marks = Marks(rawValue: part(Part.marks))
        self.state = state
        self.course = course
        comesToFront = marks.contains(.comesToFront)
        wouldBeSuspended = marks.contains(.wouldBeSuspended)
        stay = BackgroundStay(
            since: times[0] == .max ? nil : BootInstant(nanoseconds: times[0]),
            until: Instant(nanoseconds: times[1]),
            isToldOfExpiry: marks.contains(.isToldOfExpiry),
            isOverrunNoted: marks.contains(.isOverrunNoted))
        (lastUse, numberLast) = (words[4], words[5])
        guard self.words == words, course.isPossible(in: state),
            state.isAway == (stay.since != nil)
        else { return nil }
    }

    /// Whether it may have been so at that time: nothing of it is to come that has been.
    func isPossible(at boot: BootInstant) -> Bool { stay.since ?? .distantPast <= boot }
}

extension ApplicationState {
    /// Whether it has left the front.
    fileprivate var isAway: Bool { self == .background || self == .suspended }
}

extension ApplicationNotes.Course {
    fileprivate var parts:
        (number: UInt8, killAt: Instant, background: Duration?, reason: TerminationReason?)
    {
        switch self {
        case .starts: (0, .never, nil, nil)
        case .goesOn: (1, .never, nil, nil)
        case .freezes: (2, .never, nil, nil)
        case .frozen: (3, .never, nil, nil)
        case .thaws: (4, .never, nil, nil)
        case .ends(let reason, let killAt, let background): (5, killAt, background, reason)
        }
    }

    fileprivate init?(_ number: UInt8, killAt: Instant, background: Duration?, reason: UInt8) {
        switch number {
        case 0: self = .starts
        case 1: self = .goesOn
        case 2: self = .freezes
        case 3: self = .frozen
        case 4: self = .thaws
        case 5:
            guard let reason = TerminationReason(rawValue: reason) else { return nil }
            self = .ends(reason, killAt: killAt, background: background)
        default: return nil
        }
    }

    fileprivate func isPossible(in state: ApplicationState) -> Bool {
        switch self {
        case .starts: state == .notRunning
        case .goesOn: state.isInFront || state == .background
        case .freezes: state == .background
        case .frozen: state == .suspended
        case .thaws: state != .notRunning
        case .ends: true
        }
    }
}
