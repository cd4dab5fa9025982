/// What the observers of an application are told: a callback, a change of its state, or both.
package struct ApplicationEvent: Equatable, Sendable {
    package var callback: Callback?
    package var state: ApplicationState
    package var previous: ApplicationState
    /// How long it was in the background, with `willEnterForeground`.
    package var background: Duration?
    /// The background time that is left.
    package var remaining: Duration?
    package var delivery: UInt64?
    /// The task that it is to do, with `performTask` and `taskExpiring`.
    package var task: TaskID?
    /// That task's name.
    package var identifier: String?
    package var payload: String?
    package var badge: Int?
    package var reason: String?

    package init(
        _ callback: Callback?, state: ApplicationState, previous: ApplicationState
    ) {
        self.callback = callback
        self.state = state
        self.previous = previous
    }
}

/// An order to the shell about an application.
package enum ApplicationOrder: Equatable, Sendable {
    /// Start its command; answer with `applicationStarted` or `applicationNotStarted`.
    case start
    /// Freeze all its processes; answer with the number and `applicationFrozen` or `applicationNotFrozen`, which
    /// has undone what was done in part.
    case freeze(UInt64)
    /// Thaw them, whether they are frozen or not; answer with the number and `applicationThawed` or
    /// `applicationNotThawed`.
    case thaw(UInt64)
    /// Send a signal to each of its processes, thawed before it.
    case signal(SignalNumber)
    /// Kill them all; answer with `applicationGone` when none is left.
    case kill
    /// Look after adopted processes no longer; they go on by themselves.
    case release
    /// Tell those who watch it.
    case tell(ApplicationEvent)
    /// For the journal alone.
    case note(ApplicationNote)
    /// Answer the call that was given this number.
    case answer(UInt64, Refusal?)
}

/// What is told of an application in the journal alone.
package enum ApplicationNote: Equatable, Sendable {
    case registered
    case unregistered
    case starting
    case notStarted(String)
    /// It stays in the background.
    case notFrozen(String)
    case notThawed(String)
    /// Nothing is enforced: it would be suspended now.
    case wouldSuspend
    /// The same: it would be ended.
    case wouldEnd(TerminationReason)
    case ending(TerminationReason)
    /// A kill has not ended its processes.
    case stuck
    case ended(TerminationReason)
    case messageDeferred(Duration)
    case messagesDropped(Int)
}
