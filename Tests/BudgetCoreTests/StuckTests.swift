import BudgetCore
import Testing

@Suite("Commands that no kill ends")
struct StuckTests {
    private static let brief = RequestedBudget(seconds: 10, grace: 2)

    /// A command that was killed at its hard limit, and is there.
    private static func killed(_ clerk: inout Clerk) throws -> TaskID {
        let id = try clerk.run(budget: brief)
        clerk.pass(.seconds(10))
        return id
    }

    @Test("it is killed ever more seldom, gives its slot back, and keeps its owner's share")
    func stuck() throws {
        var clerk = Clerk {
            $0.slots = 1
            $0.slotsPerOwnerMax = 1
        }
        let id = try Self.killed(&clerk)
        let own = try clerk.queue()
        let other = try clerk.queue(by: Clerk.bob)
        clerk.pass(.seconds(30) - .nanoseconds(1))
        #expect(clerk.latest.count { $0 == .killAll(id) } == 5)
        #expect(clerk.states([own, other]) == [.queued, .queued])
        clerk.pass(.nanoseconds(1))
        #expect(clerk.run(id)?.isStuck == true && clerk.task(id)?.state == .expiring)
        #expect(clerk.states([own, other]) == [.queued, .running])
        clerk.finish(other)
        #expect(clerk.hold(own) == .slotsPerOwnerMax(1))
        let found = try clerk.registry.explain(id, for: Clerk.ann, at: clerk.now)
        #expect(found.map(\.rule) == ["stuck", "budget"])
        #expect(clerk.registry.use(of: Clerk.ann.owner).live == 1)
        clerk.pass(.seconds(3600))
        #expect(clerk.latest.count { $0 == .killAll(id) } <= 61)
        #expect(clerk.count(.stuck, id) == 1)
        clerk.exit(id, .signal(.kill))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .overrun)
        #expect(clerk.task(own)?.state == .running)
    }

    @Test("a stop waits five seconds after the kill, also for what was stuck before")
    func drain() throws {
        var clerk = Clerk()
        let early = try Self.killed(&clerk)
        clerk.pass(.seconds(100))
        let late = try clerk.run { $0.retry = Retry(attempts: 9, onInterruption: true) }
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        clerk.pass(.zero)
        #expect(clerk.task(early)?.outcome == .interrupted)
        #expect(clerk.task(early)?.reason == .stillThere)
        clerk.pass(.seconds(10) - .nanoseconds(1))
        #expect(clerk.task(late)?.state == .expiring)
        clerk.pass(.nanoseconds(1))
        // It is not tried again: nobody knows when its processes are gone.
        #expect(clerk.task(late)?.outcome == .interrupted)
        #expect(clerk.registry.begunCount == 0 && clerk.registry.nextDeadline == nil)
    }

    @Test("one that a stop gives up at the exit of its command has no deadline, on a slow disk")
    func givenUp() throws {
        var clerk = Clerk()
        let id = try Self.killed(&clerk)
        clerk.disk = .waits
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        clerk.now = clerk.now + .seconds(10)
        clerk.exit(id, .signal(.kill))
        #expect(clerk.latest.contains(.killAll(id)))
        #expect(clerk.run(id)?.conclusion?.outcome == .interrupted)
        #expect(clerk.registry.nextDeadline == nil)
    }

    @Test("a stop waits as long for an application that no kill ends")
    func application() throws {
        var stage = Stage()
        stage.held = [.kill]
        try stage.register()
        try stage.launch()
        stage.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        stage.pass(.seconds(10) - .nanoseconds(1))
        #expect(stage.clerk.registry.runningApplicationCount == 1)
        stage.pass(.nanoseconds(1))
        #expect(stage.clerk.registry.runningApplicationCount == 0)
        #expect(stage.last()?.reason == .interrupted)
    }
}

extension Clerk {
    /// Submits a command that has a queue's options; where it is launched, its process is said to run.
    fileprivate mutating func run(_ configure: (inout Queueing) -> Void) throws -> TaskID {
        let id = try queue("upload", configure)
        if latest.contains(.launch(id)) { started(id) }
        return id
    }
}
