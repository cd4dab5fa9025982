/// A heap of slots that knows where each slot is: setting and removing a key cost O(log n) and leave nothing behind,
/// and the slot with the lowest key is at hand.
///
/// Each node has four branches: half as high as a heap of two, which counts where there are so many that each step
/// reaches memory that no cache has.
@usableFromInline
package struct IndexedHeap<Key: Comparable & Sendable>: ~Copyable, Sendable {
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
    @usableFromInline
    static var branches: Int { 4 }

    /// Each has a key that is no higher than those below it.
    @usableFromInline
    var nodes = SlotBuffer<Node>()
    /// Where each slot is among the nodes.
    @usableFromInline
    var positions = SlotBuffer<Int32>()

    @inlinable
    package init() {}

    @inlinable
    package var count: Int { nodes.count }

    @inlinable
    package var first: (key: Key, slot: Int)? {
        nodes.isEmpty ? nil : (nodes[0].key, Int(nodes[0].slot))
    }

    /// One of the slots that have a key, from 0 on, in no order that means anything.
    @inlinable
    package func slot(at position: Int) -> Int { Int(nodes[position].slot) }

    /// The key of a slot; `nil` where it has none.
    @inlinable
    package func key(of slot: Int) -> Key? {
        guard contains(slot) else { return nil }
        return nodes[Int(positions[slot])].key
    }

    /// Gives a slot a key, in place of one that it has.
    @inlinable
    package mutating func set(_ key: Key, slot: Int) {
        let node = Node(key: key, slot: Int32(slot))
        if contains(slot) {
            put(node, at: Int(positions[slot]))
        } else {
            while positions.count <= slot { positions.append(IndexedHeap.absent) }
            nodes.append(node)
            rise(node, from: nodes.count - 1)
        }
    }

    /// Takes a slot out, where it is in.
    @inlinable
    package mutating func remove(slot: Int) {
        guard contains(slot) else { return }
        let position = Int(positions[slot])
        positions[slot] = IndexedHeap.absent
        guard let last = nodes.popLast(), position < nodes.count else { return }
        put(last, at: position)
    }

    /// Whether each entry is where it is known to be and no higher than those below it; for tests.
    package var isConsistent: Bool {
        for position in 0..<count {
            let parent = (position - 1) / IndexedHeap.branches
            if position > 0, nodes[position].key < nodes[parent].key { return false }
            if positions[Int(nodes[position].slot)] != Int32(position) { return false }
        }
        var known = 0
        for slot in 0..<positions.count where contains(slot) { known += 1 }
        return known == count
    }

    @inlinable
    func contains(_ slot: Int) -> Bool {
        slot < positions.count && positions[slot] != IndexedHeap.absent
    }

    /// Puts a node in the place of another, and then where it belongs.
    @inlinable
    mutating func put(_ node: Node, at position: Int) {
        if node.key < nodes[position].key {
            rise(node, from: position)
        } else {
            sink(node, from: position)
        }
    }

    @inlinable
    mutating func rise(_ node: Node, from start: Int) {
        var position = start
        while position > 0 {
            let parent = (position &- 1) / IndexedHeap.branches
            guard node.key < nodes[parent].key else { break }
            place(nodes[parent], at: position)
            position = parent
        }
        place(node, at: position)
    }

    @inlinable
    mutating func sink(_ node: Node, from start: Int) {
        var position = start
        while true {
            let child = position &* IndexedHeap.branches &+ 1
            guard child < count else { break }
            let first = lowest(of: child..<min(child &+ IndexedHeap.branches, count))
            guard nodes[first].key < node.key else { break }
            place(nodes[first], at: position)
            position = first
        }
        place(node, at: position)
    }

    @inlinable
    func lowest(of positions: Range<Int>) -> Int {
        var first = positions.lowerBound
        for position in positions where nodes[position].key < nodes[first].key { first = position }
        return first
    }

    @inlinable
    mutating func place(_ node: Node, at position: Int) {
        nodes[position] = node
        positions[Int(node.slot)] = Int32(position)
    }
}
