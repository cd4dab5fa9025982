/// A span of time in which an application was in one state. Those of an application follow one another, and the last
/// goes on.
package struct ApplicationSpan: Equatable, Sendable {
    /// Given once in the life of a daemon, and higher than those on the disk; a later span has a higher one.
    package let number: UInt64
    package let key: ApplicationKey
    package internal(set) var state: ApplicationState
    package let beganAt: BootInstant
    /// `nil`: it goes on.
    package internal(set) var endedAt: BootInstant?
    /// When a daemon last wrote anything, of a span whose end none has seen: what the application was after it nobody
    /// knows.
    package internal(set) var seenAt: BootInstant?
    /// Of `notRunning`, why the run before it ended.
    package internal(set) var reason: TerminationReason?

    package init(
        number: UInt64, key: ApplicationKey, state: ApplicationState, beganAt: BootInstant,
        reason: TerminationReason? = nil, endedAt: BootInstant? = nil, seenAt: BootInstant? = nil
    ) {
        self.number = number
        self.key = key
        self.state = state
        self.beganAt = beganAt
        self.reason = reason
        self.endedAt = endedAt
        self.seenAt = seenAt
    }
}

/// What an earlier daemon wrote of spans that went on.
package struct RestoredSpans: Sendable {
    /// In the order of their numbers.
    package var open: [ApplicationSpan]
    /// The highest number that was ever given.
    package var numberLast: UInt64
    /// When that daemon last wrote anything; `nil` where that is not known.
    package var seenAt: BootInstant?

    package static let none = RestoredSpans(open: [], numberLast: 0, seenAt: nil)

    package init(open: [ApplicationSpan], numberLast: UInt64, seenAt: BootInstant?) {
        self.open = open
        self.numberLast = numberLast
        self.seenAt = seenAt
    }
}
