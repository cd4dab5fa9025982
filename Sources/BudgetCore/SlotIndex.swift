/// Which slot a number has: adding, finding and removing one cost O(1), in 4 bytes a cell and 8 bytes a slot.
///
/// A table of slots with open addressing. The numbers are handed out by ourselves or by the kernel, but who holds
/// many tasks chooses which of them stay; so that nobody can have them meet in one cell, a multiplication that is
/// another one in each process spreads them. No order depends on it.
struct SlotIndex: Sendable {
    private static let none: Int32 = -1
    private static let cellsMin = 16
    /// An odd number that the library has drawn for the process, as it does for dictionaries.
    private static let secret = UInt64(bitPattern: Int64(Hasher().finalize())) | 1

    private let multiplier = SlotIndex.secret
    /// The number of each slot.
    private var numbers: ContiguousArray<UInt64> = []
    /// Slots, each in the first free cell from its number's own on; as many cells as a power of two.
    private var cells: ContiguousArray<Int32> = []
    /// How far a spread number is shifted to be that of a cell.
    private var shift: UInt64 = 64
    private(set) var count = 0

    func slot(of number: UInt64) -> Int? {
        guard count > 0 else { return nil }
        var cell = home(of: number)
        while cells[cell] != SlotIndex.none {
            let slot = Int(cells[cell])
            if numbers[slot] == number { return slot }
            cell = next(after: cell)
        }
        return nil
    }

    /// The number of a slot that is in use.
    func number(of slot: Int) -> UInt64 { numbers[slot] }

    /// Gives a slot that is not in use a number that no other has.
    mutating func insert(_ number: UInt64, slot: Int) {
        while numbers.count <= slot { numbers.append(0) }
        numbers[slot] = number
        count += 1
        if count > cells.count / 4 * 3 { resize(to: max(cells.count * 2, SlotIndex.cellsMin)) }
        place(Int32(slot))
    }

    /// Takes a slot out of use.
    mutating func remove(_ slot: Int) {
        var hole = home(of: numbers[slot])
        while cells[hole] != Int32(slot) { hole = next(after: hole) }
        var cell = next(after: hole)
        while cells[cell] != SlotIndex.none {
            // One that stands beyond its own cell closes the hole, unless its own comes after that.
            let home = home(of: numbers[Int(cells[cell])])
            if distance(home, cell) >= distance(hole, cell) {
                cells[hole] = cells[cell]
                hole = cell
            }
            cell = next(after: cell)
        }
        cells[hole] = SlotIndex.none
        count -= 1
        if cells.count > 4 * SlotIndex.cellsMin, count < cells.count / 8 {
            resize(to: cells.count / 4)
        }
    }

    private mutating func resize(to cellCount: Int) {
        let old = cells
        cells = ContiguousArray(repeating: SlotIndex.none, count: cellCount)
        shift = UInt64(64 - cellCount.trailingZeroBitCount)
        for slot in old where slot != SlotIndex.none { place(slot) }
    }

    private mutating func place(_ slot: Int32) {
        var cell = home(of: numbers[Int(slot)])
        while cells[cell] != SlotIndex.none { cell = next(after: cell) }
        cells[cell] = slot
    }

    private func home(of number: UInt64) -> Int {
        Int(truncatingIfNeeded: (number &* multiplier) &>> shift)
    }

    private func next(after cell: Int) -> Int { (cell &+ 1) & (cells.count &- 1) }

    private func distance(_ from: Int, _ to: Int) -> Int { (to &- from) & (cells.count &- 1) }
}
