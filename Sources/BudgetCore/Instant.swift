/// A point on the clock that the shell reads, in nanoseconds.
///
/// The core never reads a clock; it is told. The shell uses CLOCK_MONOTONIC (rule 7 in docs/architecture.md), so a
/// sleeping machine spends no budget and a wall clock that is set moves no deadline. Arithmetic
/// saturates: no peer's number can overflow it.
package struct Instant: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    /// Later than everything: the deadline of what has no limit.
    package static let never = Instant(nanoseconds: .max)

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (lhs: Instant, rhs: Instant) -> Bool {
        lhs.nanoseconds < rhs.nanoseconds
    }

    /// The instant that much later; `never` stays `never`.
    package static func + (lhs: Instant, rhs: Duration) -> Instant {
        lhs.later(byNanoseconds: rhs.wholeNanoseconds)
    }

    package static func - (lhs: Instant, rhs: Duration) -> Instant {
        lhs.earlier(byNanoseconds: rhs.wholeNanoseconds)
    }

    /// The time from `rhs` to `lhs`, negative where `lhs` is earlier.
    package static func - (lhs: Instant, rhs: Instant) -> Duration {
        .nanoseconds(lhs.nanoseconds(since: rhs))
    }

    /// The same without a `Duration`, whose attoseconds in 128 bits take far longer.
    func nanoseconds(since earlier: Instant) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        guard overflow else { return difference }
        return self < earlier ? .min : .max
    }

    func later(byNanoseconds delta: Int64) -> Instant {
        self == .never ? .never : advanced(byNanoseconds: delta)
    }

    func earlier(byNanoseconds delta: Int64) -> Instant {
        self == .never ? .never : advanced(byNanoseconds: -delta)
    }

    private func advanced(byNanoseconds delta: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
        guard overflow else { return Instant(nanoseconds: sum) }
        return Instant(nanoseconds: delta < 0 ? .min : .max)
    }
}

extension Duration {
    /// The duration in whole nanoseconds, saturating at the ends of `Int64` (292 years).
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? -Int64.max : Int64.max }
        let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !carried else { return seconds < 0 ? -Int64.max : Int64.max }
        return max(sum, -Int64.max)
    }

    /// The duration in whole milliseconds, rounded down, saturating.
    package var wholeMilliseconds: Int {
        let nanoseconds = wholeNanoseconds
        let quotient = nanoseconds / 1_000_000
        return Int(nanoseconds % 1_000_000 < 0 ? quotient - 1 : quotient)
    }
}
