/// What is remembered of a task that has ended: they are many, and nothing is due for them any more.
struct EndedTask: Sendable {
    private var terms = Terms.none
    private var name = ""
    private var reason: Reason?
    /// Of run tasks alone.
    private var run: TaskRecord.Run?
    private var submittedAt = Instant.never
    private var begunAt = Instant.never
    private var handlerFiredAt = Instant.never
    private var endedAt = Instant.never
    private var usedNanoseconds: Int64 = 0
    private(set) var owner = OwnerID.root
    /// For whom it is counted.
    private(set) var account = OwnerID.root
    private(set) var kind = TaskKind.held
    private var holderProcess: ProcessID?
    private(set) var outcome: Outcome?
    private var bound: Bound?
    private var isCutByLifetime = false

    /// What is kept of a status, in UTF-8: the owner chooses it, and ended tasks are many.
    private static let statusBytesMax = 128

    /// Keeps what is to be remembered of a task, which is forgotten elsewhere: it gives its words away.
    ///
    /// - Parameter account: for whom it is counted.
    mutating func take(
        _ task: inout BackgroundTask, _ run: TaskRecord.Run?, account: OwnerID
    ) {
        self.account = account
        task.exchange(&terms, &name, &reason)
        self.run = run
        submittedAt = task.submittedAt
        begunAt = task.begunAt
        handlerFiredAt = task.handlerFiredAt
        endedAt = task.endedAt
        usedNanoseconds = task.usedNanoseconds(at: task.endedAt)
        owner = task.owner
        kind = task.kind
        holderProcess = task.holderProcess
        outcome = task.outcome
        bound = task.bound
        isCutByLifetime = task.isCutByLifetime
    }

    /// Forgets what takes memory of its own, but for the terms, which it shares.
    mutating func vacate() {
        name = ""
        reason = nil
        run = nil
    }

    /// The record of it, with the number by which it is remembered.
    func record(_ id: TaskID) -> TaskRecord {
        var task = BackgroundTask(
            id: id, owner: owner, kind: kind, name: name, terms: terms,
            holderProcess: holderProcess, submittedAt: submittedAt, begunAt: begunAt,
            handlerFiredAt: handlerFiredAt, bound: bound, isCutByLifetime: isCutByLifetime,
            usedNanoseconds: usedNanoseconds)
        if let outcome { task.end(outcome, reason, at: endedAt) }
        return TaskRecord(task: task, run: run)
    }

    /// What is kept of a run task beyond what held ones have.
    static func tombstone(of run: RunTask) -> TaskRecord.Run {
        TaskRecord.Run(run.tombstone(statusBytesMax: statusBytesMax))
    }
}
