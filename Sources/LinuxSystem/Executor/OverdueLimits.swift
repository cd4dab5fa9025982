/// When it is to be seen whether an executor has kept the limits of its commands, and which of them it has let pass: one that
/// stands still keeps none. Nanoseconds on CLOCK_MONOTONIC.
package struct OverdueLimits {
    /// How long after a limit it is to have told of that.
    private static let patience: Int64 = 1_000_000_000
    /// Looks are so far apart at least: each goes through all commands.
    private static let step: Int64 = 250_000_000
    /// A look that is later than that says nothing: what has held up this process may have held up the executor.
    private static let latenessMax: Int64 = 500_000_000

    /// When the next look is due; `nil` while there is no limit.
    package private(set) var nextDeadline: Int64?

    package init() {}

    /// A command has this limit from now on.
    ///
    /// - Parameter limitAt: 0: none.
    package mutating func note(limitAt: UInt64) {
        guard limitAt > 0 else { return }
        let (due, overflow) = Int64(clamping: limitAt)
            .addingReportingOverflow(Self.patience + Self.step)
        guard !overflow else { return }
        nextDeadline = min(nextDeadline ?? .max, due - due % Self.step)
    }

    /// - Parameter limits: of all commands whose limit was not told to have passed; 0: none.
    /// - Returns: the commands whose limit the executor has not kept, in the order of their identifiers. They are returned
    ///   again as long as they are among the limits.
    package mutating func takeOverdue(
        of limits: some Sequence<(command: UInt64, limitAt: UInt64)>, at now: Int64
    ) -> [UInt64] {
        guard let planned = nextDeadline, planned <= now else { return [] }
        nextDeadline = nil
        guard now - planned <= Self.latenessMax else {
            nextDeadline = now + Self.patience
            return []
        }
        var overdue: [UInt64] = []
        for (command, limitAt) in limits where limitAt > 0 {
            if Int64(clamping: limitAt) <= now - Self.patience {
                overdue.append(command)
            } else {
                note(limitAt: limitAt)
            }
        }
        if !overdue.isEmpty { nextDeadline = min(nextDeadline ?? .max, now + Self.patience) }
        return overdue.sorted()
    }
}
