/// When the handler and the limit of a command are due, for the program that runs commands, and what it is to keep with
/// the command.
package struct CommandDeadlines: Equatable, Sendable {
    /// When the handler fires; `never` where it has, or where no limit applies now.
    package let handlerAt: Instant
    /// When the processes are killed; `never` where no limit applies now.
    package let limitAt: Instant
    package let notes: CommandNotes
}

/// A command of an earlier daemon that goes on, or is over and was not taken note of, as the program that runs commands
/// has it.
package struct FoundCommand: Equatable, Sendable {
    package var attempt: Int
    /// `nil` where its main program has not started.
    package var processID: ProcessID?
    /// Whether its main program has started; it may have ended since.
    package var isRunning: Bool
    /// Whether the command of its expiration handler runs, or is being started.
    package var handlerRuns: Bool
    /// `nil` where nothing sensible was kept with it.
    package var notes: CommandNotes?
    /// The times that were mirrored last; `never` where one of them is not set, or has passed.
    package var handlerAt: Instant
    package var limitAt: Instant

    package init(
        attempt: Int, processID: ProcessID? = nil, isRunning: Bool, handlerRuns: Bool = false,
        notes: CommandNotes?, handlerAt: Instant = .never, limitAt: Instant = .never
    ) {
        self.attempt = attempt
        self.processID = processID
        self.isRunning = isRunning
        self.handlerRuns = handlerRuns
        self.notes = notes
        self.handlerAt = handlerAt
        self.limitAt = limitAt
    }
}
