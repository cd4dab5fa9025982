import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 23: owners take turns")
struct FairnessTests {
    @Test(
        "rule 23: 10,000 queued tasks of one delay another's first by one task's length at most",
        arguments: [1, 4])
    func backlog(slots: Int) throws {
        var clerk = Clerk { $0.slots = slots }
        let ids = try (0..<10_000).map { _ in try clerk.queue { $0.priority = 1000 } }
        let other = try clerk.queue(by: Clerk.bob)
        #expect(clerk.task(other)?.state == .queued)
        let running = try #require(ids.first { clerk.task($0)?.state == .running })
        clerk.finish(running)
        #expect(clerk.task(other)?.state == .running)
    }

    @Test("rule 23: two owners with backlogs get every other turn, whatever their priorities")
    func alternation() throws {
        var clerk = Clerk { $0.slots = 1 }
        let ann = try (0..<6).map { _ in try clerk.queue { $0.priority = 9 } }
        let bob = try (0..<6).map { _ in try clerk.queue(by: Clerk.bob) }
        let served = clerk.serveAll(of: ann + bob)
        #expect(served == zip(ann, bob).flatMap { [$0, $1] })
    }

    @Test("rule 23: who submits one at a time is not starved by a backlog, and starves nobody")
    func oneAtATime() throws {
        var clerk = Clerk { $0.slots = 1 }
        let backlog = try (0..<20).map { _ in try clerk.queue() }
        var single = try clerk.queue(by: Clerk.bob)
        for turn in 0..<9 {
            #expect(clerk.task(backlog[turn])?.state == .running)
            clerk.finish(backlog[turn])
            #expect(clerk.task(single)?.state == .running)
            clerk.finish(single)
            single = try clerk.queue(by: Clerk.bob)
        }
        #expect(clerk.task(backlog[9])?.state == .running)
    }

    @Test("rule 23: the owner with the fewest commands in slots goes next")
    func fewestRunning() throws {
        var clerk = Clerk { $0.slots = 4 }
        let ann = try (0..<8).map { _ in try clerk.queue() }
        let bob = try (0..<8).map { _ in try clerk.queue(by: Clerk.bob) }
        func running(_ ids: [TaskID]) -> Int { ids.count { clerk.task($0)?.state == .running } }
        #expect(running(ann) == 4)
        clerk.finish(ann[0])
        clerk.finish(ann[1])
        #expect([running(ann), running(bob)] == [2, 2])
        clerk.finish(ann[2])
        #expect(clerk.task(ann[4])?.state == .running)
        clerk.finish(bob[0])
        #expect([running(ann), running(bob)] == [2, 2])
    }

    @Test("rule 23: an owner with all its live tasks lets others pass, and keeps its turn")
    func ownerAtLimit() throws {
        var clerk = Clerk {
            $0.slots = 3
            $0.tasksPerOwnerMax = 1
        }
        let ann = try (0..<2).map { _ in try clerk.queue() }
        let bob = try (0..<2).map { _ in try clerk.queue(by: Clerk.bob) }
        #expect(clerk.states(ann + bob) == [.running, .queued, .running, .queued])
        #expect(clerk.hold(ann[1]) == .tasksPerOwnerMax(1))
        clerk.finish(ann[0])
        #expect(clerk.task(ann[1])?.state == .running)
    }

    @Test("where nobody waits it is forgotten who was served, but of those who run")
    func forgetting() throws {
        var clerk = Clerk { $0.slots = 1 }
        clerk.finish(try clerk.queue())
        let running = try clerk.queue(by: Clerk.carol)
        let bob = try clerk.queue(by: Clerk.bob)
        let ann = try clerk.queue()
        #expect(clerk.serveAll(of: [running, bob, ann]) == [running, ann, bob])
    }
}
