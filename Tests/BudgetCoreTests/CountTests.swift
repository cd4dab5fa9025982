import BudgetCore
import Containers
import Testing

@Suite("What the core counts of itself")
struct CountTests {
    @Test("a handler and a hard limit are as late as the daemon takes them up")
    func lateness() throws {
        var clerk = Clerk()
        _ = try clerk.begin(budget: RequestedBudget(seconds: 9, grace: 1))
        clerk.now = clerk.now + .seconds(8) + .milliseconds(3)
        clerk.call { $0.deadlineReached(at: $1, &$2) }
        let handlers = clerk.registry.counts.handlerLateness
        #expect(handlers.sumNanoseconds == 3_000_000)
        #expect(handlers.bounds.contains(1_000_000))
        #expect(clerk.registry.counts.limitLateness.count == 0)
        clerk.now = clerk.now + .seconds(1)
        clerk.call { $0.deadlineReached(at: $1, &$2) }
        #expect(clerk.registry.counts.limitLateness.sumNanoseconds == 3_000_000)
        #expect(clerk.registry.counts.handlerLateness.count == 1)
    }

    @Test("a handler that is fired early, and an end in time, are no lateness")
    func notLate() throws {
        var clerk = Clerk()
        let first = try clerk.begin()
        clerk.call { try? $0.simulateExpiration(first, by: Clerk.ann, at: $1, &$2) }
        _ = try clerk.begin()
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        #expect(clerk.registry.counts.handlersFired == 2)
        #expect(clerk.registry.counts.handlerLateness.count == 0)
    }

    @Test("the wait counts from the submission, or from when the task's own time has come")
    func wait() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.queue()
        clerk.started(first)
        #expect(clerk.registry.counts.queueWait.sumNanoseconds == 0)
        #expect(clerk.registry.counts.queueWait.count == 1)
        let second = try clerk.queue()
        clerk.pass(.seconds(10))
        let third = try clerk.queue { $0.earliestBegin = .seconds(5) }
        var standing = clerk.registry.queueStanding(at: clerk.now)
        #expect((standing.readyCount, standing.earlyCount, standing.heldBackCount) == (1, 1, 0))
        #expect(standing.oldestWait == .seconds(10))
        clerk.pass(.seconds(10))
        clerk.finish(first)
        clerk.started(second)
        #expect(clerk.registry.counts.queueWait.sumNanoseconds == 20_000_000_000)
        standing = clerk.registry.queueStanding(at: clerk.now)
        #expect((standing.readyCount, standing.earlyCount) == (1, 0))
        #expect(standing.oldestWait == .seconds(5))
        clerk.pass(.seconds(1))
        clerk.finish(second)
        clerk.started(third)
        #expect(clerk.task(third)?.state == .running)
        #expect(clerk.registry.counts.queueWait.sumNanoseconds == 26_000_000_000)
        #expect(clerk.registry.counts.queueWait.count == 3)
        #expect(clerk.registry.queueStanding(at: clerk.now).readyCount == 0)
    }

    @Test("what is paused with its group or its owner is held back, and is not ready")
    func paused() throws {
        var clerk = Clerk {
            $0.slots = 1
            $0.groupSlots = ["net": 1]
        }
        let ann = Clerk.ann.owner
        clerk.started(try clerk.queue())
        func counts(_ clerk: Clerk) -> [Int] {
            let standing = clerk.registry.queueStanding(at: clerk.now)
            return [standing.readyCount, standing.heldBackCount]
        }
        _ = try clerk.queue { $0.group = "net" }
        clerk.pass(.seconds(5))
        #expect(try clerk.pause("net"))
        #expect(counts(clerk) == [0, 1])
        #expect(clerk.registry.queueStanding(at: clerk.now).oldestWait == .zero)
        _ = try clerk.queue()
        #expect(counts(clerk) == [1, 1])
        _ = try clerk.call { registry, _, actions in
            try registry.setPaused(ann, true, &actions)
        }
        #expect(counts(clerk) == [0, 2])
        #expect(try clerk.pause("net", false))
        _ = try clerk.call { registry, _, actions in
            try registry.setPaused(ann, false, &actions)
        }
        #expect(counts(clerk) == [2, 0])
    }

    @Test("tasks are counted by their state, from their begin to their end")
    func states() throws {
        var clerk = Clerk { $0.slots = 1 }
        func counts(_ clerk: Clerk) -> [Int] {
            [TaskState.queued, .dormant, .running, .expiring, .ended]
                .map { clerk.registry.count(of: $0) }
        }
        let held = try clerk.begin(budget: RequestedBudget(seconds: 9, grace: 1))
        let run = try clerk.queue()
        _ = try clerk.queue()
        #expect(counts(clerk) == [1, 0, 2, 0, 0])
        clerk.pass(.seconds(8))
        #expect(clerk.task(held)?.state == .expiring)
        #expect(counts(clerk) == [1, 0, 1, 1, 0])
        clerk.finish(run)
        #expect(counts(clerk) == [0, 0, 1, 1, 0])
        clerk.pass(.seconds(1))
        #expect(counts(clerk) == [0, 0, 1, 0, 0])
    }
}
