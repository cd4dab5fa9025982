import BudgetCore
import TestKit
import Testing

@Suite("Simulation by seed")
struct SimulationTests {
    @Test("10,000 seeded histories agree with the slow model", arguments: 0..<10)
    func histories(block: UInt64) {
        let count: UInt64 = Effort.choose(1000)
        for seed in block * count..<(block + 1) * count {
            var simulation = RegistrySimulation(seed: seed)
            let failure = simulation.run(steps: 50)
            #expect(failure == nil, "seed \(seed)")
            if failure != nil { return }
        }
    }

    @Test("the heap always gives the earliest deadline, and forgets what is removed")
    func heap() {
        for seed in UInt64(0)..<Effort.choose(300) {
            var random = SeededGenerator(seed: seed)
            var heap = DeadlineHeap()
            var plain: [Int: Instant] = [:]
            for _ in 0..<200 {
                let slot = Int.random(in: 0..<40, using: &random)
                if Int.random(in: 0..<3, using: &random) == 0 {
                    heap.remove(slot: slot)
                    plain[slot] = nil
                } else {
                    let deadline = Instant(nanoseconds: Int64.random(in: 0..<50, using: &random))
                    heap.set(deadline, id: TaskID(rawValue: UInt64(slot)), slot: slot)
                    plain[slot] = deadline
                }
                let first = plain.min { ($0.value, $0.key) < ($1.value, $1.key) }
                #expect(heap.first?.slot == first?.key, "seed \(seed)")
                #expect(heap.count == plain.count && heap.isConsistent, "seed \(seed)")
            }
        }
    }

    @Test("400,000 begin and end pairs leave nothing behind")
    func pairsLeaveNothing() throws {
        var clerk = Clerk()
        let keep = try clerk.begin()
        for _ in 0..<400_000 { _ = try clerk.end(clerk.begin()) }
        let footprint = clerk.registry.footprint
        #expect(footprint.deadlineCount == 1 && footprint.taskCount == 1)
        #expect(footprint.endedCount == 10_000)
        _ = try clerk.end(keep)
        #expect(clerk.registry.nextDeadline == nil)
    }
}
