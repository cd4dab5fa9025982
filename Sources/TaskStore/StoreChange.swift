package import BudgetCore

/// One thing that changes in the store; those of one turn are written together.
package enum StoreChange: Equatable, Sendable {
    /// A new task. One that starts at once has its `startedAt` already, so that one commit is enough.
    case submitted(StoredTask)
    /// A queued task starts now. To be on disk before its process exists.
    case started(TaskID, at: WallTime)
    /// A started task was not started after all: it is queued as if nothing had been.
    case startUndone(TaskID)
    /// A queued or started task has ended.
    case ended(TaskID, StoredEnd)
    /// An attempt of a started task has ended, and the task goes back into the queue for the next one.
    case requeued(TaskID, StoredRequeue)
    /// Ids up to and including this one may be used. Fewer than before only where what is above it was
    /// never used.
    case identifiersReserved(through: TaskID)
}

/// The attempt that ended, and when the next one may begin.
package struct StoredRequeue: Equatable, Sendable {
    /// How the attempt ended that is over; its time is the new `StoredTask.queuedAt`.
    package var end: StoredEnd
    /// The number of the next attempt.
    package var attempt: Int
    /// How long after that end the next attempt may begin; `nil`: at once.
    package var earliestBegin: Duration?

    package init(end: StoredEnd, attempt: Int, earliestBegin: Duration? = nil) {
        self.end = end
        self.attempt = attempt
        self.earliestBegin = earliestBegin
    }
}
