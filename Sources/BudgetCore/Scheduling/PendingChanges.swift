/// What decides when a queued task may run, and from when on it may.
struct QueuedTerms: Equatable, Sendable {
    let queueing: Queueing
    let notBefore: BootInstant
}

/// Changes of queued tasks that are on their way to the disk.
///
/// They hold from the moment of the order. Where the disk does not take one, the task waits as it did before.
struct PendingChanges: Sendable {
    /// What held before each of them, the oldest first.
    private var before: [TaskID: [QueuedTerms]] = [:]

    var isEmpty: Bool { before.isEmpty }

    func areUnderWay(of id: TaskID) -> Bool { !before.isEmpty && before[id] != nil }

    mutating func ordered(of id: TaskID, from terms: QueuedTerms) {
        before[id, default: []].append(terms)
    }

    /// The oldest change of a task is on disk, or is not; those after it rest on it.
    ///
    /// - Returns: what holds again, where it is not.
    mutating func answered(of id: TaskID, isStored: Bool) -> QueuedTerms? {
        guard var terms = before[id], let first = terms.first else { return nil }
        terms.removeFirst()
        guard !isStored else {
            before[id] = terms.isEmpty ? nil : terms
            return nil
        }
        before[id] = terms.isEmpty ? nil : terms.map { _ in first }
        return first
    }
}
