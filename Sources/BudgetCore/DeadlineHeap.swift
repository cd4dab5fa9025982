/// The deadlines of all live tasks, the earliest first.
///
/// Setting and removing one costs O(log n) and leaves nothing behind.
struct DeadlineHeap: Sendable {
    private var heaps = SlotHeaps<Due<Instant>>()
    private var heap = SlotHeaps<Due<Instant>>.Heap()

    var count: Int { heap.count }
    var first: (deadline: Instant, slot: Int)? { heap.first.map { ($0.key.at, $0.slot) } }

    /// The slots that have a deadline, in no order that means anything.
    var slots: some Sequence<Int> { heap.slots }

    /// The deadline of a slot; `nil` where it has none.
    func deadline(of slot: Int) -> Instant? { heaps.key(of: slot, in: heap)?.at }

    /// Sets the deadline of a slot; `never` removes it.
    mutating func set(_ deadline: Instant, id: TaskID, slot: Int) {
        guard deadline != .never else { return remove(slot: slot) }
        heaps.set(slot, Due(at: deadline, id: id), in: &heap)
    }

    mutating func remove(slot: Int) {
        guard heaps.contains(slot) else { return }
        heaps.remove(slot, from: &heap)
    }

    /// Whether each entry is where it is known to be and no later than its children; for tests.
    var isConsistent: Bool { heaps.isConsistent(heap) }
}
