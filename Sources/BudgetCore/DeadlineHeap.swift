/// The deadlines of all live tasks, the earliest first.
///
/// A binary heap that knows where each slot's entry is, so that removing one costs O(log n) and leaves
/// nothing behind. Equal deadlines come out in the order of their ids, so that a seed replays.
struct DeadlineHeap: Sendable {
    private struct Node {
        var deadline: Instant
        var id: TaskID
        var slot: Int32

        func isBefore(_ other: Node) -> Bool {
            deadline != other.deadline ? deadline < other.deadline : id < other.id
        }
    }

    private static let absent: Int32 = -1

    private var nodes: ContiguousArray<Node> = []
    /// Where the entry of a slot is among `nodes`.
    private var positions: ContiguousArray<Int32> = []

    var count: Int { nodes.count }
    var first: (deadline: Instant, slot: Int)? {
        nodes.first.map { ($0.deadline, Int($0.slot)) }
    }

    /// Sets the deadline of a slot; `never` removes it.
    mutating func set(_ deadline: Instant, id: TaskID, slot: Int) {
        guard deadline != .never else { return remove(slot: slot) }
        while positions.count <= slot { positions.append(DeadlineHeap.absent) }
        let node = Node(deadline: deadline, id: id, slot: Int32(slot))
        let position = Int(positions[slot])
        if position >= 0 {
            nodes[position] = node
            restore(at: position)
        } else {
            nodes.append(node)
            positions[slot] = Int32(nodes.count - 1)
            siftUp(from: nodes.count - 1)
        }
    }

    mutating func remove(slot: Int) {
        guard slot < positions.count, positions[slot] >= 0 else { return }
        let position = Int(positions[slot])
        positions[slot] = DeadlineHeap.absent
        let last = nodes.removeLast()
        guard position < nodes.count else { return }
        place(last, at: position)
        restore(at: position)
    }

    /// Gives the memory of past deadlines back; only while there are none.
    mutating func releaseMemory() {
        guard nodes.isEmpty else { return }
        nodes = []
        positions = []
    }

    /// Whether each entry is where `positions` says and no later than its children; for tests.
    var isConsistent: Bool {
        nodes.indices.allSatisfy { index in
            let isInOrder = index == 0 || !nodes[index].isBefore(nodes[(index - 1) / 2])
            return isInOrder && positions[Int(nodes[index].slot)] == Int32(index)
        } && positions.count { $0 >= 0 } == nodes.count
    }

    private mutating func place(_ node: Node, at position: Int) {
        nodes[position] = node
        positions[Int(node.slot)] = Int32(position)
    }

    private mutating func restore(at position: Int) {
        if position > 0, nodes[position].isBefore(nodes[(position - 1) / 2]) {
            siftUp(from: position)
        } else {
            siftDown(from: position)
        }
    }

    private mutating func siftUp(from start: Int) {
        let node = nodes[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard node.isBefore(nodes[parent]) else { break }
            place(nodes[parent], at: position)
            position = parent
        }
        place(node, at: position)
    }

    private mutating func siftDown(from start: Int) {
        let node = nodes[start]
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < nodes.count else { break }
            if child + 1 < nodes.count, nodes[child + 1].isBefore(nodes[child]) { child += 1 }
            guard nodes[child].isBefore(node) else { break }
            place(nodes[child], at: position)
            position = child
        }
        place(node, at: position)
    }
}
