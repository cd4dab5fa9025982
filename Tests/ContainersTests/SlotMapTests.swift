import Containers
import TestKit
import Testing

@Suite("Slots that are found by a number")
struct SlotMapTests {
    @Test(
        "they are found as in a dictionary, whatever is added and removed",
        arguments: 0..<Effort.choose(40))
    func agreesWithDictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var slots = SlotMap(vacant: -1)
        var expected: [UInt64: (slot: Int, element: Int)] = [:]
        var last: UInt64 = 0
        for step in 0..<3000 {
            // It fills up, and is emptied again.
            let isFilling = step % 1000 < 600
            if Int.random(in: 0..<10, using: &random) < (isFilling ? 8 : 2) {
                last += seed % 2 == 0 ? 1 : UInt64.random(in: 1...(1 << 40), using: &random)
                expected[last] = (slots.insert(step, number: last), step)
            } else if let number = expected.keys.sorted().randomElement(using: &random) {
                let removed = expected.removeValue(forKey: number)
                #expect(slots.slot(of: number) == removed?.slot, "seed \(seed)")
                if let removed { slots.remove(removed.slot) }
                #expect(slots.slot(of: number) == nil, "seed \(seed)")
            }
            if seed % 3 == 0, step % 100 == 99 {
                slots.compact()
                for number in expected.keys {
                    expected[number]?.slot = slots.slot(of: number) ?? -1
                }
                #expect(slots.slotCount == expected.count, "seed \(seed)")
            }
            guard step % 50 == 0 else { continue }
            #expect(slots.count == expected.count, "seed \(seed)")
            let isSame = expected.allSatisfy { number, known in
                slots.slot(of: number) == known.slot && slots[known.slot] == known.element
                    && slots.number(of: known.slot) == number
            }
            #expect(isSame, "seed \(seed), step \(step)")
            #expect(slots.slot(of: last + 1) == nil && slots.slot(of: 0) == nil)
        }
    }

    @Test("nothing is left of many once all are removed")
    func memoryIsGivenBack() {
        var slots = SlotMap(vacant: 0)
        for number in 1...10_000 { _ = slots.insert(number, number: UInt64(number)) }
        for number in 1...10_000 {
            if let slot = slots.slot(of: UInt64(number)) { slots.remove(slot) }
        }
        #expect(slots.isEmpty && slots.slotCount == 10_000)
        _ = slots.takeAll()
        #expect(slots.slotCount == 0 && slots.slot(of: 1) == nil)
        #expect(slots.insert(5, number: 1) == 0)
    }
}
