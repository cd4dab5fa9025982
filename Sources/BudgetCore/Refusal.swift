/// Why the registry did not do what was asked. Refusals are values: nothing has changed.
package enum Refusal: Error, Equatable, Sendable {
    /// No such task, or none that the caller may see; the two look alike (DESIGN.md rule 5).
    case noSuchTask(TaskID)
    case noSuchProfile(String)
    /// A limit, by the name of its setting, and its value (milliseconds where it is a time).
    case limitReached(limit: String, value: Int)
    /// An application has less background time left than the grace (DESIGN.md rule 13).
    case tooLittleTime(remaining: Duration, needed: Duration)
    case alreadyEnded(TaskID, Outcome)
    /// The registry, or the task in its present state, does not take this order.
    case notAccepting(String)
    /// A value out of its range, named by its path in the request.
    case invalidParameter(String)
    case permissionDenied
}
