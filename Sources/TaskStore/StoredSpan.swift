package import BudgetCore

/// A span of time in which an application was in one state.
package struct StoredSpan: Equatable, Sendable {
    package var number: UInt64
    package var key: ApplicationKey
    package var state: ApplicationState
    package var beganAt: WallTime
    /// `nil`: it went on when it was written.
    package var endedAt: WallTime?
    /// When a daemon last wrote anything, of a span whose end none has seen.
    package var seenAt: WallTime?
    /// Of `notRunning`, why the run before it ended.
    package var reason: TerminationReason?

    package init(
        number: UInt64, key: ApplicationKey, state: ApplicationState, beganAt: WallTime,
        endedAt: WallTime? = nil, seenAt: WallTime? = nil, reason: TerminationReason? = nil
    ) {
        self.number = number
        self.key = key
        self.state = state
        self.beganAt = beganAt
        self.endedAt = endedAt
        self.seenAt = seenAt
        self.reason = reason
    }
}

/// Which spans that have ended are asked for; what is `nil` leaves all through.
package struct SpanFilter: Equatable, Sendable {
    package var owner: OwnerID?
    /// The id of an application.
    package var application: String?
    /// Ended at that time or later.
    package var since: WallTime?

    package init(owner: OwnerID? = nil, application: String? = nil, since: WallTime? = nil) {
        self.owner = owner
        self.application = application
        self.since = since
    }

    /// Whether a span has ended, and is one of them.
    package func includes(_ span: StoredSpan) -> Bool {
        guard let endedAt = span.endedAt else { return false }
        if let owner, span.key.owner != owner { return false }
        if let application, !application.utf8.elementsEqual(span.key.id.utf8) { return false }
        return since.map { endedAt >= $0 } ?? true
    }
}

/// Where a page of spans ended, and the next one goes on.
package struct SpanCursor: Equatable, Sendable {
    package var endedAt: WallTime
    package var number: UInt64

    package init(endedAt: WallTime, number: UInt64) {
        self.endedAt = endedAt
        self.number = number
    }
}

/// Spans that have ended, the newest end first.
package struct SpanPage: Equatable, Sendable {
    package var spans: [StoredSpan]
    /// Where to go on; `nil` where there is no more.
    package var next: SpanCursor?
}

/// What an earlier daemon wrote of spans that went on.
package struct OpenSpans: Equatable, Sendable {
    /// In the order of their numbers.
    package var spans: [StoredSpan]
    /// The highest number of any span.
    package var numberLast: UInt64
    /// The latest time that is written anywhere; `nil`: none is.
    package var seenAt: WallTime?

    package init(spans: [StoredSpan], numberLast: UInt64, seenAt: WallTime? = nil) {
        self.spans = spans
        self.numberLast = numberLast
        self.seenAt = seenAt
    }
}
