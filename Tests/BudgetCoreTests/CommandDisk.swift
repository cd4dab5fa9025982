import BudgetCore

/// What is on disk of tasks, and of attempts that are over.
struct CommandDisk {
    struct Entry {
        var task: RestoredTask
        var outcomes: [Outcome] = []
        var end: Outcome?
    }

    /// A step with what it writes.
    struct Write {
        let step: StoreStep
        let id: TaskID
        let record: TaskRecord
        let at: Instant
    }

    private(set) var entries: [TaskID: Entry] = [:]
    private(set) var failure: String?

    /// What a daemon finds.
    var live: [RestoredTask] {
        entries.values.filter { $0.end == nil }.map(\.task).sorted { $0.id < $1.id }
    }

    subscript(id: TaskID) -> Entry? { entries[id] }

    mutating func take(_ write: Write, _ executor: ExecutorInstance) {
        guard let run = write.record.run else { return }
        switch write.step {
        case .submitted(let id, let isStarted):
            var task = RestoredTask(
                id: id, submission: submission(write.record, run), profile: "default",
                budget: write.record.task.budget, grace: write.record.task.grace,
                lifetimeMax: write.record.task.lifetimeMax, isCutByLifetime: false,
                submittedAt: write.record.task.submittedAt, begunAt: isStarted ? write.at : nil)
            task.executor = isStarted ? executor : nil
            entries[id] = Entry(task: task)
        case .started(let id):
            if entries[id]?.task.begunAt != nil { failure = "\(id) begins and has begun" }
            entries[id]?.task.begunAt = write.at
            entries[id]?.task.executor = executor
        case .startUndone(let id): waits(id)
        case .attemptEnded(let id):
            guard let end = run.conclusion, entries[id]?.task.attempt == run.attempt else {
                failure = "an attempt of \(id) ends that is not under way"
                return
            }
            entries[id]?.outcomes.append(end.outcome)
            entries[id]?.task.attempt += 1
            entries[id]?.task.notBefore = end.endedAtBoot + (end.retryDelay ?? .zero)
            entries[id]?.task.isCancelled = false
            waits(id)
        case .ended(let id):
            guard let end = run.conclusion, entries[id]?.end == nil else {
                failure = "\(id) ends twice"
                return
            }
            entries[id]?.end = end.outcome
        case .cancelling(let id): entries[id]?.task.isCancelled = true
        case .changed(let id):
            let submission = submission(write.record, run)
            entries[id]?.task.submission = submission
        default: break
        }
    }

    private mutating func waits(_ id: TaskID) {
        entries[id]?.task.begunAt = nil
        entries[id]?.task.executor = nil
    }

    private func submission(_ record: TaskRecord, _ run: RunTask) -> Submission {
        var submission = Submission(
            name: record.task.name, owner: record.task.owner, work: run.work)
        submission.queueing = run.queueing
        return submission
    }
}
