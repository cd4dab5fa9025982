/// The rule that ends the remaining time first.
package enum Bound: UInt8, Sendable {
    case ownBudget
    case applicationBackgroundTime
    case lifetimeLimit
}

/// What a task has left.
package struct Remaining: Equatable, Sendable {
    /// A `Duration` counts in 128 bits, which takes far longer, and this is asked for at each begin.
    let untilHandlerNanoseconds: Int64?
    let untilHardLimitNanoseconds: Int64?
    package let bound: Bound?

    /// No limit applies now: none is set, the clock stands still, or it has not begun.
    package static let unlimited = Remaining(
        untilHandlerNanoseconds: nil, untilHardLimitNanoseconds: nil, bound: nil)

    /// Until the expiration handler fires; `nil` where no limit applies now.
    package var untilHandler: Duration? { untilHandlerNanoseconds.map { .nanoseconds($0) } }
    /// Until the hard limit.
    package var untilHardLimit: Duration? { untilHardLimitNanoseconds.map { .nanoseconds($0) } }
    /// The same in whole milliseconds, rounded down.
    package var untilHandlerMilliseconds: Int? {
        untilHandlerNanoseconds.map { Int($0 / 1_000_000) }
    }
    package var untilHardLimitMilliseconds: Int? {
        untilHardLimitNanoseconds.map { Int($0 / 1_000_000) }
    }
}
