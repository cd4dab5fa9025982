/// Many lists of slots, of a few kinds: each slot is in at most one list of each kind. Appending and removing cost
/// O(1), and the links of a slot lie together, whatever list they are of.
@usableFromInline
package struct SlotLists<Kind: SlotListKind>: ~Copyable, Sendable {
    /// The ends of one list.
    @usableFromInline
    package struct List: Sendable, Equatable {
        @usableFromInline
        let kind: Kind
        @usableFromInline
        var first = SlotLinks.none
        @usableFromInline
        var last = SlotLinks.none

        @inlinable
        package init(_ kind: Kind) {
            self.kind = kind
        }

        @inlinable
        package var isEmpty: Bool { first == SlotLinks.none }
        @inlinable
        package var firstSlot: Int? { isEmpty ? nil : Int(first) }
    }

    /// Those of a slot one after another, by their kinds.
    @usableFromInline
    var links = SlotBuffer<SlotLinks>()

    @inlinable
    package init() {}

    @inlinable
    @inline(__always)
    package mutating func append(_ slot: Int, to list: inout List) {
        let place = place(of: slot, list.kind)
        while links.count <= place { links.append(SlotLinks()) }
        links[place] = SlotLinks(previous: list.last, next: SlotLinks.none)
        if list.isEmpty {
            list.first = Int32(slot)
        } else {
            links[self.place(of: Int(list.last), list.kind)].next = Int32(slot)
        }
        list.last = Int32(slot)
    }

    /// Takes a slot out of the list that it is in, which must be this one.
    @inlinable
    @inline(__always)
    package mutating func remove(_ slot: Int, from list: inout List) {
        let place = place(of: slot, list.kind)
        let link = links[place]
        if link.previous == SlotLinks.none {
            list.first = link.next
        } else {
            links[self.place(of: Int(link.previous), list.kind)].next = link.next
        }
        if link.next == SlotLinks.none {
            list.last = link.previous
        } else {
            links[self.place(of: Int(link.next), list.kind)].previous = link.previous
        }
        links[place] = SlotLinks()
    }

    /// The slot after another in the list of a kind that it is in.
    @inlinable
    package func next(after slot: Int, _ kind: Kind) -> Int? {
        let next = links[place(of: slot, kind)].next
        return next == SlotLinks.none ? nil : Int(next)
    }

    @inlinable
    func place(of slot: Int, _ kind: Kind) -> Int { slot &* Kind.count &+ kind.place }
}

/// Which lists there are that a slot can be in at the same time.
@usableFromInline
package protocol SlotListKind: Sendable, Equatable {
    /// How many kinds there are.
    static var count: Int { get }
    /// Another one for each kind, from 0 on and below `count`.
    var place: Int { get }
}

/// Who is before and after a slot in one list.
@usableFromInline
struct SlotLinks: Sendable {
    @usableFromInline
    static var none: Int32 { -1 }

    @usableFromInline
    var previous: Int32
    @usableFromInline
    var next: Int32

    @inlinable
    init(previous: Int32 = SlotLinks.none, next: Int32 = SlotLinks.none) {
        (self.previous, self.next) = (previous, next)
    }
}
