/// Elements that are found by a number, each in a slot that it keeps until it is removed. Slots are used again.
struct NumberedSlots<Element: Sendable>: Sendable {
    private var elements: ContiguousArray<Element> = []
    private var freeSlots: ContiguousArray<Int32> = []
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
        _read { yield elements[slot] }
        _modify { yield &elements[slot] }
    }

    /// Adds an element with a number that no other has.
    ///
    /// - Returns: its slot.
    mutating func insert(_ element: consuming Element, number: UInt64) -> Int {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = Int(free)
            elements[slot] = element
        } else {
            slot = elements.count
            elements.append(element)
        }
        index.insert(number, slot: slot)
        return slot
    }

    /// Takes out the element in a slot.
    mutating func remove(_ slot: Int) {
        index.remove(slot)
        freeSlots.append(Int32(slot))
        elements[slot] = vacant
    }

    /// Moves all elements together; they have other slots afterwards.
    mutating func compact() {
        let old = self
        removeAll()
        for slot in 0..<old.slotCount where old.slot(of: old.number(of: slot)) == slot {
            _ = insert(old[slot], number: old.number(of: slot))
        }
    }

    /// Takes out all elements, and gives their memory back.
    mutating func removeAll() {
        elements = []
        freeSlots = []
        index = SlotIndex()
    }
}
