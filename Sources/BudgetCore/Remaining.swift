/// The rule that ends the remaining time first.
package enum Bound: UInt8, Sendable {
    case ownBudget
    case applicationBackgroundTime
    case lifetimeLimit
}

/// What a task has left.
package struct Remaining: Equatable, Sendable {
    /// Until the expiration handler fires; `nil` where no limit applies now.
    package let untilHandler: Duration?
    /// Until the hard limit.
    package let untilHardLimit: Duration?
    package let bound: Bound?

    /// No limit applies now: none is set, the clock stands still, or it has not begun.
    package static let unlimited = Remaining(untilHandler: nil, untilHardLimit: nil, bound: nil)
}
