/// An order to the shell, or something that happened and is to be logged and told.
///
/// The shell performs actions in their order. There are no timers among them: it arms one timer at
/// `BackgroundTaskRegistry.nextDeadline`. What is large and rare is kept outside, so that lists of actions are short.
package enum Action: Equatable, Sendable {
    /// Log it, and tell those who watch.
    case tell(Happening, TaskID)
    /// Start the task's command; answer with `started` or `startFailed`.
    case launch(TaskID)
    /// Have the handler of its command fire: send its signal to every process of the task, and start the command of the
    /// handler, unless that runs; answer with `handlerExited` when that command is over.
    case warn(TaskID)
    /// Send a signal to every process of the task.
    case signal(TaskID, SignalNumber)
    /// Kill every process of the task; answer with `processesGone` when none is left.
    case killAll(TaskID)
    /// Write it to disk; answer with `stored` or `notStored`.
    case store(StoreStep)
    /// Answer the submission or the order about a queued task that waited for the disk.
    indirect case answer(TaskID, Refusal?)
    /// Answer the oldest order about a group that waited for the disk.
    indirect case answerGroup(String, Refusal?)
    /// The oldest order to hold back, or to let go, all tasks of an owner is on disk, or is refused by it.
    case answerOwner(OwnerID, Refusal?)
    /// The oldest order of how many slots there are, of a group or of the daemon, is on disk, or is refused by it.
    case answerSlots(String?, Refusal?)
    /// The oldest order of an owner to forget tasks that have ended is carried out on the disk, or is refused by it.
    case answerCleaning(by: OwnerID, Refusal?)
    /// The oldest change of a queued task is on disk, or is refused by it.
    case answerChange(TaskID, Refusal?)
    indirect case application(ApplicationKey, ApplicationOrder)
    /// Log and count what must never happen.
    indirect case fault(Fault)
    /// That many old tasks were not named in the log, because of its limit of ten a second.
    case oldTasksNotNamed(Int)
}

extension [Action] {
    /// Takes all out and keeps the room. A list of a turn has one or two mostly, which are taken out faster
    /// one by one: `removeAll` alone was 250 instructions.
    package mutating func clear() {
        while popLast() != nil {}
    }
}

/// What happened to a task.
package enum Happening: Equatable, Sendable {
    case queued
    case began
    case dormant
    case resumed
    case extended
    /// It said something else of itself than before.
    case status
    /// The expiration handler fires.
    case handlerFired
    /// An order to cancel was taken; its processes are being stopped.
    case cancelling
    /// The hard limit was reached; its processes are being killed.
    case overrunning
    /// An attempt is over; the task is queued for the next one.
    case attemptEnded
    case ended
    /// The task is older than `RegistryLimits.warnAfter`.
    case grewOld
    /// A kill has not ended its processes.
    case stuck
}
