/// Whether the disk takes writes, and what it does not know yet.
struct Durability: Sendable {
    /// Why nothing can be written to disk; `nil` while it can.
    private(set) var fault: String?
    /// Ends that were told and that the disk does not know.
    private var ends: [TaskID: TaskRecord] = [:]
    /// Attempts that are over and that the disk does not know.
    private var attempts: Set<TaskID> = []
    /// Orders that a running task is not tried again which the disk does not know.
    private(set) var cancels: Set<TaskID> = []
    /// Commands that went back to the queue, which the disk takes for begun.
    private var startsUndone: Set<TaskID> = []

    /// How many ends, of tasks and of attempts, the disk does not know.
    var endCount: Int { ends.count + attempts.count }

    /// Whether the disk knows everything that it was told.
    var owesNothing: Bool { endCount == 0 && cancels.isEmpty && startsUndone.isEmpty }

    /// Refuses what has to be written.
    func check() throws(Refusal) {
        if let fault { throw .notAccepting(fault) }
    }

    /// What is kept of a task whose end the disk does not know.
    func record(_ id: TaskID) -> TaskRecord? { ends[id] }

    /// When tasks of a name completed whose ends the disk does not know.
    func successes(of name: OwnedName) -> [BootInstant] {
        ends.values.compactMap { end in
            guard end.task.owner == name.owner, end.task.name == name.name,
                let conclusion = end.run?.conclusion, conclusion.outcome == .completed
            else { return nil }
            return conclusion.endedAtBoot
        }
    }

    // MARK: - What the disk answers

    mutating func stored(_ step: StoreStep) {
        switch step {
        case .ended(let id): ends[id] = nil
        case .attemptEnded(let id): attempts.remove(id)
        case .cancelling(let id): cancels.remove(id)
        case .submitted, .started, .startUndone, .changed, .groupPaused, .ownerPaused,
            .slotsOrdered, .cleaned, .applicationSaved, .applicationForgotten, .identifiersReserved:
            break
        }
    }

    /// Nothing new is taken in and nothing queued starts until `healed`.
    mutating func failed(_ reason: String) {
        fault = reason
    }

    /// The disk has not answered for long.
    mutating func stalled(_ reason: String) {
        fault = fault ?? reason
    }

    /// The disk takes writes again.
    ///
    /// - Returns: whether it did not before.
    mutating func healed() -> Bool {
        defer { fault = nil }
        return fault != nil
    }

    // MARK: - What it does not know

    /// Keeps the end of a task that was told all the same.
    mutating func owe(end: TaskRecord) {
        ends[end.task.id] = end
    }

    mutating func owe(attemptOf id: TaskID) {
        attempts.insert(id)
    }

    mutating func owe(cancelOf id: TaskID) {
        cancels.insert(id)
    }

    mutating func owe(startUndoneOf id: TaskID) {
        startsUndone.insert(id)
    }

    /// Forgets orders that a task is not tried again where its end is on its way to the disk, which says more.
    mutating func keepCancels(of open: Set<TaskID>) {
        cancels.formIntersection(open)
    }

    /// What the disk is to be told now, in this order, without the starts that were undone.
    var owedSteps: [StoreStep] {
        // As they came about: the disk counts an interval from the success that it was told last.
        let inOrder = ends.sorted { one, other in
            (one.value.task.endedAt, one.key) < (other.value.task.endedAt, other.key)
        }
        return cancels.sorted().map(StoreStep.cancelling)
            + inOrder.map { StoreStep.ended($0.key) }
            + attempts.sorted().map(StoreStep.attemptEnded)
    }

    /// The starts that were undone and that the disk is to be told of now.
    mutating func takeStartsUndone() -> [TaskID] {
        defer { startsUndone = [] }
        return startsUndone.sorted()
    }
}
