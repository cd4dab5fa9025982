import Testing
import TestKit

@testable import BudgetCore

@Suite("Commands that outlive daemons, by seed")
struct CommandHistoryTests {
    @Test(
        "whenever a daemon ends, its commands keep their time, run once and are not lost",
        arguments: 0..<4)
    func histories(block: UInt64) {
        let count: UInt64 = Effort.choose(150, 5000)
        for seed in block * count..<(block + 1) * count {
            var history = CommandHistory(seed: seed)
            let failure = history.run(steps: 80)
            #expect(failure == nil, "seed \(seed)")
            if failure != nil { return }
        }
    }
}
