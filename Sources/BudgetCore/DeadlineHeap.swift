/// The deadlines of all live tasks, the earliest first.
///
/// Setting and removing one costs O(log n) and leaves nothing behind. A heap of four branches: half as high as one of
/// two, which counts where there are so many that each step reaches memory that no cache has.
struct DeadlineHeap: ~Copyable, Sendable {
    struct Node: Sendable {
        var due: Due<Instant>
        var slot: Int32
    }

    private static let absent: Int32 = -1
    private static let branches = 4

    /// Each is due no later than those below it.
    private var nodes = SlotRoom<Node>()
    /// Where each slot is among the nodes.
    private var positions = SlotRoom<Int32>()

    var count: Int { nodes.count }

    var first: (deadline: Instant, slot: Int)? {
        nodes.isEmpty ? nil : (nodes[0].due.at, Int(nodes[0].slot))
    }

    /// One of the slots that have a deadline, from 0 on, in no order that means anything.
    func slot(at position: Int) -> Int { Int(nodes[position].slot) }

    /// The deadline of a slot; `nil` where it has none.
    func deadline(of slot: Int) -> Instant? {
        guard contains(slot) else { return nil }
        return nodes[Int(positions[slot])].due.at
    }

    /// Sets the deadline of a slot; `never` removes it.
    mutating func set(_ deadline: Instant, id: TaskID, slot: Int) {
        guard deadline != .never else { return remove(slot: slot) }
        let node = Node(due: Due(at: deadline, id: id), slot: Int32(slot))
        if contains(slot) {
            put(node, at: Int(positions[slot]))
        } else {
            while positions.count <= slot { positions.append(DeadlineHeap.absent) }
            nodes.append(node)
            rise(node, from: nodes.count - 1)
        }
    }

    mutating func remove(slot: Int) {
        guard contains(slot) else { return }
        let position = Int(positions[slot])
        positions[slot] = DeadlineHeap.absent
        guard let last = nodes.popLast(), position < nodes.count else { return }
        put(last, at: position)
    }

    /// Whether each entry is where it is known to be and no later than those below it; for tests.
    var isConsistent: Bool {
        for position in 0..<count {
            let parent = (position - 1) / DeadlineHeap.branches
            if position > 0, nodes[position].due < nodes[parent].due { return false }
            if positions[Int(nodes[position].slot)] != Int32(position) { return false }
        }
        var known = 0
        for slot in 0..<positions.count where contains(slot) { known += 1 }
        return known == count
    }

    private func contains(_ slot: Int) -> Bool {
        slot < positions.count && positions[slot] != DeadlineHeap.absent
    }

    /// Puts a node in the place of another, and then where it belongs.
    private mutating func put(_ node: Node, at position: Int) {
        if node.due < nodes[position].due {
            rise(node, from: position)
        } else {
            sink(node, from: position)
        }
    }

    private mutating func rise(_ node: Node, from start: Int) {
        var position = start
        while position > 0 {
            let parent = (position &- 1) / DeadlineHeap.branches
            guard node.due < nodes[parent].due else { break }
            place(nodes[parent], at: position)
            position = parent
        }
        place(node, at: position)
    }

    private mutating func sink(_ node: Node, from start: Int) {
        var position = start
        while true {
            let child = position &* DeadlineHeap.branches &+ 1
            guard child < count else { break }
            let first = earliest(of: child..<min(child &+ DeadlineHeap.branches, count))
            guard nodes[first].due < node.due else { break }
            place(nodes[first], at: position)
            position = first
        }
        place(node, at: position)
    }

    private func earliest(of positions: Range<Int>) -> Int {
        var first = positions.lowerBound
        for position in positions where nodes[position].due < nodes[first].due { first = position }
        return first
    }

    private mutating func place(_ node: Node, at position: Int) {
        nodes[position] = node
        positions[Int(node.slot)] = Int32(position)
    }
}
