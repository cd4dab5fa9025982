internal import BudgetCore

/// Tasks that are all due in the same instant.
enum DeadlineLoad {
    private static let sizes = [1000, 100_000]
    private static let rounds = 5
    /// As many as the daemon settles in one turn.
    private static let limit = 512

    /// What it costs a task to have its handler fired, and to be stopped, in an instant that all share.
    static func measure() throws {
        try report("deadline-handler") { count in
            var registry = try grownOld(count)
            let seconds = Stopwatch.seconds { settle(&registry, at: .start + .seconds(175)) }
            guard registry.counts.handlersFired == count else { throw Surprise.notFired }
            return seconds
        }
        try report("deadline-hard-limit") { count in
            var registry = try grownOld(count)
            settle(&registry, at: .start + .seconds(175))
            let seconds = Stopwatch.seconds { settle(&registry, at: .start + .seconds(180)) }
            guard registry.liveCount == 0 else { throw Surprise.notStopped }
            return seconds
        }
    }

    private static func report(_ name: String, _ seconds: (Int) throws -> Double) throws {
        let costs = try Stopwatch.inTurn(sizes.count, rounds: rounds) { index in
            try seconds(sizes[index]) / Double(sizes[index])
        }
        for (size, cost) in zip(sizes, costs) {
            Figure(name: "\(name)-\(size)", value: cost * 1e6, unit: "µs").show()
        }
        Figure.growth(name, few: costs[0], many: costs[1])
    }

    /// Tasks that have all been named in the log for their age, or counted, as they are before their handlers
    /// are due.
    private static func grownOld(_ count: Int) throws -> BackgroundTaskRegistry {
        var registry = try BackgroundTaskRegistry.standing(count)
        settle(&registry, at: .start + .seconds(40))
        return registry
    }

    /// Turn after turn until nothing is due.
    private static func settle(_ registry: inout BackgroundTaskRegistry, at now: Instant) {
        var actions: [Action] = []
        while registry.hasOverdue(at: now) {
            registry.deadlineReached(at: now, limit: limit, &actions)
            actions.removeAll(keepingCapacity: true)
            _ = registry.forgetExcess()
        }
    }
}
