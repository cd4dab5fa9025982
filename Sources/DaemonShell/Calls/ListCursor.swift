internal import BudgetCore
internal import TaskAPI

/// Where a listing has come to.
struct ListCursor {
    /// Ids looked up at once.
    private static let batchMax = 512

    /// Whose tasks; `nil` for everybody's.
    private let owner: OwnerID?
    private let includesEnded: Bool
    private let filter: ListFilter
    /// Whether each task comes with its attempts that are over.
    let withAttempts: Bool
    /// Tasks that began after the call are not listed, so that every listing has an end.
    private let through: TaskID
    private var last = TaskID.invalid
    private var batch: ArraySlice<TaskID> = []
    private var isLastBatch = false
    /// What the one answer without `more` will hold; `nil` with `more`, where each task is a reply.
    var collected: CollectedTasks?

    init(_ input: Tasks.List.Input, of owner: OwnerID?, through: TaskID, more: Bool) {
        self.owner = owner
        self.through = through
        includesEnded = ListFilter.includesEnded(input)
        filter = ListFilter(input)
        withAttempts = input.attempts == true
        collected = more ? nil : CollectedTasks()
    }

    /// What it holds in memory, about.
    var heldBytes: Int {
        batch.count * MemoryLayout<TaskID>.size + (collected?.heldBytes ?? 0)
    }

    /// The next id to be looked at; `nil` at the end.
    mutating func next(in registry: borrowing BackgroundTaskRegistry) -> TaskID? {
        if batch.isEmpty, !isLastBatch {
            batch =
                registry.identifiers(
                    of: owner, after: last, includingEnded: includesEnded,
                    countMax: ListCursor.batchMax)[...]
            isLastBatch = batch.count < ListCursor.batchMax
        }
        guard let id = batch.popFirst(), id <= through else { return nil }
        last = id
        return id
    }

    /// Whether a task is one of those that were asked for.
    func includes(_ record: TaskRecord, at now: Instant) -> Bool {
        (includesEnded || record.task.state != .ended) && filter.includes(record, at: now)
    }
}
