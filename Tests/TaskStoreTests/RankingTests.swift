import TaskStore
import TestKit
import Testing

@Suite("Who has most")
struct RankingTests {
    @Test("the first two are those of a plain list that is sorted each time", arguments: 0..<50)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ranking = Ranking<Int>()
        var plain: [Int: Int] = [:]
        for _ in 0..<500 {
            let key = Int.random(in: 0..<20, using: &random)
            let change =
                Int.random(in: 0..<4, using: &random) == 0
                ? -plain[key, default: 0] : Int.random(in: -2...5, using: &random)
            ranking.add(change, to: key)
            plain[key, default: 0] += change
            if plain[key] == 0 { plain[key] = nil }
            let sorted = plain.sorted { ($1.value, $1.key) < ($0.value, $0.key) }
            #expect(ranking.first?.key == sorted.first?.key, "seed \(seed)")
            #expect(ranking.first?.value == sorted.first?.value, "seed \(seed)")
            #expect(ranking.second?.key == sorted.dropFirst().first?.key, "seed \(seed)")
            #expect(ranking.second?.value == sorted.dropFirst().first?.value, "seed \(seed)")
            #expect(ranking[key] == plain[key, default: 0], "seed \(seed)")
            #expect(ranking.isEmpty == plain.isEmpty, "seed \(seed)")
        }
    }

    @Test("65,536 who have the same lose one each, in looks at the logarithm of them a time")
    func looks() {
        let looks = CountedKey.Looks()
        let count = 65_536
        var ranking = Ranking<CountedKey>()
        for number in 0..<count { ranking.add(2, to: CountedKey(number, looks)) }
        let taken = looks.taken(by: {
            for _ in 0..<1000 {
                guard let first = ranking.first, ranking.second != nil else { return }
                ranking.add(-1, to: first.key)
            }
        })
        // Sixteen levels, with two comparisons and one entry in the table each.
        #expect(taken < 1000 * 100, "\(taken)")
        #expect(ranking.first?.value == 2)
        #expect(ranking.first?.key.number == count - 1001)
    }
}
