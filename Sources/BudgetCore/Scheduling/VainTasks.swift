internal import Containers

/// Tasks that wait in vain for others, and have to end for it (rule 29 in docs/architecture.md).
///
/// There may be many at once. They end a few at a time: the next ones when the disk has the ends of those before them.
struct VainTasks: Sendable {
    private var waiting = Deque<TaskID>()
    /// Those whose ends are on their way to the disk.
    private var ending: Set<TaskID> = []

    var isEmpty: Bool { waiting.isEmpty && ending.isEmpty }

    /// Whether some can be taken now.
    func mayEnd(_ limits: RegistryLimits) -> Bool {
        !waiting.isEmpty && ending.count < limits.vainEndsAtOnce
    }

    mutating func add(_ tasks: some Sequence<TaskID>) {
        for id in tasks { waiting.append(id) }
    }

    /// Takes the one that has waited longest; `nil` where none may end now.
    mutating func next(_ limits: RegistryLimits) -> TaskID? {
        mayEnd(limits) ? waiting.popFirst() : nil
    }

    /// The end of a task is on its way to the disk.
    mutating func ends(_ id: TaskID) { ending.insert(id) }

    /// A task has ended, whatever for.
    mutating func ended(_ id: TaskID) {
        if !ending.isEmpty { ending.remove(id) }
    }
}
