/// A point on a clock that goes on while the machine sleeps, in nanoseconds: CLOCK_BOOTTIME.
///
/// What a task waits for in the queue is counted on it; budgets are counted on `Instant` (rule 7 in
/// docs/architecture.md). Arithmetic saturates.
package struct BootInstant: Comparable, Hashable, Sendable {
    private let instant: Instant

    package static let never = BootInstant(.never)
    /// Before everything that is waited for.
    package static let distantPast = BootInstant(nanoseconds: .min)

    package var nanoseconds: Int64 { instant.nanoseconds }

    package init(nanoseconds: Int64) {
        instant = Instant(nanoseconds: nanoseconds)
    }

    private init(_ instant: Instant) {
        self.instant = instant
    }

    package static func < (lhs: BootInstant, rhs: BootInstant) -> Bool {
        lhs.instant < rhs.instant
    }

    /// The instant that much later; `never` stays `never`.
    package static func + (lhs: BootInstant, rhs: Duration) -> BootInstant {
        BootInstant(lhs.instant + rhs)
    }

    package static func - (lhs: BootInstant, rhs: Duration) -> BootInstant {
        BootInstant(lhs.instant - rhs)
    }

    /// The time from `rhs` to `lhs`, negative where `lhs` is earlier.
    package static func - (lhs: BootInstant, rhs: BootInstant) -> Duration {
        lhs.instant - rhs.instant
    }
}
