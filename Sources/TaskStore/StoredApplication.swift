package import BudgetCore

/// Everything of an application that survives a restart.
package struct StoredApplication: Equatable, Sendable {
    package var key: ApplicationKey
    package var registration: Registration
    package var badge: Int
    /// Whether it runs: a daemon that finds this in the record of another was interrupted.
    package var isRunning: Bool
    /// By which the program that runs its command knows its run; `nil` where it has none, or was adopted.
    package var run: UInt64?
    /// The service manager's units that it lives in, where it was adopted.
    package var units: [AdoptedUnit]
    /// How its last run ended; `nil` where it has not run.
    package var lastTermination: StoredTermination?

    package init(
        key: ApplicationKey,
        registration: Registration,
        badge: Int = 0,
        isRunning: Bool = false,
        run: UInt64? = nil,
        units: [AdoptedUnit] = [],
        lastTermination: StoredTermination? = nil
    ) {
        self.key = key
        self.registration = registration
        self.badge = badge
        self.isRunning = isRunning
        self.run = run
        self.units = units
        self.lastTermination = lastTermination
    }
}

/// How a run of an application ended.
///
/// Durations are kept in whole milliseconds, rounded down; the budgets of held tasks are rounded up.
package struct StoredTermination: Equatable, Sendable {
    package var at: WallTime
    package var reason: TerminationReason
    /// Of its main process; `nil` where that is not known.
    package var exit: ProcessExit?
    package var held: [HeldTask]
    /// How long it had been in the background; `nil` where it was in front.
    package var background: Duration?

    package init(
        at: WallTime,
        reason: TerminationReason,
        exit: ProcessExit? = nil,
        held: [HeldTask] = [],
        background: Duration? = nil
    ) {
        self.at = at
        self.reason = reason
        self.exit = exit
        self.held = held
        self.background = background
    }
}
