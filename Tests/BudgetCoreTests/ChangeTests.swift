import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 31: queued tasks that are paused and changed")
struct ChangeTests {
    private func change(_ configure: (inout QueueingChange) -> Void) -> QueueingChange {
        var change = QueueingChange()
        configure(&change)
        return change
    }

    private func order(
        _ clerk: inout Clerk, _ id: TaskID, by caller: Caller = Clerk.ann,
        _ configure: (inout QueueingChange) -> Void
    ) throws -> Bool {
        let change = change(configure)
        return try clerk.call { try $0.change(id, by: caller, change, at: $1, &$2) }
    }

    @Test("rule 31: a paused task waits until it is resumed; what runs is not touched")
    func pause() throws {
        var clerk = Clerk()
        let id = try clerk.queue { $0.isPaused = true }
        #expect(clerk.hold(id) == .pausedTask)
        #expect(try order(&clerk, id) { $0.isPaused = false })
        #expect(clerk.task(id)?.state == .running)
        #expect(throws: Refusal.self) { try order(&clerk, id) { $0.isPaused = true } }
    }

    @Test("rule 31: all of an owner wait, also what comes later, and nobody else")
    func owner() throws {
        var clerk = Clerk()
        let ann = Clerk.ann.owner
        func setPaused(_ isPaused: Bool) throws -> Bool {
            try clerk.call { registry, _, actions in
                try registry.setPaused(ann, isPaused, &actions)
            }
        }
        let running = try clerk.queue()
        #expect(try setPaused(true))
        #expect(try !setPaused(true))
        let waiting = try clerk.queue()
        let bobs = try clerk.queue(by: Clerk.bob)
        #expect(clerk.states([running, waiting, bobs]) == [.running, .queued, .running])
        #expect(clerk.hold(waiting) == .pausedOwner)
        #expect(try setPaused(false))
        #expect(clerk.task(waiting)?.state == .running)
        #expect(clerk.history.filter { $0 == .answerOwner(ann, nil) }.count == 2)
    }

    @Test("rule 31: priority, group, time and conditions of a queued task can be changed")
    func edit() throws {
        var clerk = Clerk {
            $0.slots = 1
            $0.groupSlots = ["net": 1]
        }
        let first = try clerk.queue()
        let (second, third) = (
            try clerk.queue { $0.conditions = .network }, try clerk.queue()
        )
        #expect(
            try order(&clerk, second) {
                $0.priority = 5
                $0.conditions = []
                $0.group = "net"
                $0.earliestBegin = .seconds(10)
            })
        #expect(clerk.hold(second)?.rule == "earliestBegin")
        clerk.pass(.seconds(10))
        clerk.finish(first)
        #expect(clerk.states([second, third]) == [.running, .queued])
        #expect(clerk.run(second)?.queueing.group == "net")
    }

    @Test(
        "rule 31: one of a name that keeps an interval takes its new place among those of the name")
    func byName() throws {
        var clerk = Clerk { $0.groupSlots = ["net": 1] }
        let first = try clerk.queue { $0.minimumInterval = .seconds(10) }
        let (second, third) = (
            try clerk.queue { $0.minimumInterval = .seconds(10) },
            try clerk.queue { $0.minimumInterval = .seconds(10) }
        )
        #expect(
            try order(&clerk, third) {
                $0.priority = 1
                $0.group = "net"
            })
        clerk.finish(first)
        clerk.pass(.seconds(10))
        #expect(clerk.task(third)?.state == .running)
        clerk.finish(third)
        clerk.pass(.seconds(10))
        #expect(clerk.task(second)?.state == .running)
        clerk.finish(second)
        #expect(clerk.registry.queuedCount == 0)
    }

    @Test(
        "rule 31: it does not start before the disk has the change; a refused one changes nothing")
    func disk() throws {
        var clerk = Clerk()
        let id = try clerk.queue { $0.isPaused = true }
        clerk.disk = .waits
        #expect(try order(&clerk, id) { $0.isPaused = false })
        #expect(clerk.hold(id) == .changing)
        clerk.finishWriting(false)
        #expect(clerk.hold(id)?.rule == "store")
        clerk.disk = .writes
        clerk.heal()
        #expect(clerk.hold(id) == .pausedTask)
        #expect(clerk.history.contains(.answerChange(id, .notAccepting("the disk is full"))))
    }

    @Test(
        "rule 31: what is so by a change that the disk does not have yet is not answered before it")
    func twice() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.queue()
        let id = try clerk.queue()
        clerk.disk = .waits
        #expect(try order(&clerk, id) { $0.priority = 5 })
        #expect(try order(&clerk, id) { $0.priority = 5 })
        clerk.finishWriting(false)
        #expect(clerk.run(id)?.queueing.priority == 0)
        let refusals = clerk.history.count {
            $0 == .answerChange(id, .notAccepting("the disk is full"))
        }
        #expect(refusals == 2)
    }

    @Test("rule 31: nobody changes what is not theirs, what is out of range, or what is so already")
    func refusals() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.queue()
        let id = try clerk.queue()
        #expect(throws: Refusal.noSuchTask(id)) {
            try order(&clerk, id, by: Clerk.bob) { $0.priority = 1 }
        }
        #expect(throws: Refusal.noSuchGroup("gone")) { try order(&clerk, id) { $0.group = "gone" } }
        #expect(throws: Refusal.invalidParameter("priority")) {
            try order(&clerk, id) { $0.priority = 1001 }
        }
        #expect(throws: Refusal.limitReached(limit: "slots", value: 1)) {
            try order(&clerk, id) { $0.slots = 2 }
        }
        #expect(try !order(&clerk, id) { $0.priority = 0 })
        #expect(try order(&clerk, id, by: Clerk.rootWithAll) { $0.priority = 1 })
        let held = try clerk.begin()
        #expect(throws: Refusal.self) { try order(&clerk, held) { $0.priority = 1 } }
    }
}
