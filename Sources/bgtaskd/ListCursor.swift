internal import BudgetCore
internal import TaskAPI

/// Where a listing has come to.
struct ListCursor {
    /// Tasks in one answer without `more`.
    private static let countMax = 1000
    /// Ids looked up at once.
    private static let batchMax = 512
    /// What a task takes in an answer besides its texts, about.
    private static let taskOverhead = 512

    /// Whose tasks; `nil` for everybody's.
    private let owner: OwnerID?
    private let includesEnded: Bool
    private let filter: ListFilter
    /// Tasks that began after the call are not listed, so that every listing has an end.
    private let through: TaskID
    private var last = TaskID.invalid
    private var batch: ArraySlice<TaskID> = []
    private var isLastBatch = false
    /// What the one answer without `more` will hold; `nil` with `more`, where each task is a reply.
    private(set) var collected: [Tasks.Task]?
    private(set) var isTruncated = false
    private var textBytes = 0

    init(_ input: Tasks.List.Input, of owner: OwnerID?, through: TaskID, more: Bool) {
        self.owner = owner
        self.through = through
        includesEnded = ListFilter.includesEnded(input)
        filter = ListFilter(input)
        collected = more ? nil : []
    }

    /// What it holds in memory, about.
    var heldBytes: Int {
        batch.count * MemoryLayout<TaskID>.size + textBytes
            + (collected?.count ?? 0) * ListCursor.taskOverhead
    }

    /// The next id to be looked at; `nil` at the end.
    mutating func next(in registry: BackgroundTaskRegistry) -> TaskID? {
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
    func includes(_ task: BackgroundTask, at now: Instant) -> Bool {
        (includesEnded || task.state != .ended) && filter.includes(task, at: now)
    }

    /// Takes a task into the answer.
    ///
    /// - Returns: whether there was room for it.
    mutating func collect(_ task: Tasks.Task, bytesMax: Int) -> Bool {
        textBytes += task.command?.reduce(0) { $0 + $1.utf8.count } ?? 0
        textBytes += task.name.utf8.count + (task.reason?.utf8.count ?? 0)
        let count = collected?.count ?? 0
        isTruncated = count == ListCursor.countMax || textBytes > bytesMax && count > 0
        if !isTruncated { collected?.append(task) }
        return !isTruncated
    }
}
