/// A queue over one array that is compacted in bulk: one end is added to, the other is taken from.
///
/// Both take constant time, and nothing is kept of what was taken.
@usableFromInline
package struct Deque<Element> {
    @usableFromInline
    var elements: [Element?] = []
    /// Where the first one is that has not been taken.
    @usableFromInline
    var head = 0

    /// Places that are kept for those who come next.
    @usableFromInline
    static var capacityKept: Int { 256 }

    @inlinable
    package init() {}

    @inlinable
    package var count: Int { elements.count &- head }

    @inlinable
    package var isEmpty: Bool { count == 0 }

    /// The one that is taken next.
    @inlinable
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// The one that was added last.
    @inlinable
    package var last: Element? { isEmpty ? nil : elements[elements.count &- 1] }

    /// Those that have not been taken, in their order.
    @inlinable
    package var waiting: some Sequence<Element> { elements[head...].lazy.compactMap(\.self) }

    @inlinable
    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    @inlinable
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head &+= 1
        if head == elements.count {
            if head == 1, elements.capacity <= Self.capacityKept {
                elements.removeLast()
            } else {
                elements.removeAll(keepingCapacity: elements.capacity <= Self.capacityKept)
            }
            head = 0
        } else if head >= Self.capacityKept, head >= count {
            elements.removeSubrange(..<head)
            head = 0
        }
        return element
    }

    /// Takes out those of which this is true; takes a time that grows with all of them.
    @inlinable
    package mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        elements = try waiting.filter { try !isRemoved($0) }
        head = 0
    }
}

extension Deque: Sendable where Element: Sendable {}
