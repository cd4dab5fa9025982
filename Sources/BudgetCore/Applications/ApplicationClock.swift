/// What an application's place in its lifecycle means for the tasks that it holds.
package enum ApplicationClock: Equatable, Sendable {
    /// In front: nothing is spent, tasks are dormant.
    case foreground
    /// In the background: all its tasks share one deadline, and their handlers fire together
    /// `grace` before it.
    case background(until: Instant, grace: Duration)
    /// Frozen: nobody could do what is begun.
    case suspended
}
