import BudgetCore
import Testing

@Suite("docs/architecture.md, rules 24 and 28: what holds a task back, and why")
struct HoldTests {
    @Test("rule 24: an earliest begin is a lower bound, counted also while the machine sleeps")
    func earliestBegin() throws {
        var clerk = Clerk()
        let id = try clerk.queue { $0.earliestBegin = .seconds(600) }
        let due = clerk.registry.boot(at: clerk.now) + .seconds(600)
        #expect(clerk.registry.nextQueueDeadline == due)
        #expect(clerk.hold(id) == .earliestBegin(until: due))
        #expect(clerk.isDeferred(id))
        #expect(clerk.registry.notBefore(id, at: clerk.now) == .seconds(600))
        clerk.pass(.seconds(100))
        clerk.machineSleeps(.seconds(500) - .nanoseconds(1))
        #expect(clerk.registry.notBefore(id, at: clerk.now) == .nanoseconds(1))
        #expect(clerk.task(id)?.state == .queued)
        clerk.machineSleeps(.nanoseconds(1))
        #expect(clerk.task(id)?.state == .running)
        #expect(clerk.registry.nextQueueDeadline == nil)
        #expect(clerk.registry.notBefore(id, at: clerk.now) == nil)
    }

    @Test("rule 7: a sleep of the machine spends no budget")
    func budgetOverSleep() throws {
        var clerk = Clerk()
        let id = try clerk.queue()
        clerk.machineSleeps(.seconds(5000))
        #expect(clerk.remaining(id)?.untilHandler == .seconds(175))
    }

    @Test("rule 24: who waits for its time lets others pass, and keeps its place by priority")
    func earliestBeginPassed() throws {
        var clerk = Clerk { $0.slots = 1 }
        let late = try clerk.queue {
            $0.earliestBegin = .seconds(10)
            $0.priority = 1
        }
        let first = try clerk.queue()
        let second = try clerk.queue()
        #expect(clerk.states([late, first, second]) == [.queued, .running, .queued])
        clerk.pass(.seconds(10))
        #expect(clerk.serveAll(of: [first, late, second]) == [first, late, second])
    }

