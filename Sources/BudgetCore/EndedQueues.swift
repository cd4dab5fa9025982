/// The ids of ended tasks, each owner's in the order of their ends. Adding and removing take a time that grows
/// with the logarithm of the number of owners.
struct EndedQueues: ~Copyable, Sendable {
    private struct Queue: Sendable {
        let owner: OwnerID
        var ids = FirstInFirstOut<TaskID>()

        /// Whether this one has to give before the other: it is longer, or has the older task.
        func goesBefore(_ other: Queue) -> Bool {
            guard ids.count == other.ids.count else { return ids.count > other.ids.count }
            return ids.first ?? .invalid < other.ids.first ?? .invalid
        }
    }

    /// A heap: each queue goes before the two at twice its place plus one and two. None is empty.
    private var heap: ContiguousArray<Queue> = []
    /// Where each owner's queue is in the heap.
    private var places = NumberedSlots<Int>(vacant: -1)
    private(set) var count = 0

    mutating func append(_ id: TaskID, of owner: OwnerID) {
        count += 1
        let place = place(of: owner) ?? addQueue(of: owner)
        heap[place].ids.append(id)
        rise(from: place)
    }

    private mutating func addQueue(of owner: OwnerID) -> Int {
        heap.append(Queue(owner: owner))
        _ = places.insert(heap.count - 1, number: UInt64(owner.rawValue))
        return heap.count - 1
    }

    /// Takes out the oldest of the owner who has most.
    mutating func removeOldest() -> TaskID? {
        guard !heap.isEmpty else { return nil }
        count -= 1
        let id = heap[0].ids.popFirst()
        if heap[0].ids.isEmpty {
            exchange(0, heap.count - 1)
            let owner = heap.removeLast().owner
            if let slot = places.slot(of: UInt64(owner.rawValue)) { places.remove(slot) }
        }
        sink(from: 0)
        return id
    }

    /// Adds the ids of one owner, or of all, that come after one.
    func collect(of owner: OwnerID?, after last: TaskID, into found: inout FirstIdentifiers) {
        if let owner {
            if let place = place(of: owner) { collect(heap[place], after: last, into: &found) }
        } else {
            for queue in heap { collect(queue, after: last, into: &found) }
        }
    }

    private func collect(
        _ queue: Queue, after last: TaskID, into found: inout FirstIdentifiers
    ) {
        for id in queue.ids.waiting where id > last { found.add(id) }
    }

    private mutating func rise(from start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard heap[place].goesBefore(heap[parent]) else { return }
            exchange(place, parent)
            place = parent
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var first = place
            for child in 2 * place + 1...2 * place + 2 where child < heap.count {
                if heap[child].goesBefore(heap[first]) { first = child }
            }
            guard first != place else { return }
            exchange(place, first)
            place = first
        }
    }

    private mutating func exchange(_ one: Int, _ other: Int) {
        guard one != other else { return }
        heap.swapAt(one, other)
        for place in [one, other] {
            guard let slot = places.slot(of: UInt64(heap[place].owner.rawValue)) else { continue }
            places[slot] = place
        }
    }

    private func place(of owner: OwnerID) -> Int? {
        places.slot(of: UInt64(owner.rawValue)).map { places[$0] }
    }
}
