/// Elements that are found by a number, each in a slot that it keeps until it is removed. Slots are used again.
struct NumberedSlots<Element: Sendable>: ~Copyable, Sendable {
    private var elements = SlotRoom<Element>()
    private var freeSlots = SlotRoom<Int32>()
    private var index = SlotIndex()
    /// What a slot holds that is not in use.
    private let vacant: Element

    init(vacant: Element) {
        self.vacant = vacant
    }

    var count: Int { index.count }
    var isEmpty: Bool { index.count == 0 }
    /// How many slots there are, vacant ones included.
    var slotCount: Int { elements.count }

    func slot(of number: UInt64) -> Int? { index.slot(of: number) }

    /// The number of the element in a slot.
    func number(of slot: Int) -> UInt64 { index.number(of: slot) }

    subscript(slot: Int) -> Element {
        @inline(__always) _read { yield elements[slot] }
        @inline(__always) _modify { yield &elements[slot] }
    }

    /// Adds an element with a number that no other has.
    ///
    /// - Returns: its slot.
    mutating func insert(_ element: Element, number: UInt64) -> Int {
        let slot = take(number: number)
        elements[slot] = element
        return slot
    }

    /// Takes out the element in a slot.
    mutating func remove(_ slot: Int) {
        free(slot)
        elements[slot] = vacant
    }

    /// Takes a slot into use, and leaves in it what a vacant one holds: who changes that in its place copies no
    /// large element.
    mutating func take(number: UInt64) -> Int {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = Int(free)
        } else {
            slot = elements.count
            elements.append(vacant)
        }
        index.insert(number, slot: slot)
        return slot
    }

    /// Takes a slot out of use that holds what a vacant one does.
    mutating func free(_ slot: Int) {
        index.remove(slot)
        freeSlots.append(Int32(slot))
    }

    /// Moves all elements together; they have other slots afterwards.
    mutating func compact() {
        let old = takeAll()
        for slot in 0..<old.slotCount where old.slot(of: old.number(of: slot)) == slot {
            _ = insert(old[slot], number: old.number(of: slot))
        }
    }

    /// Takes out all elements.
    ///
    /// - Returns: them, in their slots, and the memory.
    mutating func takeAll() -> NumberedSlots {
        let taken = self
        self = NumberedSlots(vacant: taken.vacant)
        return taken
    }
}
