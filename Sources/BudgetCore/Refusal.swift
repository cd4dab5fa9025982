/// Why the registry did not do what was asked. Refusals are values: nothing has changed.
package enum Refusal: Error, Equatable, Sendable {
    /// No such task, or none that the caller may see; the two look alike (rule 5 in docs/architecture.md).
    case noSuchTask(TaskID)
    case noSuchProfile(String)
    case noSuchGroup(String)
    /// A limit, by the name of its setting, and its value (milliseconds where it is a time).
    case limitReached(limit: String, value: Int)
    /// An application has less background time left than the grace (rule 13 in docs/architecture.md).
    case tooLittleTime(remaining: Duration, needed: Duration)
    case alreadyEnded(TaskID, Outcome)
    /// The registry, or the task in its present state, does not take this order.
    case notAccepting(String)
    /// A value out of its range, named by its path in the request.
    case invalidParameter(String)
    /// Only some may have this.
    case permissionDenied(Privilege)
    /// No such application, or none of the caller's.
    case noSuchApplication(String)
    /// The application has no command that could be started.
    case notRegistered(String)
    case wrongState(String, ApplicationState)
    /// The application's command could not be started; the text says what failed.
    case cannotStart(String, String)
}

/// What is for root, and for those whom the settings name.
package enum Privilege: Sendable {
    /// A task without a limit.
    case unlimitedTask
    /// An application that is never suspended.
    case backgroundMode
}
