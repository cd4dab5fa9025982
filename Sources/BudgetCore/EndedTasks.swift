/// Tasks that have ended and can still be asked about; the oldest make room for the newest.
struct EndedTasks: Sendable {
    private var records: [TaskID: TaskRecord] = [:]
    private var held = Ring()
    private var run = Ring()

    var count: Int { records.count }

    subscript(id: TaskID) -> TaskRecord? { records[id] }

    mutating func append(_ whole: TaskRecord) {
        var record = whole
        record.run?.work = whole.run?.work.epitaph ?? Work(command: [])
        records[record.task.id] = record
        switch record.task.kind {
        case .held: held.append(record.task.id)
        case .run: run.append(record.task.id)
        }
    }

    /// Forgets the oldest beyond the limits.
    mutating func trim(to limits: RegistryLimits) {
        while held.count > limits.endedHeldMax { records[held.removeFirst()] = nil }
        while run.count > limits.endedRunMax { records[run.removeFirst()] = nil }
    }

    /// The ids of one owner's ended tasks, or of all, in ascending order.
    func identifiers(of owner: OwnerID?) -> [TaskID] {
        records.values.lazy
            .filter { owner == nil || $0.task.owner == owner }
            .map(\.task.id)
            .sorted()
    }
}

/// A first-in first-out queue of ids over one array that is compacted in bulk.
private struct Ring: Sendable {
    private var ids: ContiguousArray<TaskID> = []
    private var start = 0

    var count: Int { ids.count - start }

    mutating func append(_ id: TaskID) {
        ids.append(id)
    }

    mutating func removeFirst() -> TaskID {
        let id = ids[start]
        start += 1
        if start * 2 > ids.count, start > 64 {
            ids.removeFirst(start)
            start = 0
        }
        return id
    }
}
