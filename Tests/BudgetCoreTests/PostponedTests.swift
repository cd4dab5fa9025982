import BudgetCore
import Testing

@Suite("Commands that find no room when they are to start")
struct PostponedTests {
    @discardableResult
    private static func postpone(
        _ id: TaskID, _ clerk: inout Clerk, _ scope: ShortageScope = .machine
    ) -> Bool {
        clerk.call { $0.startPostponed(id, "no room", scope, at: $1, &$2) }
    }

    @Test("a full machine is left alone for a pause that doubles, and no attempt is used up")
    func machine() throws {
        var clerk = Clerk { $0.slots = 1 }
        let id = try clerk.queue { $0.retry = Retry(attempts: 2, delay: .zero) }
        var pauses: [Int] = []
        for _ in 0..<8 {
            #expect(clerk.task(id)?.state == .running)
            #expect(Self.postpone(id, &clerk))
            #expect(clerk.ordered.last == .startUndone(id))
            #expect(clerk.run(id)?.attempt == 1 && clerk.task(id)?.isTicking == false)
            let until = clerk.registry.notBefore(id, at: clerk.now) ?? .zero
            pauses.append(Int(until.components.seconds))
            guard case .shortage("no room", _) = clerk.hold(id) else {
                Issue.record("\(String(describing: clerk.hold(id)))")
                return
            }
            clerk.pass(until - .nanoseconds(1))
            #expect(clerk.task(id)?.state == .queued)
            clerk.pass(.nanoseconds(1))
        }
        #expect(pauses == [1, 3, 5, 9, 17, 31, 31, 31])
        clerk.started(id)
        clerk.finish(id)
        #expect(clerk.task(id)?.outcome == .completed)
        #expect(clerk.registry.counts.begunRun == 1)
        #expect(clerk.registry.nextDeadline == nil && clerk.registry.nextQueueDeadline == nil)
    }

    @Test("starts that were under way in one pause make it no longer, and keep their order")
    func together() throws {
        var clerk = Clerk { $0.slots = 2 }
        let ids = try (0..<3).map { _ in try clerk.queue() }
        #expect(Self.postpone(ids[0], &clerk))
        #expect(!Self.postpone(ids[1], &clerk))
        #expect(clerk.states(ids) == [.queued, .queued, .queued])
        clerk.pass(.seconds(1))
        #expect(clerk.states(ids) == [.running, .running, .queued])
    }

    @Test(
        "without the program that runs commands all wait in their order, and start when it is there"
    )
    func executor() throws {
        var clerk = Clerk { $0.slots = 2 }
        let ids = try (0..<3).map { _ in try clerk.queue() }
        for round in 0..<6 {
            #expect(Self.postpone(ids[0], &clerk, .executor))
            #expect(!Self.postpone(ids[1], &clerk, .executor))
            #expect(clerk.states(ids) == [.queued, .queued, .queued])
            guard case .shortage("no room", _) = clerk.hold(ids[0]) else {
                Issue.record("\(String(describing: clerk.hold(ids[0])))")
                return
            }
            if round < 5 { clerk.pass(.seconds(min(1 << round, 30))) }
        }
        clerk.call { $0.executorIsThere(at: $1, &$2) }
        #expect(clerk.states(ids) == [.running, .running, .queued])
        // What the machine has no room for waits on.
        #expect(Self.postpone(ids[0], &clerk))
        clerk.call { $0.executorIsThere(at: $1, &$2) }
        #expect(clerk.task(ids[0])?.state == .queued)
        guard case .shortage(_, let until) = clerk.hold(ids[0]) else {
            Issue.record("\(String(describing: clerk.hold(ids[0])))")
            return
        }
        #expect(until == clerk.registry.boot(at: clerk.now) + .seconds(1))
    }

    @Test("what is short for one command holds up no other, of whomever")
    func command() throws {
        var clerk = Clerk { $0.slots = 1 }
        let id = try clerk.queue()
        let next = try clerk.queue()
        #expect(Self.postpone(id, &clerk, .command))
        #expect(clerk.task(next)?.state == .running)
        guard case .postponed("no room", _, count: 1) = clerk.hold(id) else {
            Issue.record("\(String(describing: clerk.hold(id)))")
            return
        }
        clerk.finish(next)
        clerk.pass(.seconds(1))
        #expect(clerk.task(id)?.state == .running)
        #expect(!Self.postpone(id, &clerk, .command))
    }

    @Test("one that never finds room does not keep others from theirs")
    func notStarving() throws {
        var clerk = Clerk { $0.slots = 1 }
        let greedy = try clerk.queue { $0.priority = 9 }
        let modest = try (0..<10).map { _ in try clerk.queue() }
        for _ in 0..<60 {
            if clerk.task(greedy)?.state == .running { Self.postpone(greedy, &clerk) }
            for id in modest where clerk.task(id)?.state == .running {
                clerk.started(id)
                clerk.finish(id)
            }
            clerk.pass(.seconds(1))
        }
        #expect(modest.allSatisfy { clerk.task($0)?.outcome == .completed })
    }

    @Test("one that was cancelled meanwhile ends, and is not queued again")
    func cancelled() throws {
        var clerk = Clerk()
        let id = try clerk.queue()
        try clerk.cancel(id)
        Self.postpone(id, &clerk)
        #expect(clerk.task(id)?.outcome == .cancelled)
    }

    @Test("a disk that does not take the return gets it again when it writes")
    func notStored() throws {
        var clerk = Clerk()
        let id = try clerk.queue()
        clerk.disk = .fails
        Self.postpone(id, &clerk)
        #expect(clerk.task(id)?.state == .queued)
        clerk.disk = .writes
        clerk.ordered = []
        clerk.heal()
        #expect(clerk.ordered.first == .startUndone(id))
    }
}
