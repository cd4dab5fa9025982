/// An attempt of a run task after which it was queued again.
package struct EndedAttempt: Equatable, Sendable {
    /// Of one task: nothing else limits how much a user's attempts take in memory.
    package static let keptMax = 10
    private static let textBytesMax = 128

    /// From 1.
    package let attempt: Int
    package let outcome: Outcome
    package let reason: Reason?
    package let exit: ProcessExit?
    /// When it started; `nil` where that is not known.
    package let startedAt: Instant?
    /// When its handler last fired; `nil` where it did not.
    package let warnedAt: Instant?
    package let endedAt: Instant
    /// How long the clock of its budget ran.
    package let used: Duration
    package let use: ResourceUse?

    package init(
        attempt: Int, outcome: Outcome, reason: Reason?, exit: ProcessExit?,
        startedAt: Instant?, warnedAt: Instant?, endedAt: Instant, used: Duration,
        use: ResourceUse?
    ) {
        self.attempt = attempt
        self.outcome = outcome
        self.reason = reason?.cut(toBytes: EndedAttempt.textBytesMax)
        self.exit = exit
        self.startedAt = startedAt
        self.warnedAt = warnedAt
        self.endedAt = endedAt
        self.used = used
        self.use = use
    }
}
