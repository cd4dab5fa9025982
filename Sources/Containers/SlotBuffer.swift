/// Elements by their slots, in memory that this alone owns. Nobody can copy it, so that who changes an element need
/// not find out first whether somebody else has the same memory, as an array has to for each change.
@usableFromInline
// The memory has one owner, and is touched only through it.
package struct SlotBuffer<Element: Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline
    var elements: UnsafeMutablePointer<Element>
    @usableFromInline
    var capacity: Int
    @usableFromInline
    package var count: Int

    @usableFromInline
    static var capacityMin: Int { 16 }

    @inlinable
    package init() {
        elements = SlotBuffer.allocate(0)
        (capacity, count) = (0, 0)
    }

    /// - Parameter repeated: what each of the slots has.
    @inlinable
    package init(repeating repeated: Element, count: Int) {
        elements = SlotBuffer.allocate(count)
        elements.initialize(repeating: repeated, count: count)
        capacity = count
        self.count = count
    }

    @inlinable
    deinit {
        elements.deinitialize(count: count)
        elements.deallocate()
    }

    @inlinable
    package var isEmpty: Bool { count == 0 }

    @inlinable
    package subscript(slot: Int) -> Element {
        @inline(__always) _read {
            precondition(UInt(bitPattern: slot) < UInt(bitPattern: count), "no such slot")
            yield elements[slot]
        }
        @inline(__always) _modify {
            precondition(UInt(bitPattern: slot) < UInt(bitPattern: count), "no such slot")
            yield &elements[slot]
        }
    }

    /// The same for who has made sure that there is such a slot, by a mask for instance: nobody looks again.
    @inlinable
    package subscript(within slot: Int) -> Element {
        @inline(__always) _read {
            assert(UInt(bitPattern: slot) < UInt(bitPattern: count))
            yield elements[slot]
        }
        @inline(__always) _modify {
            assert(UInt(bitPattern: slot) < UInt(bitPattern: count))
            yield &elements[slot]
        }
    }

    @inlinable
    @inline(__always)
    package mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        (elements + count).initialize(to: element)
        count &+= 1
    }

    /// Takes out the last element.
    @inlinable
    @inline(__always)
    package mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count &-= 1
        return (elements + count).move()
    }

    @inlinable
    @inline(never)
    mutating func grow() {
        let room = Swift.max(capacity * 2, SlotBuffer.capacityMin)
        let larger = SlotBuffer.allocate(room)
        larger.moveInitialize(from: elements, count: count)
        elements.deallocate()
        (elements, capacity) = (larger, room)
    }

    @inlinable
    static func allocate(_ count: Int) -> UnsafeMutablePointer<Element> {
        UnsafeMutablePointer.allocate(capacity: count)
    }
}
