import Containers
import TestKit
import Testing

@Suite("Whose turn it is")
struct FairQueueTests {
    @Test("one of each owner is served in turn, each owner's own in their order")
    func rounds() {
        var rounds = FairQueue<UInt32, String>()
        for name in ["a1", "a2", "a3", "b1", "c1", "c2"] {
            rounds.add(name, of: UInt32(name.utf8.first ?? 0))
        }
        var served: [String] = []
        while let next = rounds.next() { served.append(next) }
        #expect(served == ["a1", "b1", "c1", "a2", "c2", "a3"])
        #expect(rounds.count == 0)
    }

    @Test("who comes while others are served waits for one of each of them, however many they have")
    func newcomer() {
        var rounds = FairQueue<UInt32, Int>()
        for number in 0..<1000 { rounds.add(number, of: 1) }
        for _ in 0..<10 { _ = rounds.next() }
        rounds.add(-1, of: 2)
        #expect([rounds.next(), rounds.next()].contains(-1))
    }

    @Test("more owners than are remembered, and more of one than are kept together")
    func many() {
        var rounds = FairQueue<UInt32, Int>()
        for round in 0..<3 {
            for number in 0..<1000 { rounds.add(number, of: 1) }
            for number in 2...100 { rounds.add(number, of: UInt32(number)) }
            #expect(rounds.count == 1099, "round \(round)")
            var served: [Int] = []
            while let next = rounds.next() { served.append(next) }
            #expect(served.sorted() == (Array(0..<1000) + Array(2...100)).sorted())
            #expect(served.prefix(101).filter { $0 == 0 || $0 == 1 }.count == 2)
        }
    }

    @Test(
        "nobody is lost, served twice, or passed over by another owner twice",
        arguments: 1...Effort.choose(50))
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var rounds = FairQueue<UInt32, (owner: UInt32, number: Int)>()
        var queues: [UInt32: [Int]] = [:]
        var servedSince: [UInt32: [UInt32]] = [:]
        for number in 0..<2000 {
            if Bool.random(using: &random) {
                let name = UInt32.random(in: 1...5, using: &random)
                if queues[name, default: []].isEmpty { servedSince[name] = [] }
                queues[name, default: []].append(number)
                rounds.add((name, number), of: name)
            } else if let next = rounds.next() {
                #expect(queues[next.owner]?.first == next.number, "seed \(seed)")
                queues[next.owner]?.removeFirst()
                servedSince[next.owner] = []
                for other in 1...5 where UInt32(other) != next.owner {
                    let before = servedSince[UInt32(other), default: []]
                    let waits = !(queues[UInt32(other)] ?? []).isEmpty
                    #expect(!waits || !before.contains(next.owner), "seed \(seed)")
                    servedSince[UInt32(other), default: []].append(next.owner)
                }
            }
            #expect(rounds.count == queues.values.reduce(0) { $0 + $1.count })
        }
    }

    @Test("those of an owner who is held back wait, in their order, and the others go on")
    func heldBack() {
        var rounds = FairQueue<UInt32, Int>()
        for number in 0..<6 { rounds.add(number, of: UInt32(number % 3)) }
        var taken: [Int] = []
        while let next = rounds.next(unless: { $0 == 1 }) { taken.append(next) }
        #expect(taken == [0, 2, 3, 5])
        #expect(rounds.count == 2)
        #expect(rounds.next(unless: { _ in true }) == nil)
        #expect(rounds.next() == 1)
        #expect(rounds.next(unless: { _ in false }) == 4)
        #expect(rounds.next(unless: { _ in false }) == nil)
    }
}
