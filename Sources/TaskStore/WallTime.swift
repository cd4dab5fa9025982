/// A date and time of day, in microseconds since 1970-01-01 00:00 UTC: for people, and for what is counted across
/// restarts.
///
/// No deadline of a run is set by it (docs/architecture.md, rule 7). After a restart there is nothing
/// else to go by; `elapsed` turns a recorded time into the time that has passed.
package struct WallTime: Hashable, Comparable, Sendable {
    package let microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    package static func < (lhs: WallTime, rhs: WallTime) -> Bool {
        lhs.microseconds < rhs.microseconds
    }

    /// How long ago this was; zero where the clock has been set back to before it.
    ///
    /// A rule that counts from a recorded time (a minimum interval, an earliest begin) takes from this what
    /// has passed when the daemon starts, and goes on with CLOCK_BOOTTIME. A clock that was set back makes
    /// such a wait start anew, and never longer than it was asked for; a clock that was set forward cuts
    /// it short, which nothing recorded on disk can tell from time that has passed.
    package func elapsed(at now: WallTime) -> Duration {
        let (difference, overflow) = now.microseconds.subtractingReportingOverflow(microseconds)
        return overflow || difference < 0 ? .zero : .microseconds(difference)
    }

    /// The time that much earlier, saturating.
    package func earlier(by duration: Duration) -> WallTime {
        let delta = duration.wholeMicroseconds
        let (result, isOut) = microseconds.subtractingReportingOverflow(delta)
        return WallTime(microseconds: isOut ? (delta < 0 ? .max : .min) : result)
    }
}

extension Duration {
    /// The duration in whole microseconds, saturating at the ends of `Int64` (292,000 years).
    fileprivate var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}
