import BudgetCore
import TestKit
import Testing

@Suite("Commands that outlive daemons, by seed")
struct CommandHistoryTests {
    @Test(
        "whenever a daemon ends, its commands keep their time, run once and are not lost",
        arguments: 0..<4)
    func histories(block: UInt64) {
        let count: UInt64 = Effort.choose(150, 5000)
        var counts: [String: Int] = [:]
        for seed in block * count..<(block + 1) * count {
            var history = CommandHistory(seed: seed)
            let failure = history.run(steps: 80)
            #expect(failure == nil, "seed \(seed)")
            if failure != nil { return }
            counts.merge(history.counts, uniquingKeysWith: +)
        }
        for rare in [
            "found", "found in vain", "never started", "handed over", "executor lost", "extended",
            "times refused", "handler fired while nobody was there",
            "limit fired while nobody was there",
        ] {
            #expect(counts[rare, default: 0] > 0, "\(rare)")
        }
    }
}
