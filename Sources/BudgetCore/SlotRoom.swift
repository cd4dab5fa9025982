/// Elements by their slots, in memory that this alone owns. Nobody can copy it, so that who changes an element need
/// not find out first whether somebody else has the same memory, as an array has to for each change.
///
/// `@unchecked Sendable`: the memory has one owner, and is touched only through it.
struct SlotRoom<Element: Sendable>: ~Copyable, @unchecked Sendable {
    private var elements: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count: Int

    private static var capacityMin: Int { 16 }

    init() {
        elements = SlotRoom.allocate(0)
        (capacity, count) = (0, 0)
    }

    /// - Parameter repeated: what each of the slots has.
    init(repeating repeated: Element, count: Int) {
        elements = SlotRoom.allocate(count)
        elements.initialize(repeating: repeated, count: count)
        capacity = count
        self.count = count
    }

    deinit {
        elements.deinitialize(count: count)
        elements.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    subscript(slot: Int) -> Element {
        @inline(__always) _read {
            precondition(UInt(bitPattern: slot) < UInt(bitPattern: count))
            yield elements[slot]
        }
        @inline(__always) _modify {
            precondition(UInt(bitPattern: slot) < UInt(bitPattern: count))
            yield &elements[slot]
        }
    }

    /// The same for who has made sure that there is such a slot, by a mask for instance: nobody looks again.
    subscript(within slot: Int) -> Element {
        @inline(__always) _read {
            assert(UInt(bitPattern: slot) < UInt(bitPattern: count))
            yield elements[slot]
        }
        @inline(__always) _modify {
            assert(UInt(bitPattern: slot) < UInt(bitPattern: count))
            yield &elements[slot]
        }
    }

    @inline(__always)
    mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        (elements + count).initialize(to: element)
        count &+= 1
    }

    /// Takes out the last element.
    @inline(__always)
    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count &-= 1
        return (elements + count).move()
    }

    @inline(never)
    private mutating func grow() {
        let room = Swift.max(capacity * 2, SlotRoom.capacityMin)
        let larger = SlotRoom.allocate(room)
        larger.moveInitialize(from: elements, count: count)
        elements.deallocate()
        (elements, capacity) = (larger, room)
    }

    private static func allocate(_ count: Int) -> UnsafeMutablePointer<Element> {
        UnsafeMutablePointer.allocate(capacity: count)
    }
}
