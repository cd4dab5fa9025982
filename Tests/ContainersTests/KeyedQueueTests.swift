import Containers
import TestKit
import Testing

@Suite("Those who wait and may leave")
struct KeyedQueueTests {
    @Test("a queue is what a plain list is, whoever comes and leaves", arguments: 0..<20)
    func queue(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = KeyedQueue<Int, String>()
        var plain: [Int] = []
        // In turn more come, and more leave, so that many gaps come about.
        for step in 0..<3000 {
            let key = Int.random(in: 0..<1000, using: &random)
            switch Int.random(in: 0..<8, using: &random) + (step / 1000 == 1 ? 2 : 0) {
            case 0..<5:
                queue.append("\(key)", as: key)
                if !plain.contains(key) { plain.append(key) }
            case 5:
                let next = plain.isEmpty ? nil : plain.removeFirst()
                #expect(queue.popFirst() == next.map { "\($0)" }, "seed \(seed)")
            default:
                let leaving = plain.randomElement(using: &random) ?? key
                let left = plain.firstIndex(of: leaving).map { plain.remove(at: $0) }
                #expect(queue.remove(leaving) == left.map { "\($0)" }, "seed \(seed)")
            }
            #expect(queue.count == plain.count && queue.isEmpty == plain.isEmpty, "seed \(seed)")
            #expect(queue.contains(key) == plain.contains(key), "seed \(seed)")
            #expect(queue.first == plain.first.map { "\($0)" }, "seed \(seed)")
            #expect(queue.last == plain.last.map { "\($0)" }, "seed \(seed)")
        }
        #expect(Array(queue.all) == plain.map { "\($0)" }, "seed \(seed)")
    }

    @Test("the rounds are those of plain lists, whoever comes and leaves", arguments: 0..<20)
    func rounds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var rounds = KeyedFairQueue<Int, Int, Int>()
        /// Who waits, the owner whose turn it is in front.
        var plain: [(owner: Int, keys: [Int])] = []
        for key in 0..<2000 {
            let name = Int.random(in: 1...5, using: &random)
            let place = plain.firstIndex { $0.owner == name }
            switch Int.random(in: 0..<4, using: &random) {
            case 0...1:
                rounds.add(key, as: key, of: name)
                if let place { plain[place].keys.append(key) } else { plain.append((name, [key])) }
            case 2:
                let leaving = place.flatMap { plain[$0].keys.randomElement(using: &random) }
                #expect(rounds.remove(leaving ?? -1, of: name) == leaving, "seed \(seed)")
                if let place {
                    plain[place].keys.removeAll { $0 == leaving }
                    if plain[place].keys.isEmpty { plain.remove(at: place) }
                }
            default:
                #expect(rounds.next() == plain.first?.keys.first, "seed \(seed)")
                guard !plain.isEmpty else { continue }
                var first = plain.removeFirst()
                first.keys.removeFirst()
                if !first.keys.isEmpty { plain.append(first) }
            }
            #expect(rounds.count == plain.reduce(0) { $0 + $1.keys.count }, "seed \(seed)")
        }
    }

    @Test("who waits no longer is taken out, and leaves the others their turns")
    func leaving() {
        var rounds = KeyedFairQueue<Int, Int, Int>()
        for number in 1...4 { rounds.add(number, as: number, of: 1) }
        for number in 11...12 { rounds.add(number, as: number, of: 2) }
        for number in [2, 4] { rounds.remove(number, of: 1) }
        for number in [11, 12] { rounds.remove(number, of: 2) }
        rounds.remove(2, of: 3)
        #expect(rounds.count == 2)
        rounds.add(13, as: 13, of: 2)
        var served: [Int] = []
        while let next = rounds.next() { served.append(next) }
        #expect(served == [1, 13, 3])
        #expect(rounds.count == 0)
    }

    @Test(
        "all of many leave with a few looks each, whichever is first",
        arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
    func looks(order: [Int]) {
        let looks = CountedKey.Looks()
        let keys = (0..<8000).map { CountedKey($0, looks) }
        var rounds = KeyedFairQueue<Int, CountedKey, Int>()
        let taken = looks.taken(by: {
            for key in keys { rounds.add(key.number, as: key, of: 1) }
            for start in stride(from: 0, to: keys.count, by: 4) {
                for offset in order { rounds.remove(keys[start + offset], of: 1) }
            }
        })
        #expect(rounds.count == 0)
        #expect(taken < 20 * keys.count, "\(taken)")
        let reversed = looks.taken(by: {
            for key in keys { rounds.add(key.number, as: key, of: 1) }
            for key in keys.reversed() { rounds.remove(key, of: 1) }
        })
        #expect(reversed < 20 * keys.count, "\(reversed)")
    }
}
