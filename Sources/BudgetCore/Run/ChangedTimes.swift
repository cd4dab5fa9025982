/// The tasks whose times or notes may have changed, for who mirrors them.
struct ChangedTimes: Sendable {
    private var ids: [TaskID] = []

    /// A turn changes one task several times mostly.
    mutating func insert(_ id: TaskID) {
        if ids.last != id { ids.append(id) }
    }

    /// Takes them out, each once, in the order of their first changes.
    mutating func take() -> [TaskID] {
        guard ids.count > 1 else {
            defer { ids.removeAll(keepingCapacity: true) }
            return ids
        }
        var seen: Set<TaskID> = []
        defer { ids.removeAll(keepingCapacity: true) }
        return ids.filter { seen.insert($0).inserted }
    }
}
