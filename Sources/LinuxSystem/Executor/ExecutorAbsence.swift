/// How long there has been no executor, and when it is tried again to reach one. Nanoseconds on CLOCK_MONOTONIC.
package struct ExecutorAbsence {
    /// How long there may be none before the commands of the last one are given up.
    private static let lengthMax: Int64 = 30_000_000_000
    /// How long it is waited before the first try; then twice as long each time, up to a bound.
    private static let firstPause: Int64 = 200_000_000
    private static let pauseMax: Int64 = 3_000_000_000

    /// `nil`: there is one, or it is not known that it has ended.
    private var since: Int64?
    private var pause = ExecutorAbsence.firstPause

    package init() {}

    /// The connection is gone.
    ///
    /// - Parameter hasEnded: whether its commands have ended with it, as far as can be known.
    package mutating func begin(at now: Int64, hasEnded: Bool) { since = hasEnded ? now : nil }

    /// A try has failed, or is not to be made at once.
    ///
    /// - Returns: when it is time for the next one.
    package mutating func nextTry(after now: Int64) -> Int64 {
        defer { pause = min(2 * pause, Self.pauseMax) }
        return now + pause
    }

    /// There is one again.
    package mutating func end() { self = ExecutorAbsence() }

    /// Whether it has lasted too long; said once.
    package mutating func takesTooLong(at now: Int64) -> Bool {
        guard let since, now - since > Self.lengthMax else { return false }
        self.since = nil
        return true
    }
}
