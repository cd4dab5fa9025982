import BudgetCore
import TestKit
import Testing

@Suite("Simulation of the queue by seed")
struct QueueSimulationTests {
    static let perBlock: UInt64 = Effort.choose(200, 10_000)

    @Test("seeded histories of the queue agree with a list on paper", arguments: 0..<10)
    func histories(block: UInt64) {
        var starts = 0
        for seed in block * 100_000..<block * 100_000 + QueueSimulationTests.perBlock {
            var simulation = QueueSimulation(seed: seed)
            let failure = simulation.run(steps: 60)
            #expect(failure == nil, "seed \(seed)")
            if failure != nil { return }
            starts += simulation.startsSeen
        }
        // Histories in which hardly anything runs show nothing.
        #expect(starts > Int(QueueSimulationTests.perBlock) * 3)
    }
}
