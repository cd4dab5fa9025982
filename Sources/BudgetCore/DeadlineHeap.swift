internal import Containers

/// The deadlines of all live tasks, the earliest first.
///
/// Setting and removing one costs O(log n) and leaves nothing behind.
package struct DeadlineHeap: ~Copyable, Sendable {
    private var heap = IndexedHeap<Due<Instant>>()

    package init() {}

    package var count: Int { heap.count }

    package var first: (deadline: Instant, slot: Int)? { heap.first.map { ($0.key.at, $0.slot) } }

    /// One of the slots that have a deadline, from 0 on, in no order that means anything.
    func slot(at position: Int) -> Int { heap.slot(at: position) }

    /// The deadline of a slot; `nil` where it has none.
    func deadline(of slot: Int) -> Instant? { heap.key(of: slot)?.at }

    /// Sets the deadline of a slot; `never` removes it.
    package mutating func set(_ deadline: Instant, id: TaskID, slot: Int) {
        guard deadline != .never else { return heap.remove(slot: slot) }
        heap.set(Due(at: deadline, id: id), slot: slot)
    }

    package mutating func remove(slot: Int) { heap.remove(slot: slot) }

    /// Whether each entry is where it is known to be and no later than those below it; for tests.
    package var isConsistent: Bool { heap.isConsistent }
}

/// The key of what is due: the earliest first, and of equal times the lowest id, so that a seed replays.
struct Due<Time: Comparable & Sendable>: Comparable, Sendable {
    let at: Time
    let id: TaskID

    static func < (lhs: Due, rhs: Due) -> Bool {
        lhs.at != rhs.at ? lhs.at < rhs.at : lhs.id < rhs.id
    }
}
