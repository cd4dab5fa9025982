internal import BudgetCore

/// Pairs of begin and end in a registry in which others are live.
final class RegistryLoad {
    private var registry: BackgroundTaskRegistry
    private var actions: [Action] = []
    private var now = Instant.start
    /// Those that are live all the while.
    private var live: [TaskID]
    private var random = RandomNumbers()
    private let request = BeginRequest(
        name: "measured", owner: .measured, holder: HolderID(rawValue: 1))

    private static let sizes = [1000, 10_000, 100_000, 1_000_000]
    private static let rounds = 9
    private static let pairsPerRound = 20_000

    private init(_ standing: consuming BackgroundTaskRegistry) {
        live = (1...UInt64(standing.liveCount)).map(TaskID.init(rawValue:))
        registry = standing
    }

    /// The cost of a pair by the number of live tasks, and what one of these takes in memory.
    static func measure() throws {
        let before = try ResidentMemory.bytes
        let many = RegistryLoad(try .standing(sizes[sizes.count - 1]))
        let bytes =
            try ResidentMemory.bytes - before - many.live.count * MemoryLayout<TaskID>.stride
        Figure(
            name: "registry-task-memory", value: Double(bytes) / Double(many.live.count),
            unit: "bytes"
        ).show()

        let loads = try sizes.dropLast().map { RegistryLoad(try .standing($0)) } + [many]
        try report("registry-pairs") { index in try loads[index].beginAndEnd() }
        try report("registry-replacements") { index in try loads[index].replaceAny() }
    }

    private static func report(_ name: String, _ pairs: (Int) throws -> Void) throws {
        // Fills what is kept of ended tasks.
        for index in sizes.indices { try pairs(index) }
        let seconds = try Stopwatch.inTurn(sizes.count, rounds: rounds) { index in
            try Stopwatch.seconds { try pairs(index) }
        }
        for (size, seconds) in zip(sizes, seconds) {
            Figure.rate("\(name)-\(size)", pairsPerRound, in: seconds, "pairs")
        }
        Figure.growth(name, few: seconds[0], many: seconds[sizes.count - 1])
    }

    /// A turn a pair, as of a client that waits for each answer.
    private func beginAndEnd() throws {
        for _ in 0..<RegistryLoad.pairsPerRound {
            try end(begin())
        }
    }

    /// The same, where what ends lies anywhere in memory.
    private func replaceAny() throws {
        for _ in 0..<RegistryLoad.pairsPerRound {
            let index = random.next(below: live.count)
            try end(live[index])
            live[index] = try begin()
        }
    }

    private func begin() throws -> TaskID {
        // A `Duration` would take longer than a part of what is measured.
        now = Instant(nanoseconds: now.nanoseconds + 1000)
        let id = try registry.begin(request, at: now, &actions)
        while let action = actions.popLast() {
            if case .store(let step) = action { registry.stored(step, at: now, &actions) }
        }
        return id
    }

    private func end(_ id: TaskID) throws {
        _ = try registry.end(id, by: .measured, at: now, &actions)
        actions.clear()
        _ = registry.forgetExcess()
    }
}
