import TestKit
import Testing

@Suite("Applications by seed")
struct ApplicationSimulationTests {
    @Test("1,000 seeded histories of applications agree with the slow model", arguments: 0..<10)
    func histories(block: UInt64) {
        let count: UInt64 = Effort.choose(100, 5000)
        for seed in block * count..<(block + 1) * count {
            var simulation = ApplicationSimulation(seed: seed)
            let failure = simulation.run(steps: 100)
            #expect(failure == nil, "seed \(seed)")
            if failure != nil { return }
        }
    }
}
