/// Elements that are found by a number, each in a slot that it keeps until it is removed. Slots are used again.
@usableFromInline
package struct SlotMap<Element: Sendable>: ~Copyable, Sendable {
    @usableFromInline
    var elements = SlotBuffer<Element>()
    @usableFromInline
    var freeSlots = SlotBuffer<Int32>()
    @usableFromInline
    var table = SlotTable()
    /// What a slot holds that is not in use.
    @usableFromInline
    let vacant: Element

    @inlinable
    package init(vacant: Element) {
        self.vacant = vacant
    }

    @inlinable
    package var count: Int { table.count }
    @inlinable
    package var isEmpty: Bool { table.count == 0 }
    /// How many slots there are, vacant ones included.
    @inlinable
    package var slotCount: Int { elements.count }

    @inlinable
    package func slot(of number: UInt64) -> Int? { table.slot(of: number) }

    /// The number of the element in a slot.
    @inlinable
    package func number(of slot: Int) -> UInt64 { table.number(of: slot) }

    @inlinable
    package subscript(slot: Int) -> Element {
        @inline(__always) _read { yield elements[slot] }
        @inline(__always) _modify { yield &elements[slot] }
    }

    /// Adds an element with a number that no other has.
    ///
    /// - Returns: its slot.
    @inlinable
    package mutating func insert(_ element: Element, number: UInt64) -> Int {
        let slot = take(number: number)
        elements[slot] = element
        return slot
    }

    /// Takes out the element in a slot.
    @inlinable
    package mutating func remove(_ slot: Int) {
        free(slot)
        elements[slot] = vacant
    }

    /// Takes a slot into use, and leaves in it what a vacant one holds: who changes that in its place copies no
    /// large element.
    @inlinable
    package mutating func take(number: UInt64) -> Int {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = Int(free)
        } else {
            slot = elements.count
            elements.append(vacant)
        }
        table.insert(number, slot: slot)
        return slot
    }

    /// Takes a slot out of use that holds what a vacant one does.
    @inlinable
    package mutating func free(_ slot: Int) {
        table.remove(slot)
        freeSlots.append(Int32(slot))
    }

    /// Moves all elements together; they have other slots afterwards.
    @inlinable
    package mutating func compact() {
        let old = takeAll()
        for slot in 0..<old.slotCount where old.slot(of: old.number(of: slot)) == slot {
            _ = insert(old[slot], number: old.number(of: slot))
        }
    }

    /// Takes out all elements.
    ///
    /// - Returns: them, in their slots, and the memory.
    @inlinable
    package mutating func takeAll() -> SlotMap {
        let taken = self
        self = SlotMap(vacant: taken.vacant)
        return taken
    }
}
