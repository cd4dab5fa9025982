/// Which slot a number has: adding, finding and removing one cost O(1), in 8 bytes a cell and 8 bytes a slot.
///
/// A table of slots with open addressing. The numbers are handed out by ourselves or by the kernel, but who holds
/// many tasks chooses which of them stay; so that nobody can have them meet in one cell, a multiplication that is
/// another one in each process spreads them. Four that follow one another stay together, since who comes one after
/// another is looked for one after another, and memory comes in lines.
///
/// The multiplier is drawn from `Hasher`. No order depends on it: it decides where a number is looked for, and
/// nobody walks the cells, so that a seed replays in every process.
@usableFromInline
package struct SlotTable: ~Copyable, Sendable {
    /// A slot, below 32 bits of its number when spread: where the slot belongs, and mostly also that it is not the
    /// one that is looked for, is known without looking at its number, which lies elsewhere.
    @usableFromInline
    typealias Cell = UInt64

    @usableFromInline
    static var none: Cell { Cell.max }
    @usableFromInline
    static var cellsMin: Int { 16 }
    /// All of a spread number's upper half but its two lowest bits.
    @usableFromInline
    static var placeBits: UInt64 { 0xFFFF_FFFC_0000_0000 }
    private static let multiplier = drawMultiplier()
    private static let termMax: UInt64 = 8

    @usableFromInline
    let multiplier = SlotTable.multiplier
    /// The number of each slot.
    @usableFromInline
    var numbers = SlotBuffer<UInt64>()
    /// Slots, each in the first free cell from its number's own on; as many cells as a power of two.
    @usableFromInline
    var cells = SlotBuffer<Cell>()
    /// How far a spread number is shifted to be that of four cells.
    @usableFromInline
    var shift: UInt64 = 62
    @usableFromInline
    package var count = 0

    package init() {}

    @inlinable
    package func slot(of number: UInt64) -> Int? {
        guard count > 0 else { return nil }
        let spread = spread(number)
        var cell = home(of: spread)
        while cells[within: cell] != SlotTable.none {
            if cells[within: cell] &>> 32 == spread &>> 32 {
                let slot = slot(in: cell)
                if numbers[slot] == number { return slot }
            }
            cell = next(after: cell)
        }
        return nil
    }

    /// The number of a slot that is in use.
    @inlinable
    package func number(of slot: Int) -> UInt64 { numbers[slot] }

    /// Gives a slot that is not in use a number that no other has.
    @inlinable
    package mutating func insert(_ number: UInt64, slot: Int) {
        while numbers.count <= slot { numbers.append(0) }
        numbers[slot] = number
        count &+= 1
        if count > cells.count / 4 * 3 { resize(to: max(cells.count * 2, SlotTable.cellsMin)) }
        place(spread(number) | Cell(UInt32(truncatingIfNeeded: slot)))
    }

    /// Takes a slot out of use, which has to be in use.
    @inlinable
    package mutating func remove(_ slot: Int) {
        precondition(count > 0, "a table has a slot")
        var hole = home(of: spread(numbers[slot]))
        while self.slot(in: hole) != slot { hole = next(after: hole) }
        var cell = next(after: hole)
        while cells[within: cell] != SlotTable.none {
            // One that stands beyond its own cell closes the hole, unless its own comes after that.
            if distance(home(of: cells[within: cell]), cell) >= distance(hole, cell) {
                cells[within: hole] = cells[within: cell]
                hole = cell
            }
            cell = next(after: cell)
        }
        cells[within: hole] = SlotTable.none
        count &-= 1
        if cells.count > 4 * SlotTable.cellsMin, count < cells.count / 8 {
            resize(to: cells.count / 4)
        }
    }

    @usableFromInline
    mutating func resize(to cellCount: Int) {
        let old = exchange(&cells, with: SlotBuffer(repeating: SlotTable.none, count: cellCount))
        shift = UInt64(66 - cellCount.trailingZeroBitCount)
        for cell in 0..<old.count where old[cell] != SlotTable.none { place(old[cell]) }
    }

    @inlinable
    mutating func place(_ occupied: Cell) {
        var cell = home(of: occupied)
        while cells[within: cell] != SlotTable.none { cell = next(after: cell) }
        cells[within: cell] = occupied
    }

    @inlinable
    func slot(in cell: Int) -> Int {
        Int(truncatingIfNeeded: cells[within: cell] & 0xFFFF_FFFF)
    }

    /// A number in 32 bits, above those of a slot: where its four belong, and which of them it is.
    @inlinable
    func spread(_ number: UInt64) -> UInt64 {
        ((number &>> 2) &* multiplier) & SlotTable.placeBits | (number & 3) &<< 32
    }

    @inlinable
    func home(of spread: UInt64) -> Int {
        Int(truncatingIfNeeded: (spread &>> shift) &<< 2 | (spread &>> 32) & 3)
    }

    @inlinable
    func next(after cell: Int) -> Int { (cell &+ 1) & (cells.count &- 1) }

    @inlinable
    func distance(_ from: Int, _ to: Int) -> Int { (to &- from) & (cells.count &- 1) }

    /// An odd number that the library draws for the process, as it does for dictionaries, of those by which
    /// consecutive numbers are spread evenly: with others they lie in heaps, which costs several times as much.
    private static func drawMultiplier() -> UInt64 {
        for draw in 0..<10_000 {
            var hasher = Hasher()
            hasher.combine(draw)
            let drawn = UInt64(bitPattern: Int64(hasher.finalize())) | 1
            if spreadsEvenly(drawn) { return drawn }
        }
        // The golden ratio, which spreads best; one of fifty does well enough, so that this is never reached.
        return 0x9E37_79B9_7F4A_7C15
    }

    /// Whether all of the first terms of its continued fraction, as a part of 2^64, are small: then no two of its
    /// multiples are much closer to each other than others (the three-distance theorem).
    private static func spreadsEvenly(_ multiplier: UInt64) -> Bool {
        var term = UInt64.max / multiplier
        var (larger, smaller) = (multiplier, 0 &- term &* multiplier)
        var denominator = (before: UInt64(1), last: term)
        while term <= termMax, denominator.last < 1 << 28, smaller > 0 {
            term = larger / smaller
            (larger, smaller) = (smaller, larger % smaller)
            denominator = (denominator.last, term &* denominator.last &+ denominator.before)
        }
        return term <= termMax
    }
}
