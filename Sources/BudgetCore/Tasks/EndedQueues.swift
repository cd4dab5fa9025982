internal import Containers

/// The ids of ended tasks, each account's in the order of their ends. Adding and removing take a time that grows
/// with the logarithm of the number of accounts, on average: what is removed before its turn leaves a tombstone.
struct EndedQueues: ~Copyable, Sendable {
    private struct Entry: Sendable {
        let id: TaskID
        let owner: OwnerID
    }

    /// What counts for one account.
    private struct Queue: Sendable {
        let account: OwnerID
        /// The first of them is no tombstone.
        var entries = Deque<Entry>()
        var tombstoneCount = 0

        var liveCount: Int { entries.count - tombstoneCount }

        /// Whether this one has to give before the other: it is longer, or has the older task.
        func goesBefore(_ other: Queue) -> Bool {
            let count = (liveCount, other.liveCount)
            guard count.0 == count.1 else { return count.0 > count.1 }
            return entries.first?.id ?? .invalid < other.entries.first?.id ?? .invalid
        }
    }

    /// A heap: each queue goes before the two at twice its place plus one and two. None is empty.
    private var heap: ContiguousArray<Queue> = []
    /// Where each account's queue is in the heap.
    private var places = SlotMap<Int>(vacant: -1)
    /// Owners some of whose ids count for another, and how many do. They stay with that one until none is left, so
    /// that they are found when who counts as whom has changed.
    private var payers: [OwnerID: (account: OwnerID, count: Int)] = [:]
    /// What was removed and has an entry still.
    private var tombstones: Set<TaskID> = []
    private(set) var count = 0

    /// Tombstones of an account that are left, beside as many as it has entries.
    private static let tombstonesKept = 256

    /// - Parameter account: whom what the owner has counts for.
    /// - Returns: for whom it is counted.
    mutating func append(_ id: TaskID, of owner: OwnerID, account: OwnerID) -> OwnerID {
        count += 1
        var payer = owner
        if account != owner || !payers.isEmpty {
            payer = payers[owner]?.account ?? account
            if payer != owner { payers[owner, default: (payer, 0)].count += 1 }
        }
        let place = place(of: payer) ?? addQueue(of: payer)
        heap[place].entries.append(Entry(id: id, owner: owner))
        rise(from: place)
        return payer
    }

    private mutating func addQueue(of account: OwnerID) -> Int {
        heap.append(Queue(account: account))
        _ = places.insert(heap.count - 1, number: UInt64(account.rawValue))
        return heap.count - 1
    }

    /// Takes out the oldest of the account that has most.
    mutating func removeOldest() -> TaskID? {
        guard !heap.isEmpty else { return nil }
        count -= 1
        let (entry, account) = (heap[0].entries.popFirst(), heap[0].account)
        if let owner = entry?.owner, owner != account { discount(owner) }
        takeTombstones(at: 0)
        if heap[0].entries.isEmpty { removeQueue(at: 0) } else { sink(from: 0) }
        return entry?.id
    }

    /// Takes out one, whose turn it may not be.
    ///
    /// - Parameter account: for whom it is counted.
    mutating func remove(_ id: TaskID, of owner: OwnerID, account: OwnerID) {
        guard let place = place(of: account), tombstones.insert(id).inserted else { return }
        count -= 1
        heap[place].tombstoneCount += 1
        if owner != account { discount(owner) }
        takeTombstones(at: place)
        if heap[place].entries.isEmpty { removeQueue(at: place) } else { settle(place) }
    }

    /// Lets an account's entries begin with one that is there, and have not many more tombstones than others.
    private mutating func takeTombstones(at place: Int) {
        while heap[place].tombstoneCount > 0, let first = heap[place].entries.first,
            tombstones.remove(first.id) != nil
        {
            _ = heap[place].entries.popFirst()
            heap[place].tombstoneCount -= 1
        }
        guard heap[place].tombstoneCount > heap[place].liveCount + EndedQueues.tombstonesKept
        else { return }
        var left = tombstones
        heap[place].entries.removeAll { left.remove($0.id) != nil }
        tombstones = left
        heap[place].tombstoneCount = 0
    }

    private mutating func removeQueue(at place: Int) {
        let account = heap[place].account
        exchange(place, heap.count - 1)
        heap.removeLast()
        if let slot = places.slot(of: UInt64(account.rawValue)) { places.remove(slot) }
        if place < heap.count { settle(place) }
    }

    /// Puts a queue that is another now where it belongs.
    private mutating func settle(_ place: Int) {
        rise(from: place)
        sink(from: place)
    }

    private mutating func discount(_ owner: OwnerID) {
        payers[owner]?.count -= 1
        if payers[owner]?.count == 0 { payers[owner] = nil }
    }

    /// Adds the ids of one owner, or of all, that come after one.
    func collect(of owner: OwnerID?, after last: TaskID, into found: inout FirstIdentifiers) {
        guard let owner else {
            for queue in heap { collect(queue, of: nil, after: last, into: &found) }
            return
        }
        for account in [owner, payers[owner]?.account] {
            guard let account, let place = place(of: account) else { continue }
            collect(heap[place], of: owner, after: last, into: &found)
        }
    }

    private func collect(
        _ queue: Queue, of owner: OwnerID?, after last: TaskID, into found: inout FirstIdentifiers
    ) {
        for entry in queue.entries.waiting where entry.id > last {
            if queue.tombstoneCount > 0, tombstones.contains(entry.id) { continue }
            if let owner, entry.owner != owner { continue }
            found.add(entry.id)
        }
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
            guard let slot = places.slot(of: UInt64(heap[place].account.rawValue)) else { continue }
            places[slot] = place
        }
    }

    private func place(of account: OwnerID) -> Int? {
        places.slot(of: UInt64(account.rawValue)).map { places[$0] }
    }
}
