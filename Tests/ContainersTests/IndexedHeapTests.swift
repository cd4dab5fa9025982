import Containers
import TestKit
import Testing

@Suite("A heap that knows where each slot is")
struct IndexedHeapTests {
    @Test("it gives the lowest key, and forgets what is removed", arguments: 0..<Effort.choose(30))
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = IndexedHeap<Int>()
        var plain: [Int: Int] = [:]
        for _ in 0..<400 {
            let slot = Int.random(in: 0..<60, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                heap.remove(slot: slot)
                plain[slot] = nil
            } else {
                let key = Int.random(in: 0..<1000, using: &random) * 60 + slot
                heap.set(key, slot: slot)
                plain[slot] = key
            }
            let lowest = plain.min { $0.value < $1.value }
            let isSame =
                heap.first?.slot == lowest?.key && heap.first?.key == lowest?.value
                && heap.key(of: slot) == plain[slot] && heap.count == plain.count
            if !isSame || !heap.isConsistent { Issue.record("seed \(seed)") }
        }
        let slots = (0..<plain.count).map { heap.slot(at: $0) }
        #expect(slots.sorted() == plain.keys.sorted(), "seed \(seed)")
    }
}
