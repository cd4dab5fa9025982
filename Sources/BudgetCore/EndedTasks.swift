/// Tasks that have ended and can still be asked about. Where they are too many, the oldest of the owner who
/// has most are forgotten, so that the many tasks of one owner do not push out another's.
struct EndedTasks: Sendable {
    private var records: [TaskID: TaskRecord] = [:]
    private var held = EndedQueues()
    private var run = EndedQueues()

    /// What is kept of a status, in UTF-8: the owner chooses it, and ended tasks are many.
    static let statusBytesMax = 128

    var count: Int { records.count }

    subscript(id: TaskID) -> TaskRecord? { records[id] }

    mutating func append(_ whole: TaskRecord) {
        var record = whole
        record.run?.work = whole.run?.work.epitaph ?? Work(command: [])
        record.run?.status = whole.run?.status?.cut(toBytes: EndedTasks.statusBytesMax)
        records[record.task.id] = record
        switch record.task.kind {
        case .held: held.append(record.task.id, of: record.task.owner)
        case .run: run.append(record.task.id, of: record.task.owner)
        }
    }

    /// Forgets what is beyond the limits.
    ///
    /// - Returns: the run tasks among it.
    mutating func trim(to limits: RegistryLimits) -> [BackgroundTask] {
        while held.count > limits.endedHeldMax, let id = held.removeOldest() { records[id] = nil }
        var forgotten: [BackgroundTask] = []
        while run.count > limits.endedRunMax, let id = run.removeOldest() {
            if let record = records.removeValue(forKey: id) { forgotten.append(record.task) }
        }
        return forgotten
    }

    /// Adds the ids of one owner's ended tasks, or of all, that come after one.
    func collect(of owner: OwnerID?, after last: TaskID, into found: inout FirstIdentifiers) {
        for queues in [held, run] { queues.collect(of: owner, after: last, into: &found) }
    }
}
