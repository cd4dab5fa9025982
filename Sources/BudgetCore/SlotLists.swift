/// Many lists of slots, each slot in at most one of them: appending and removing cost O(1).
struct SlotLists: Sendable {
    /// The ends of one list.
    struct List: Sendable, Equatable {
        fileprivate(set) var first: Int32 = SlotLists.none
        fileprivate(set) var last: Int32 = SlotLists.none

        var isEmpty: Bool { first == SlotLists.none }
        var firstSlot: Int? { isEmpty ? nil : Int(first) }
    }

    private struct Links {
        var previous = SlotLists.none
        var next = SlotLists.none
    }

    fileprivate static let none: Int32 = -1

    private var links: ContiguousArray<Links> = []

    mutating func append(_ slot: Int, to list: inout List) {
        while links.count <= slot { links.append(Links()) }
        links[slot] = Links(previous: list.last, next: SlotLists.none)
        if list.isEmpty {
            list.first = Int32(slot)
        } else {
            links[Int(list.last)].next = Int32(slot)
        }
        list.last = Int32(slot)
    }

    /// Takes a slot out of the list that it is in, which must be this one.
    mutating func remove(_ slot: Int, from list: inout List) {
        let link = links[slot]
        if link.previous == SlotLists.none {
            list.first = link.next
        } else {
            links[Int(link.previous)].next = link.next
        }
        if link.next == SlotLists.none {
            list.last = link.previous
        } else {
            links[Int(link.next)].previous = link.previous
        }
        links[slot] = Links()
    }

    func next(after slot: Int) -> Int? {
        let next = links[slot].next
        return next == SlotLists.none ? nil : Int(next)
    }
}
