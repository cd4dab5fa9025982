package import BudgetCore

/// One thing that changes in the store; those of one turn are written together.
package enum StoreChange: Equatable, Sendable {
    /// A new task. One that starts at once has its `startedAt` already, so that one commit is enough.
    indirect case submitted(StoredTask)
    /// A queued task starts now, by an executor where there is one. To be on disk before its process exists.
    case started(TaskID, at: WallTime, executor: ExecutorInstance? = nil)
    /// A started task was not started after all: it is queued again as if nothing had happened.
    case startUndone(TaskID)
    /// A started task is told to end, and is not to be tried again: a crash before its end does not bring it
    /// back.
    case cancelling(TaskID)
    /// A queued or started task has ended.
    case ended(TaskID, StoredEnd)
    /// An attempt of a started task has ended, and the task goes back into the queue for the next one.
    case requeued(TaskID, StoredRequeue)
    /// A queued task waits by other rules.
    indirect case changed(TaskID, StoredTerms)
    /// There are as many slots from now on.
    case slotsOrdered(SlotOrder)
    /// From now on nothing of this owner starts, or it starts again.
    case ownerPaused(OwnerID, Bool)
    /// From now on nothing of this group starts, or it starts again. Changes nothing where that is so already.
    case groupPaused(String, Bool)
    /// Of tasks that have ended, those of this owner are forgotten, or all; those that are not there are passed over.
    case cleaned([TaskID], of: OwnerID?)
    /// What is known of an application, new or in the place of what was known before.
    indirect case applicationSaved(StoredApplication)
    /// An application is known no longer; it may never have been.
    case applicationForgotten(owner: OwnerID, id: String)
    /// Ids up to and including this one may be used. Fewer than before only where what is above it was
    /// never used.
    case identifiersReserved(through: TaskID)
}

extension StoreChange {
    /// What it takes on the disk that a submitter has given, about.
    package var byteCount: Int {
        if case .submitted(let task) = self { task.work.byteCount } else { 0 }
    }
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

/// What decides when a queued task may run, from now on.
package struct StoredTerms: Equatable, Sendable {
    /// Its `earliestBegin` counts from `at`; its predecessors are left as they are.
    package var queueing: Queueing
    package var at: WallTime

    package init(_ queueing: Queueing, at: WallTime) {
        self.queueing = queueing
        self.at = at
    }
}

/// What `TaskStore.apply` found where it wrote.
package struct Applied: Equatable, Sendable {
    /// For each task that was submitted with a minimum interval: when a task of its owner and name last completed, also
    /// earlier in the same changes. No entry where none has.
    package var lastSuccesses: [TaskID: WallTime] = [:]

    package init() {}

    /// Adds what was found where other changes were written.
    package mutating func merge(_ other: Applied) {
        if lastSuccesses.isEmpty {
            lastSuccesses = other.lastSuccesses
        } else if !other.lastSuccesses.isEmpty {
            lastSuccesses.merge(other.lastSuccesses) { _, later in later }
        }
    }
}
