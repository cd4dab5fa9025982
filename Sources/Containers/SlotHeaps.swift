/// Many heaps of slots, each slot in at most one of them: adding and removing cost O(log n), and the first
/// one is at hand.
@usableFromInline
package struct SlotHeaps<Key: Comparable & Sendable>: Sendable {
    /// The slots of one heap, the lowest key first.
    @usableFromInline
    package struct Heap: Sendable {
        @usableFromInline
        var nodes: ContiguousArray<Node> = []

        @inlinable
        package init() {}

        @inlinable
        package var isEmpty: Bool { nodes.isEmpty }
        @inlinable
        package var count: Int { nodes.count }
        /// In no order that means anything.
        @inlinable
        package var slots: some Sequence<Int> { nodes.lazy.map { Int($0.slot) } }
        @inlinable
        package var first: (key: Key, slot: Int)? { nodes.first.map { ($0.key, Int($0.slot)) } }

        /// Whether no key is lower than the one above it; for tests.
        package var isInOrder: Bool {
            nodes.indices.allSatisfy { $0 == 0 || nodes[($0 - 1) / 2].key <= nodes[$0].key }
        }
    }

    @usableFromInline
    struct Node: Sendable {
        @usableFromInline
        var key: Key
        @usableFromInline
        var slot: Int32

        @inlinable
        init(key: Key, slot: Int32) {
            (self.key, self.slot) = (key, slot)
        }
    }

    @usableFromInline
    static var absent: Int32 { -1 }

    /// Where each slot is in its heap.
    @usableFromInline
    var positions: ContiguousArray<Int32> = []

    @inlinable
    package init() {}

    /// Whether a slot is in one of the heaps.
    @inlinable
    package func contains(_ slot: Int) -> Bool {
        slot < positions.count && positions[slot] != Self.absent
    }

    /// The key of a slot that is in this heap, or in none.
    @inlinable
    package func key(of slot: Int, in heap: Heap) -> Key? {
        contains(slot) ? heap.nodes[Int(positions[slot])].key : nil
    }

    /// Gives a slot that is in this heap, or in none, a key there.
    @inlinable
    package mutating func set(_ slot: Int, _ key: Key, in heap: inout Heap) {
        guard contains(slot) else { return add(slot, key, to: &heap) }
        put(Node(key: key, slot: Int32(slot)), at: Int(positions[slot]), in: &heap)
    }

    @inlinable
    package mutating func add(_ slot: Int, _ key: Key, to heap: inout Heap) {
        while positions.count <= slot { positions.append(Self.absent) }
        heap.nodes.append(Node(key: key, slot: Int32(slot)))
        rise(from: heap.nodes.count - 1, in: &heap)
    }

    /// Takes a slot out of the heap that it is in, which must be this one.
    @inlinable
    package mutating func remove(_ slot: Int, from heap: inout Heap) {
        let position = Int(positions[slot])
        positions[slot] = Self.absent
        let last = heap.nodes.removeLast()
        if position < heap.nodes.count { put(last, at: position, in: &heap) }
    }

    /// Whether this heap is in order and the slots that are known are just its own; for tests.
    package func isConsistent(_ heap: Heap) -> Bool {
        heap.isInOrder && positions.count { $0 != Self.absent } == heap.count
            && heap.nodes.indices.allSatisfy { positions[Int(heap.nodes[$0].slot)] == Int32($0) }
    }

    @inlinable
    package mutating func releaseMemory() {
        positions = []
    }

    /// Puts a node in the place of another, and then where it belongs.
    @inlinable
    mutating func put(_ node: Node, at position: Int, in heap: inout Heap) {
        let isEarlier = node.key < heap.nodes[position].key
        heap.nodes[position] = node
        if isEarlier {
            rise(from: position, in: &heap)
        } else {
            sink(from: position, in: &heap)
        }
    }

    @inlinable
    mutating func rise(from start: Int, in heap: inout Heap) {
        let node = heap.nodes[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard node.key < heap.nodes[parent].key else { break }
            place(heap.nodes[parent], at: position, in: &heap)
            position = parent
        }
        place(node, at: position, in: &heap)
    }

    @inlinable
    mutating func sink(from start: Int, in heap: inout Heap) {
        let node = heap.nodes[start]
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < heap.nodes.count else { break }
            if child + 1 < heap.nodes.count, heap.nodes[child + 1].key < heap.nodes[child].key {
                child += 1
            }
            guard heap.nodes[child].key < node.key else { break }
            place(heap.nodes[child], at: position, in: &heap)
            position = child
        }
        place(node, at: position, in: &heap)
    }

    @inlinable
    mutating func place(_ node: Node, at position: Int, in heap: inout Heap) {
        heap.nodes[position] = node
        positions[Int(node.slot)] = Int32(position)
    }
}
