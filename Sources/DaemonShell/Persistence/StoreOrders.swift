package import BudgetCore
package import TaskStore

/// Where changes are put on disk, in its own time.
package protocol StoreBackend: AnyObject {
    /// Has changes written, all in one commit, after those that were given before.
    ///
    /// After a failure nothing is written until `takeProgress` has told of it: these may rest on what is not
    /// on disk.
    func write(_ changes: [StoreChange])

    /// Sees whether a disk that failed takes writes again; nothing else is under way.
    func probe()

    /// Has spans of applications written: with the next commit, or in some time without one. Nothing is told of it.
    func keep(_ spans: [StoredSpan])

    /// Those that have ended and are not on disk yet, of these.
    func waitingSpans(_ filter: SpanFilter) -> [StoredSpan]

    /// What has come of the orders since the last call.
    func takeProgress() -> StoreProgress

    /// Has the history kept within bounds.
    func keep(_ bounds: HistoryBounds)

    /// Ends it, with the last id that was given out.
    ///
    /// - Returns: whether all that it was given is done, and in time.
    func close(used last: TaskID) -> Bool
}

/// What has come of orders to a store.
package struct StoreProgress: Sendable {
    /// How many changes are on disk, the oldest first.
    var writtenCount = 0
    /// What was found where they were written.
    var applied = Applied()
    /// Whether a disk that failed takes writes again.
    var isProbed = false
    /// What kept the changes after those from the disk, all of them: one may rest on another. Or the probe.
    var failure: StoreError?
    /// What could not be done for the file beside the orders.
    var complaint: StoreError?
    /// What keeps output from the disk since just now.
    package var outputFault: StoreError?
    /// Ended tasks that were forgotten since the disk was full, or what they had printed.
    var forgottenCount = 0
    /// Spans of applications that found no room while they waited, by account.
    package var droppedSpans: [OwnerID: Int] = [:]
}

/// What stands between those who give orders to a store and the one that carries them out.
package struct StoreOrders: Sendable {
    /// What is done in one go.
    package enum Order {
        case write([StoreChange])
        case probe
    }

    /// What the next commit is about.
    private var changes: [StoreChange] = []
    private var isProbeDue = false
    private var progress = StoreProgress()

    package init() {}

    /// Whether there is something to do.
    package var isDue: Bool { isProbeDue || !changes.isEmpty }

    /// Adds changes to the next commit, where no failure is still to be told.
    package mutating func write(_ changes: [StoreChange]) {
        if progress.failure == nil { self.changes += changes }
    }

    package mutating func probe() { isProbeDue = true }

    /// What is to be done next; then it is under way.
    package mutating func next() -> Order? {
        if isProbeDue {
            isProbeDue = false
            return .probe
        }
        guard !changes.isEmpty else { return nil }
        defer { changes = [] }
        return .write(changes)
    }

    // MARK: - What came of the order that is under way

    package mutating func written(_ count: Int, _ applied: Applied) {
        progress.writtenCount += count
        progress.applied.merge(applied)
    }

    package mutating func probed() { progress.isProbed = true }

    /// The changes that were given since are not written either.
    package mutating func failed(_ error: StoreError) {
        progress.failure = error
        changes = []
    }

    mutating func forgot(_ count: Int) { progress.forgottenCount += count }

    mutating func complain(of error: StoreError) { progress.complaint = error }

    mutating func complainOfOutput(_ error: StoreError) { progress.outputFault = error }

    package mutating func takeProgress() -> StoreProgress {
        defer { progress = StoreProgress() }
        return progress
    }
}
