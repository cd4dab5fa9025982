/// What is remembered of a task that has ended: they are many, and nothing is due for them any more.
struct EndedTask: Sendable {
    private let terms: Terms
    private let name: String
    private let reason: Reason?
    /// Of run tasks alone.
    private let run: TaskRecord.Run?
    private let submittedAt: Instant
    private let begunAt: Instant
    private let endedAt: Instant
    private let usedNanoseconds: Int64
    let owner: OwnerID
    let kind: TaskKind
    private let holderProcess: ProcessID?
    let outcome: Outcome?
    private let bound: Bound?
    private let isCutByLifetime: Bool

    /// What is kept of a status, in UTF-8: the owner chooses it, and ended tasks are many.
    private static let statusBytesMax = 128

    /// Inlined, so that only what is kept of the task is copied.
    @inline(__always)
    init(_ task: BackgroundTask, _ run: RunTask?) {
        terms = task.terms
        name = task.name
        reason = task.reason
        self.run = run.map { TaskRecord.Run(EndedTask.epitaph(of: $0)) }
        submittedAt = task.submittedAt
        begunAt = task.begunAt
        endedAt = task.endedAt
        usedNanoseconds = task.usedNanoseconds(at: task.endedAt)
        owner = task.owner
        kind = task.kind
        holderProcess = task.holderProcess
        outcome = task.outcome
        bound = task.bound
        isCutByLifetime = task.isCutByLifetime
    }

    /// What a place holds that remembers none.
    static let none = EndedTask(
        BackgroundTask(
            id: .invalid, owner: .root, kind: .held, name: "", terms: .none, at: .never), nil)

    /// The record of it, with the number by which it is remembered.
    func record(_ id: TaskID) -> TaskRecord {
        var task = BackgroundTask(
            id: id, owner: owner, kind: kind, name: name, terms: terms, at: submittedAt)
        task.holderProcess = holderProcess
        task.begunAt = begunAt
        task.bound = bound
        task.isCutByLifetime = isCutByLifetime
        task.usedNanoseconds = usedNanoseconds
        task.endedAt = endedAt
        task.state = .ended
        task.outcome = outcome
        task.reason = reason
        return TaskRecord(task: task, run: run)
    }

    private static func epitaph(of run: RunTask) -> RunTask {
        var run = run
        run.work = run.work.epitaph
        run.status = run.status?.cut(toBytes: statusBytesMax)
        return run
    }
}
