import BudgetCore
import Testing

@Suite("docs/architecture.md, time")
struct TimeTests {
    @Test("the defaults: the handler at 175 s, the hard limit at 180 s")
    func defaults() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        clerk.pass(.seconds(175) - .nanoseconds(1))
        #expect(clerk.task(id)?.state == .running)
        clerk.pass(.nanoseconds(1))
        #expect(clerk.task(id)?.state == .expiring)
        clerk.pass(.seconds(5) - .nanoseconds(1))
        #expect(clerk.task(id)?.state == .expiring)
        clerk.pass(.nanoseconds(1))
        #expect(clerk.task(id)?.outcome == .overrun)
        #expect(clerk.task(id)?.used(at: clerk.now) == .seconds(180))
    }

    @Test(
        "each profile's handler and limit",
        arguments: [("default", 175, 180), ("extended", 594, 600), ("short", 25, 30)])
    func profiles(name: String, handler: Int, limit: Int) throws {
        var clerk = Clerk()
        let id = try clerk.begin(profile: name)
        let remaining = clerk.remaining(id)
        #expect(remaining?.untilHandler == .seconds(handler))
        #expect(remaining?.untilHardLimit == .seconds(limit))
        #expect(remaining?.bound == .ownBudget)
    }

    @Test("rule 6: a handler fires once for each granted budget, and never early")
    func firesOnce() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        #expect(clerk.registry.nextDeadline == clerk.now + .seconds(30))
        clerk.pass(.seconds(175) - .nanoseconds(1))
        clerk.call { $0.deadlineReached(at: $1, &$2) }
        #expect(clerk.count(.handlerFired, id) == 0)
        clerk.pass(.nanoseconds(1))
        clerk.call { $0.deadlineReached(at: $1, &$2) }
        clerk.pass(.seconds(2))
        #expect(clerk.count(.handlerFired, id) == 1)
        _ = try clerk.extend(id)
        clerk.pass(.seconds(176))
        #expect(clerk.count(.handlerFired, id) == 2)
    }

    @Test("rule 6: a bounded batch of deadlines leaves the rest due")
    func batches() throws {
        var clerk = Clerk()
        for _ in 0..<10 { _ = try clerk.begin(budget: RequestedBudget(seconds: 9, grace: 1)) }
        clerk.now = clerk.now + .seconds(8)
        clerk.call { $0.deadlineReached(at: $1, limit: 4, &$2) }
        #expect(clerk.latest.count == 4)
        #expect(clerk.registry.nextDeadline == clerk.now)
        clerk.call { $0.deadlineReached(at: $1, limit: 40, &$2) }
        #expect(clerk.latest.count == 6)
    }

    @Test("rule 8: extend restarts the budget from now and never adds to what remains")
    func extendRestarts() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        clerk.pass(.seconds(100))
        let remaining = try clerk.extend(id)
        #expect(remaining.untilHandler == .seconds(175))
        #expect(remaining.untilHardLimit == .seconds(180))
        #expect(try clerk.extend(id).untilHardLimit == .seconds(180))
    }

    @Test("rule 8: extend is cut to the lifetime limit, then refused with it named")
    func extendIsCut() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        for _ in 0..<3 {
            clerk.pass(.seconds(170))
            _ = try clerk.extend(id)
        }
        let remaining = try #require(clerk.remaining(id))
        #expect(remaining.untilHardLimit == .seconds(600 - 3 * 170))
        #expect(remaining.bound == .lifetimeLimit)
        #expect(throws: Refusal.limitReached(limit: "lifetimeMax", value: 600_000)) {
            try clerk.extend(id)
        }
        clerk.pass(.seconds(90))
        #expect(clerk.task(id)?.outcome == .overrun)
    }

    @Test("rule 8: extend in the expiring state makes the task run again")
    func extendWhileExpiring() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        clerk.pass(.seconds(177))
        #expect(clerk.task(id)?.state == .expiring)
        #expect(try clerk.extend(id).untilHandler == .seconds(175))
        #expect(clerk.task(id)?.state == .running)
        #expect(clerk.task(id)?.reason == nil)
        #expect(try clerk.end(id) == .completed)
    }

    @Test("rule 8: after the hard limit extend never works", arguments: [false, true])
    func extendTooLate(isServed: Bool) throws {
        var clerk = Clerk()
        let held = try clerk.begin()
        let run = try clerk.run()
        if isServed { clerk.pass(.seconds(180)) } else { clerk.now = clerk.now + .seconds(180) }
        #expect(throws: Refusal.alreadyEnded(held, .overrun)) { try clerk.extend(held) }
        #expect(throws: Refusal.alreadyEnded(run, .overrun)) { try clerk.extend(run) }
    }

    @Test("rule 8: a budget above the profile's lifetime limit is refused, with the limit")
    func budgetAboveLifetime() throws {
        var clerk = Clerk()
        #expect(throws: Refusal.limitReached(limit: "lifetimeMax", value: 600_000)) {
            try clerk.begin(budget: RequestedBudget(seconds: 601, grace: 10))
        }
        #expect(throws: Refusal.limitReached(limit: "lifetimeMax", value: 600_000)) {
            try clerk.run(budget: RequestedBudget(seconds: 601, grace: 10))
        }
    }

    @Test("rule 9: a queued task has its whole budget left")
    func queuedRemaining() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.run()
        let id = try clerk.run(budget: RequestedBudget(seconds: 60, grace: 10))
        clerk.pass(.seconds(20))
        let remaining = try #require(clerk.remaining(id))
        #expect(remaining.untilHandler == .seconds(50))
        #expect(remaining.untilHardLimit == .seconds(60))
        #expect(remaining.bound == .ownBudget)
    }

    @Test("rule 9: a budget just as long as the lifetime limit is bounded by itself")
    func budgetAtLifetime() throws {
        var clerk = Clerk()
        let id = try clerk.begin(budget: RequestedBudget(seconds: 600, grace: 10))
        #expect(clerk.remaining(id)?.bound == .ownBudget)
    }

    @Test(
        "a budget out of range is refused by the name of its field",
        arguments: [
            (0, 0, "budget.durationMs"), (-5, 1, "budget.durationMs"),
            (10, 10, "budget.graceMs"), (10, 11, "budget.graceMs"), (10, -1, "budget.graceMs"),
        ])
    func badBudgets(duration: Int, grace: Int, parameter: String) {
        var clerk = Clerk()
        #expect(throws: Refusal.invalidParameter(parameter)) {
            try clerk.begin(budget: RequestedBudget(seconds: duration, grace: grace))
        }
    }

    @Test("rule 8: unlimited is for root")
    func unlimited() throws {
        var clerk = Clerk()
        #expect(throws: Refusal.permissionDenied(.unlimitedTask)) {
            try clerk.begin(profile: "unlimited")
        }
        let id = try clerk.begin(by: Clerk.root, profile: "unlimited")
        #expect(throws: Refusal.noSuchProfile("golden")) { try clerk.begin(profile: "golden") }
        clerk.pass(.seconds(100_000))
        #expect(clerk.task(id)?.state == .running)
        #expect(try clerk.extend(id, by: Clerk.root) == .unlimited)
    }

    @Test("rule 8: extend makes a task without a limit that was told to end run on")
    func extendUnlimited() throws {
        var clerk = Clerk()
        let id = try clerk.begin(by: Clerk.root, profile: "unlimited")
        try clerk.call { try $0.simulateExpiration(id, by: Clerk.root, at: $1, &$2) }
        #expect(try clerk.extend(id, by: Clerk.root) == .unlimited)
        #expect(clerk.task(id)?.state == .running)
        clerk.pass(.seconds(1000))
        #expect(try clerk.end(id, by: Clerk.root) == .completed)
    }

    @Test("rule 9: no limit is said as such, with no bound")
    func noLimit() throws {
        var clerk = Clerk()
        let id = try clerk.begin(by: Clerk.root, profile: "unlimited")
        #expect(clerk.remaining(id) == .unlimited)
    }

    @Test("rule 10: a task older than 30 s is named once, at 30 s")
    func oldTask() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        clerk.pass(.seconds(30) - .nanoseconds(1))
        #expect(clerk.count(.grewOld, id) == 0)
        clerk.pass(.seconds(100))
        #expect(clerk.count(.grewOld, id) == 1)
        #expect(clerk.task(id)?.isTicking == true)
    }

    @Test("rule 10: at most ten a second are named, the rest is a count")
    func manyOldTasks() throws {
        var clerk = Clerk()
        for _ in 0..<25 { _ = try clerk.begin() }
        clerk.pass(.seconds(40))
        let named = clerk.history.count {
            if case .tell(.grewOld, _) = $0 { true } else { false }
        }
        #expect(named == 10)
        #expect(clerk.history.contains(.oldTasksNotNamed(15)))
    }

    @Test("rule 11: a shutdown fires handlers early, says why, and leaves one grace")
    func shutdown() throws {
        var clerk = Clerk { $0.slots = 1 }
        let held = try clerk.begin()
        let obeying = try clerk.run()
        let waiting = try clerk.run()
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        #expect(clerk.task(held)?.reason == .shutdown)
        #expect(clerk.latest.contains(.warn(obeying)))
        #expect(clerk.task(waiting)?.state == .queued)
        #expect(throws: Refusal.self) { try clerk.begin() }
        #expect(throws: Refusal.self) { try clerk.extend(held) }
        clerk.exit(obeying, .status(3))
        clerk.gone(obeying)
        #expect(clerk.task(obeying)?.outcome == .interrupted)
        clerk.pass(.seconds(5))
        #expect(clerk.task(held)?.outcome == .interrupted)
        #expect(clerk.registry.liveCount == 0)
    }

    @Test(
        "a simulated expiration leaves one grace, also without a limit", arguments: [true, false])
    func simulated(isLimited: Bool) throws {
        var clerk = Clerk()
        let id = try clerk.begin(by: Clerk.root, profile: isLimited ? nil : "unlimited")
        try clerk.call { try $0.simulateExpiration(id, by: Clerk.root, at: $1, &$2) }
        #expect(clerk.task(id)?.reason == .simulated)
        #expect(clerk.remaining(id)?.untilHardLimit == .seconds(5))
        #expect(throws: Refusal.self) {
            try clerk.call { try $0.simulateExpiration(id, by: Clerk.root, at: $1, &$2) }
        }
        clerk.pass(.seconds(5))
        #expect(clerk.task(id)?.outcome == .overrun)
        #expect(clerk.count(.handlerFired, id) == 1)
    }

    @Test("the next expiry is that of what runs, not of what waits or has its end decided")
    func nextExpiry() throws {
        var clerk = Clerk { $0.slots = 1 }
        #expect(clerk.registry.nextExpiry == nil)
        let first = try clerk.queue()
        clerk.pass(.seconds(10))
        let second = try clerk.queue()
        #expect(clerk.registry.nextExpiry == clerk.now + .seconds(165))
        #expect(clerk.registry.longestRemaining(at: clerk.now) == .seconds(170))
        clerk.disk = .waits
        clerk.finish(first)
        #expect(clerk.registry.nextExpiry == nil)
        #expect(clerk.registry.longestRemaining(at: clerk.now) == .zero)
        clerk.disk = .writes
        clerk.finishWriting()
        #expect(clerk.task(second)?.state == .running)
        #expect(clerk.registry.nextExpiry == clerk.now + .seconds(175))
    }
}
