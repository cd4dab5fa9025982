import Containers
import TestKit
import Testing

@Suite("Many heaps of slots")
struct SlotHeapsTests {
    @Test(
        "each heap always gives its lowest key, and forgets what is removed",
        arguments: 0..<Effort.choose(30))
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heaps = SlotHeaps<Int>()
        var both = [SlotHeaps<Int>.Heap(), SlotHeaps<Int>.Heap()]
        /// In which heap each slot is, and with which key.
        var plain: [Int: (heap: Int, key: Int)] = [:]
        for _ in 0..<400 {
            let slot = Int.random(in: 0..<60, using: &random)
            if let (heap, _) = plain[slot] {
                heaps.remove(slot, from: &both[heap])
                plain[slot] = nil
            } else {
                let heap = Int.random(in: 0...1, using: &random)
                let key = Int.random(in: 0..<1000, using: &random) * 60 + slot
                heaps.add(slot, key, to: &both[heap])
                plain[slot] = (heap, key)
            }
            for heap in 0...1 {
                let first = plain.filter { $0.value.heap == heap }.min {
                    $0.value.key < $1.value.key
                }
                #expect(both[heap].first?.slot == first?.key)
                #expect(both[heap].first?.key == first?.value.key)
                #expect(both[heap].isInOrder)
            }
        }
    }
}
