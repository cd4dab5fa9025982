import BudgetCore
import TestKit
import Testing

@Suite("docs/architecture.md, rule 29: one end that very many wait for")
struct CascadeTests {
    /// Tasks that all come after a first one, and others that each come after 64 of those.
    private struct Graph {
        let held: HeldRegistry
        var now = Instant(nanoseconds: 1_000)
        /// What was ordered from the disk and is not on it.
        var steps: [StoreStep] = []
        private(set) var first = TaskID.invalid
        private(set) var middle: [TaskID] = []
        private(set) var last: [TaskID] = []

        init(middle middleCount: Int, last lastCount: Int, limits: RegistryLimits) throws {
            var limits = limits
            limits.slots = 1
            held = HeldRegistry(
                BackgroundTaskRegistry(
                    limits: limits, profiles: Clerk.profiles, identifiers: 1...2_000_000))
            _ = try submit(after: [])
            first = try submit(after: [])
            for _ in 0..<middleCount { middle.append(try submit(after: [first])) }
            for number in 0..<lastCount {
                let chosen = (0..<64).map { middle[(number * 64 + $0) % middleCount] }
                last.append(try submit(after: chosen))
            }
        }

        private mutating func submit(after: [TaskID]) throws -> TaskID {
            let submission = Clerk.submission { $0.after = after.map { Predecessor($0) } }
            defer { commit() }
            return try turn { try $0.submit(submission, at: $1, &$2).id }
        }

        mutating func turn<Result>(
            _ body: (inout BackgroundTaskRegistry, Instant, inout [Action]) throws -> Result
        ) rethrows -> Result {
            now = now + .microseconds(1)
            var actions: [Action] = []
            defer {
                for case .store(let step) in actions { steps.append(step) }
            }
            return try body(&held.registry, now, &actions)
        }

        /// The disk has all that was ordered, and that is told in one turn.
        mutating func commit() {
            let stored = steps
            steps = []
            turn { registry, now, actions in
                for step in stored { registry.stored(step, at: now, &actions) }
            }
        }

        var isDue: Bool { held.registry.nextDeadline == Instant(nanoseconds: .min) }

        /// How many ends those wait for that have not ended, all together.
        func openCount() -> Int {
            (middle + last).reduce(0) { $0 + held.registry.openPredecessors(of: $1).count }
        }
    }

    @Test("rule 29: no turn and no commit does more than a few of all that follows from one end")
    func bounded() throws {
        var limits = RegistryLimits()
        limits.followersToldAtOnce = 100
        limits.vainEndsAtOnce = 10
        var graph = try Graph(middle: 100, last: 400, limits: limits)
        let first = graph.first
        _ = try graph.turn { try $0.cancel(first, by: Clerk.ann, text: nil, at: $1, &$2) }
        var open = graph.openCount()
        #expect(open == 100 + 400 * 64)
        var (turnCount, toldMax, endsMax) = (0, 0, 0)
        while graph.isDue || !graph.steps.isEmpty {
            // The disk is slow, and the loop has turns for everything that is due meanwhile.
            if graph.isDue {
                graph.turn { $0.deadlineReached(at: $1, limit: 512, &$2) }
            } else {
                graph.commit()
            }
            endsMax = max(endsMax, graph.steps.count)
            let left = graph.openCount()
            toldMax = max(toldMax, open - left)
            open = left
            turnCount += 1
        }
        // Those that end leave what they wait for behind, 64 ends each at most.
        #expect(toldMax <= 100 + 10 * 64)
        #expect(endsMax <= 10)
        #expect(turnCount > 100)
        let outcomes = (graph.middle + graph.last).map {
            graph.held.registry.brief(of: $0)?.outcome
        }
        #expect(outcomes.allSatisfy { $0 == .failed })
    }

    @Test("rule 29: what a handler is due for is done in the same turn as a part of a cascade")
    func deadlines() throws {
        var limits = RegistryLimits()
        limits.followersToldAtOnce = 10
        var graph = try Graph(middle: 100, last: 10, limits: limits)
        let request = BeginRequest(
            name: "held", owner: Clerk.bob.owner, holder: HolderID(rawValue: 1))
        let task = try graph.turn { try $0.begin(request, at: $1, &$2) }
        let first = graph.first
        _ = try graph.turn { try $0.cancel(first, by: Clerk.ann, text: nil, at: $1, &$2) }
        graph.commit()
        #expect(graph.isDue)
        graph.now = graph.now + .seconds(175)
        graph.turn { $0.deadlineReached(at: $1, limit: 8, &$2) }
        #expect(graph.held.registry.record(task)?.task.state == .expiring)
        #expect(graph.isDue)
    }

    @Test("rule 29: a task that many have left again has room for others, and tells only those")
    func leaving() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.queue("other")
        let first = try clerk.queue()
        for _ in 0..<3000 {
            let id = try clerk.queue { $0.after = [Predecessor(first)] }
            try clerk.cancel(id)
        }
        let kept = try (0..<1000).map { _ in try clerk.queue { $0.after = [Predecessor(first)] } }
        #expect(throws: Refusal.limitReached(limit: "followersMax", value: 1000)) {
            try clerk.queue { $0.after = [Predecessor(first)] }
        }
        try clerk.cancel(first)
        #expect(kept.allSatisfy { clerk.task($0)?.outcome == .failed })
        #expect(clerk.registry.queuedCount == 0)
    }

    @Test("rule 29: seeded cascades come to what each task is to come to", arguments: 0..<10)
    func histories(block: UInt64) {
        let count: UInt64 = Effort.choose(100, 5_000)
        var (sliced, vain) = (0, 0)
        for seed in block * 100_000..<block * 100_000 + count {
            var simulation = CascadeSimulation(seed: seed)
            let failure = simulation.run(steps: 120)
            #expect(failure == nil, "seed \(seed)")
            if failure != nil { return }
            sliced += simulation.slicedCount
            vain += simulation.vainCount
        }
        // Histories in which nothing is left for another turn show nothing.
        #expect(sliced > Int(count) / 2)
        #expect(vain > Int(count))
    }
}
