/// What the program that runs the command of an application is told of it.
package struct ApplicationTimes: Equatable, Sendable {
    /// When its processes are killed; `never` where its end is not decided.
    package let limitAt: Instant
    package let notes: ApplicationNotes
}

/// A launched application of an earlier daemon that goes on, or is over and was not taken note of, as the program that
/// runs its command has it.
package struct FoundApplication: Equatable, Sendable {
    /// Whether its command has been started; it may have ended since.
    package var hasStarted: Bool
    /// Whether all of its processes are frozen now.
    package var isFrozen: Bool
    /// `nil` where nothing sensible was kept with it.
    package var notes: ApplicationNotes?

    package init(hasStarted: Bool, isFrozen: Bool, notes: ApplicationNotes?) {
        self.hasStarted = hasStarted
        self.isFrozen = isFrozen
        self.notes = notes
    }
}
