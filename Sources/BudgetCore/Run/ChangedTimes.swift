/// The tasks or applications whose times or notes may have changed, for who mirrors them.
struct ChangedTimes<ID: Hashable & Sendable>: Sendable {
    private var ids: [ID] = []

    /// A turn changes one task several times mostly.
    mutating func insert(_ id: ID) {
        if ids.last != id { ids.append(id) }
    }

    /// Takes them out, each once, in the order of their first changes.
    mutating func take() -> [ID] {
        guard ids.count > 1 else {
            defer { ids.removeAll(keepingCapacity: true) }
            return ids
        }
        var seen: Set<ID> = []
        defer { ids.removeAll(keepingCapacity: true) }
        return ids.filter { seen.insert($0).inserted }
    }
}
