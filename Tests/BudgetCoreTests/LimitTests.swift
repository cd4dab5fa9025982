import BudgetCore
import Testing

@Suite("docs/architecture.md, limits")
struct LimitTests {
    @Test("rule 12: the thousand and first live task of an owner is refused with the limit named")
    func tasksPerOwner() throws {
        var clerk = Clerk()
        let ids = try (0..<1000).map { _ in try clerk.begin() }
        #expect(throws: Refusal.limitReached(limit: "tasksPerOwnerMax", value: 1000)) {
            try clerk.begin()
        }
        _ = try clerk.begin(by: Clerk.bob)
        _ = try clerk.end(ids[500])
        _ = try clerk.begin()
    }

    @Test("rule 12: queued tasks are not live, and have limits of their own")
    func queueDepths() throws {
        var clerk = Clerk {
            $0.slots = 1
            $0.queueDepthMax = 3
            $0.queueDepthPerOwnerMax = 2
            $0.tasksPerOwnerMax = 1
        }
        for _ in 0..<3 { _ = try clerk.run() }
        #expect(throws: Refusal.limitReached(limit: "queueDepthPerOwnerMax", value: 2)) {
            try clerk.run()
        }
        _ = try clerk.run(by: Clerk.bob)
        #expect(throws: Refusal.limitReached(limit: "queueDepthMax", value: 3)) {
            try clerk.run(by: Clerk.bob)
        }
    }

    @Test("an owner with all its live tasks waits, others are started past it")
    func ownerAtLimitWaits() throws {
        var clerk = Clerk {
            $0.slots = 4
            $0.tasksPerOwnerMax = 1
        }
        let held = try clerk.begin()
        let waiting = try clerk.run()
        let other = try clerk.run(by: Clerk.bob)
        #expect(clerk.task(waiting)?.state == .queued)
        #expect(clerk.task(other)?.state == .running)
        let why = try clerk.registry.explain(waiting, for: Clerk.ann, at: clerk.now)
        #expect(why.map(\.rule) == ["tasksPerOwnerMax"])
        _ = try clerk.end(held)
        #expect(clerk.latest.contains(.launch(waiting)))
    }

    @Test("slots: first come, first served, and a freed slot is taken at once")
    func slots() throws {
        var clerk = Clerk { $0.slots = 2 }
        let ids = try (0..<4).map { _ in try clerk.run() }
        #expect(ids.map { clerk.task($0)?.state } == [.running, .running, .queued, .queued])
        clerk.exit(ids[0], .status(0))
        #expect(clerk.task(ids[2])?.state == .queued)
        clerk.gone(ids[0])
        #expect(clerk.latest == [.tell(.ended, ids[0]), .launch(ids[2])])
        #expect(clerk.task(ids[3])?.state == .queued)
    }

    @Test("rule 12: names have a length and no control characters")
    func names() throws {
        var clerk = Clerk()
        _ = try clerk.begin(String(repeating: "ä", count: 127))
        #expect(throws: Refusal.limitReached(limit: "nameBytesMax", value: 255)) {
            try clerk.begin(String(repeating: "ä", count: 128))
        }
        #expect(throws: Refusal.limitReached(limit: "nameBytesMax", value: 255)) {
            try clerk.begin(String(repeating: "\n", count: 1 << 24))
        }
        let steering = ["\u{1B}[2J", "\u{7F}", "\u{9B}2J", "a\u{2028}b", "\u{202E}txt", "\u{2066}"]
        for name in ["", "a\nb"] + steering {
            #expect(throws: Refusal.invalidParameter("name")) { try clerk.begin(name) }
        }
    }

    @Test(
        "rule 12: what one owner's commands take in memory is bounded, and given back at their end")
    func workBytes() throws {
        var clerk = Clerk {
            $0.workBytesMax = 300
            $0.workBytesPerOwnerMax = 500
            $0.slots = 1
        }
        func submit(_ bytes: Int) throws -> TaskID {
            let work = Work(command: [String(repeating: "x", count: bytes)])
            let submission = Submission(name: "a", owner: Clerk.ann.owner, work: work)
            return try clerk.submit(submission)
        }
        #expect(throws: Refusal.limitReached(limit: "workBytesMax", value: 300)) {
            try submit(301)
        }
        let first = try submit(200)
        _ = try submit(200)
        #expect(throws: Refusal.limitReached(limit: "workBytesPerOwnerMax", value: 500)) {
            try submit(200)
        }
        clerk.exit(first, .status(0))
        clerk.gone(first)
        _ = try submit(200)
        #expect(clerk.registry.record(first)?.run?.work.environment.isEmpty == true)
    }

    @Test("rule 13: a begin with less background time than the grace is refused")
    func tooLittleTime() throws {
        var clerk = Clerk()
        let key = ApplicationKey(owner: Clerk.ann.owner, id: "maps")
        let until = clerk.now + .seconds(180)
        clerk.call {
            $0.applicationMoved(key, to: .background(until: until, grace: .seconds(5)), at: $1, &$2)
        }
        clerk.pass(.seconds(175))
        let id = try clerk.begin(application: "maps")
        clerk.call { $0.deadlineReached(at: $1, &$2) }
        #expect(clerk.task(id)?.reason == .applicationTimeSpent)
        clerk.pass(.nanoseconds(1))
        let refusal = Refusal.tooLittleTime(
            remaining: .seconds(5) - .nanoseconds(1), needed: .seconds(5))
        #expect(throws: refusal) { try clerk.begin(application: "maps") }
        _ = try clerk.begin(application: "other")
    }

    @Test("in front nothing is spent; in the background two tasks share one deadline")
    func applicationClock() throws {
        var clerk = Clerk()
        let key = ApplicationKey(owner: Clerk.ann.owner, id: "maps")
        clerk.call { $0.applicationMoved(key, to: .foreground, at: $1, &$2) }
        let first = try clerk.begin(application: "maps")
        #expect(clerk.task(first)?.state == .dormant)
        clerk.pass(.seconds(1000))
        #expect(clerk.task(first)?.used(at: clerk.now) == .zero)
        let until = clerk.now + .seconds(60)
        clerk.call {
            $0.applicationMoved(key, to: .background(until: until, grace: .seconds(5)), at: $1, &$2)
        }
        clerk.pass(.seconds(10))
        let second = try clerk.begin(application: "maps")
        #expect(clerk.remaining(first)?.untilHandler == .seconds(45))
        #expect(clerk.remaining(second)?.untilHandler == .seconds(45))
        #expect(clerk.remaining(second)?.bound == .applicationBackgroundTime)
        clerk.pass(.seconds(45))
        #expect(
            clerk.latest.suffix(2) == [.tell(.handlerFired, first), .tell(.handlerFired, second)])
        clerk.call { $0.applicationMoved(key, to: .foreground, at: $1, &$2) }
        #expect(clerk.task(first)?.state == .dormant)
        #expect(try clerk.end(second) == .completed)
    }
}
