/// Many lists of slots, of a few kinds: each slot is in at most one list of each kind. Appending and removing cost
/// O(1), and the links of a slot lie together, whatever list they are of.
struct SlotLists: ~Copyable, Sendable {
    /// Whose tasks a list has.
    enum Kind: Int32, CaseIterable, Sendable {
        case everybody, owner, holder
    }

    /// The ends of one list.
    struct List: Sendable, Equatable {
        let kind: Kind
        fileprivate(set) var first: Int32 = SlotLists.none
        fileprivate(set) var last: Int32 = SlotLists.none

        init(_ kind: Kind) {
            self.kind = kind
        }

        var isEmpty: Bool { first == SlotLists.none }
        var firstSlot: Int? { isEmpty ? nil : Int(first) }
    }

    struct Links {
        var previous = SlotLists.none
        var next = SlotLists.none
    }

    fileprivate static let none: Int32 = -1
    private static let kindCount = 3

    /// Those of a slot one after another, by their kinds.
    private var links = SlotRoom<Links>()

    @inline(__always)
    mutating func append(_ slot: Int, to list: inout List) {
        let place = place(of: slot, list.kind)
        while links.count <= place { links.append(Links()) }
        links[place] = Links(previous: list.last, next: SlotLists.none)
        if list.isEmpty {
            list.first = Int32(slot)
        } else {
            links[self.place(of: Int(list.last), list.kind)].next = Int32(slot)
        }
        list.last = Int32(slot)
    }

    /// Takes a slot out of the list that it is in, which must be this one.
    @inline(__always)
    mutating func remove(_ slot: Int, from list: inout List) {
        let place = place(of: slot, list.kind)
        let link = links[place]
        if link.previous == SlotLists.none {
            list.first = link.next
        } else {
            links[self.place(of: Int(link.previous), list.kind)].next = link.next
        }
        if link.next == SlotLists.none {
            list.last = link.previous
        } else {
            links[self.place(of: Int(link.next), list.kind)].previous = link.previous
        }
        links[place] = Links()
    }

    /// The slot after another in the list of a kind that it is in.
    func next(after slot: Int, _ kind: Kind) -> Int? {
        let next = links[place(of: slot, kind)].next
        return next == SlotLists.none ? nil : Int(next)
    }

    private func place(of slot: Int, _ kind: Kind) -> Int {
        slot &* SlotLists.kindCount &+ Int(kind.rawValue)
    }
}