    @Test("a slot that the disk gives back late goes to who has waited for its time meanwhile")
    func slotGivenBackLate() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.queue()
        let second = try clerk.queue()
        let late = try clerk.queue { $0.earliestBegin = .seconds(10) }
        clerk.disk = .waits
        clerk.finish(first)
        try clerk.cancel(second)
        clerk.now = clerk.now + .seconds(10)
        clerk.disk = .writes
        clerk.finishWriting()
        #expect(clerk.task(late)?.state == .running)
    }

    @Test("an earliest begin of nothing waits for nothing")
    func noEarliestBegin() throws {
        var clerk = Clerk()
        let id = try clerk.queue { $0.earliestBegin = .zero }
        #expect(clerk.ordered == [.submitted(id, isStarted: true)])
    }

    @Test("many who wait for the same instant go on a batch at a time, and none is forgotten")
    func manyDue() throws {
        var clerk = Clerk { $0.slots = 3000 }
        let ids = try (0..<900).map { _ in try clerk.queue { $0.earliestBegin = .seconds(10) } }
        clerk.now = clerk.now + .seconds(10)
        clerk.call { $0.deadlineReached(at: $1, limit: 100, &$2) }
        #expect(ids.count { clerk.task($0)?.state == .running } >= 100)
        while let next = clerk.registry.nextQueueDeadline,
            next <= clerk.registry.boot(at: clerk.now)
        {
            clerk.call { $0.deadlineReached(at: $1, limit: 100, &$2) }
        }
        #expect(ids.allSatisfy { clerk.task($0)?.state == .running })
    }

    @Test("rule 24: a task starts when all its conditions hold, and goes on when one fails")
    func conditions() throws {
        var clerk = Clerk()
        let id = try clerk.queue { $0.conditions = [.network, .idle] }
        let other = try clerk.queue { $0.conditions = .externalPower }
        #expect(clerk.registry.wantedConditions == .all)
        #expect(clerk.hold(id) == .network)
        clerk.conditions([.network, .externalPower])
        #expect(clerk.states([id, other]) == [.queued, .running])
        #expect(clerk.hold(id) == .idle)
        #expect(clerk.registry.wantedConditions == [.network, .idle])
        clerk.conditions(.idle)
        #expect(clerk.hold(id) == .network)
        clerk.conditions([.network, .idle])
        clerk.conditions([])
        #expect(clerk.task(id)?.state == .running)
        #expect(clerk.registry.wantedConditions == [])
    }

    @Test("conditions are wanted while a task waits for them, and not before its own time")
    func wantedConditions() throws {
        var clerk = Clerk()
        let id = try clerk.queue {
            $0.conditions = .idle
            $0.earliestBegin = .seconds(100)
            $0.retry = Retry(attempts: 2, delay: .seconds(30))
        }
        #expect(clerk.registry.wantedConditions == [])
        clerk.pass(.seconds(100))
        #expect(clerk.registry.wantedConditions == .idle)
        clerk.conditions(.idle)
        #expect(clerk.registry.wantedConditions == [])
        clerk.finish(id, 1)
        #expect(clerk.registry.wantedConditions == [])
        clerk.conditions([])
        clerk.pass(.seconds(30))
        #expect(clerk.registry.wantedConditions == .idle)
        try clerk.cancel(id)
        #expect(clerk.registry.wantedConditions == [])
    }

    // MARK: - Explain

    /// What `explain` says of a queued task: rules, values and changes.
    private func explained(
        _ id: TaskID, _ clerk: Clerk, for caller: Caller = Clerk.ann
    ) throws -> [String] {
        try clerk.registry.explain(id, for: caller, at: clerk.now).map { why in
            let change = why.earliestChange.map { "\($0.wholeMilliseconds)" } ?? "-"
            return "\(why.rule) \(why.value.map(String.init) ?? "-") \(change)"
        }
    }

    @Test("rule 28: each rule is named, with its number and when that can change")
    func explainEach() throws {
        var clerk = Clerk {
            $0.slots = 1
            $0.groupSlots = ["net": 1]
        }
        let first = try clerk.queue("a") { $0.group = "net" }
        let all = try clerk.queue("a") {
            $0.group = "net"
            $0.conditions = .all
            $0.earliestBegin = .seconds(60)
            $0.minimumInterval = .seconds(600)
        }
        _ = try clerk.pause("net")
        clerk.pass(.seconds(20))
        let rules = [
            "paused - -", "earliestBegin - 40000", "network - -", "externalPower - -", "idle - -",
            "minimumInterval 600000 -", "groupSlots 1 160000", "slots 1 160000",
        ]
        #expect(try explained(all, clerk) == rules)
        clerk.registry.conditionReadings[.network] = "no default route"
        let text = try clerk.registry.explain(all, for: Clerk.ann, at: clerk.now)[2].text
        #expect(text == "no default route")
        clerk.finish(first)
        #expect(try explained(all, clerk).last == "minimumInterval 600000 600000")
        clerk.conditions(.all)
        clerk.pass(.seconds(40))
        _ = try clerk.pause("net", false)
        #expect(try explained(all, clerk) == ["minimumInterval 600000 560000"])
        clerk.disk = .fails
        clerk.pass(.seconds(560))
        #expect(clerk.task(all)?.state == .queued)
        #expect(try explained(all, clerk) == ["store - -"])
    }

    @Test("rule 28: a retry is named with its attempt, a name with who has it, an owner's limit")
    func explainNames() throws {
        var clerk = Clerk { $0.tasksPerOwnerMax = 2 }
        let retried = try clerk.queue("r") { $0.retry = Retry(attempts: 3) }
        clerk.finish(retried, 1)
        #expect(try explained(retried, clerk) == ["retry 2 30000"])
        _ = try clerk.queue("u") { $0.unique = .keep }
        let replacing = try clerk.queue("u") { $0.unique = .replace }
        #expect(try explained(replacing, clerk) == ["unique - -"])
        _ = try clerk.queue("x")
        let waiting = try clerk.queue("y")
        #expect(try explained(waiting, clerk) == ["tasksPerOwnerMax 2 -"])
        #expect(try explained(replacing, clerk) == ["unique - -", "tasksPerOwnerMax 2 -"])
    }

    @Test("rule 28: a start that waits for the disk is named, and so is a stop of the daemon")
    func explainStarts() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.queue()
        let second = try clerk.queue()
        let third = try clerk.queue()
        clerk.disk = .waits
        clerk.finish(first)
        #expect(try explained(second, clerk) == ["starting - -"])
        clerk.disk = .writes
        clerk.finishWriting()
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        #expect(try explained(third, clerk).first == "shutdown - -")
        clerk.finish(second)
        #expect(try explained(third, clerk) == ["shutdown - -"])
    }

    @Test("a receipt is given for rules of time alone")
    func receipts() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.queue()
        let waiting = try clerk.queue()
        let late = try clerk.queue { $0.earliestBegin = .seconds(9) }
        #expect(!clerk.isDeferred(waiting))
        #expect(clerk.registry.notBefore(waiting, at: clerk.now) == nil)
        #expect(clerk.isDeferred(late))
    }
}
