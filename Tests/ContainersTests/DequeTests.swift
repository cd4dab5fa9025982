import Containers
import TestKit
import Testing

@Suite("Queues over one array")
struct DequeTests {
    @Test("what is taken is what a plain list gives, also of thousands", arguments: 0..<4)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var deque = Deque<Int>()
        var plain: [Int] = []
        for number in 0..<5000 {
            // In turn more come, and more are taken, so that what is taken is compacted.
            let isFilling = number / 1000 % 2 == 0
            if Int.random(in: 0..<4, using: &random) < (isFilling ? 3 : 1) {
                deque.append(number)
                plain.append(number)
            } else {
                let taken = plain.isEmpty ? nil : plain.removeFirst()
                if deque.popFirst() != taken { Issue.record("seed \(seed), step \(number)") }
            }
            if Int.random(in: 0..<200, using: &random) == 0 {
                let divisor = Int.random(in: 1...4, using: &random)
                deque.removeAll { $0.isMultiple(of: divisor) }
                plain.removeAll { $0.isMultiple(of: divisor) }
            }
            let isSame =
                deque.count == plain.count && deque.isEmpty == plain.isEmpty
                && deque.first == plain.first && deque.last == plain.last
            if !isSame { Issue.record("seed \(seed), step \(number)") }
        }
        #expect(Array(deque.waiting) == plain, "seed \(seed)")
    }
}
