import BudgetCore
import Testing

@Suite("A run task speaks to its keeper")
struct NotedTests {
    private func say(
        _ clerk: inout Clerk, _ id: TaskID, _ status: String? = nil, seconds: Double? = nil
    ) {
        let notice = TaskNotice(status: status, atLeast: seconds.map { .seconds($0) })
        clerk.call { $0.noted(id, notice, at: $1, &$2) }
    }

    @Test("a status is told when it is another than before, and stays with the ended task")
    func status() throws {
        var clerk = Clerk()
        let id = try clerk.run()
        say(&clerk, id, "one")
        #expect(clerk.latest == [.tell(.status, id)])
        #expect(clerk.registry.record(id)?.run?.status == "one")
        say(&clerk, id, "one")
        #expect(clerk.latest == [])
        say(&clerk, id, "")
        #expect(clerk.latest == [.tell(.status, id)])
        #expect(clerk.registry.record(id)?.run?.status == nil)
        say(&clerk, id, "last")
        clerk.exit(id, .status(0))
        clerk.gone(id)
        #expect(clerk.registry.record(id)?.run?.status == "last")
        say(&clerk, id, "later", seconds: 60)
        #expect(clerk.latest == [])
        #expect(clerk.registry.record(id)?.run?.status == "last")
    }

    @Test("of a long status a beginning of 128 bytes stays with the ended task")
    func statusAfterEnd() throws {
        var clerk = Clerk()
        let long = String(repeating: "ä", count: 512)
        for (text, kept) in [
            (long, String(repeating: "ä", count: 62) + "…"),
            (String(repeating: "x", count: 128), String(repeating: "x", count: 128)),
        ] {
            let id = try clerk.run()
            say(&clerk, id, text)
            clerk.exit(id, .status(0))
            #expect(clerk.registry.record(id)?.run?.status == text)
            clerk.gone(id)
            #expect(clerk.registry.record(id)?.run?.status == kept)
        }
    }

    @Test("the limit moves at each request, and is told when it has moved by a second in all")
    func toldNowAndThen() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        for step in 1...35 {
            say(&clerk, id, seconds: 10 + Double(step) * 0.25)
            #expect(clerk.remaining(id)?.untilHardLimit == .seconds(10 + Double(step) * 0.25))
            #expect(clerk.latest == (step % 4 == 0 ? [.tell(.extended, id)] : []))
        }
        say(&clerk, id, seconds: 21.5)
        #expect(clerk.latest == [.tell(.extended, id)])
        say(&clerk, id, seconds: 22.25)
        #expect(clerk.latest == [])
        say(&clerk, id, seconds: 22.5)
        #expect(clerk.latest == [.tell(.extended, id)])
    }

    @Test("an order to extend is told always, and what a task asked for before it counts no more")
    func toldByOrder() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(3))
        say(&clerk, id, seconds: 7.5)
        #expect(clerk.latest == [])
        clerk.pass(.seconds(3))
        try clerk.call { _ = try $0.extend(id, by: Clerk.ann, at: $1, &$2) }
        #expect(clerk.latest == [.tell(.extended, id)])
        say(&clerk, id, seconds: 10.75)
        #expect(clerk.latest == [])
        say(&clerk, id, seconds: 11)
        #expect(clerk.latest == [.tell(.extended, id)])
    }

    @Test("rule 8: a task that asks for time lasts that long from now, and never less than before")
    func extends() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(3))
        say(&clerk, id, seconds: 20)
        #expect(clerk.latest == [.tell(.extended, id)])
        #expect(clerk.remaining(id)?.untilHardLimit == .seconds(20))
        #expect(clerk.remaining(id)?.untilHandler == .seconds(18))
        #expect(clerk.remaining(id)?.bound == .ownBudget)
        for seconds in [0, 1, 20] {
            say(&clerk, id, seconds: Double(seconds))
            #expect(clerk.latest == [])
            #expect(clerk.remaining(id)?.untilHardLimit == .seconds(20))
        }
        clerk.pass(.seconds(18))
        #expect(clerk.count(.handlerFired, id) == 1)
    }

    @Test("rule 8: it gets no more than its lifetime limit leaves, and the bound says so")
    func cut() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(3))
        say(&clerk, id, seconds: 5000)
        #expect(clerk.remaining(id)?.untilHardLimit == .seconds(597))
        #expect(clerk.remaining(id)?.bound == .lifetimeLimit)
        clerk.pass(.seconds(100))
        say(&clerk, id, seconds: 5000)
        #expect(clerk.latest == [])
        clerk.pass(.seconds(497))
        #expect(clerk.count(.overrunning, id) == 1)
    }

    @Test(
        "rule 8: while its handler's time runs it runs again, and is told again a grace before the end"
    )
    func whileExpiring() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(8))
        #expect(clerk.task(id)?.state == .expiring)
        say(&clerk, id, seconds: 5)
        #expect(clerk.task(id)?.state == .running)
        #expect(clerk.task(id)?.reason == nil)
        clerk.pass(.seconds(3) - .nanoseconds(1))
        #expect(clerk.count(.handlerFired, id) == 1)
        clerk.pass(.nanoseconds(1))
        #expect(clerk.count(.handlerFired, id) == 2)
        clerk.exit(id, .status(0))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .expired)
    }

    @Test("less than a grace more gives longer for the end, and nobody is told twice")
    func withinGrace() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(9))
        say(&clerk, id, seconds: 1.5)
        #expect(clerk.latest == [])
        #expect(clerk.task(id)?.state == .expiring)
        #expect(clerk.task(id)?.reason == .budgetSpent)
        clerk.pass(.seconds(1.5) - .nanoseconds(1))
        #expect(clerk.count(.handlerFired, id) == 1)
        #expect(clerk.count(.overrunning, id) == 0)
        clerk.pass(.nanoseconds(1))
        #expect(clerk.count(.overrunning, id) == 1)
    }

    @Test("rule 8: after the hard limit, in a cancel and in a drain nothing is given")
    func tooLate() throws {
        var clerk = Clerk()
        let cancelled = try clerk.run(budget: RunTaskTests.brief)
        try clerk.cancel(cancelled)
        let drained = try clerk.run(budget: RunTaskTests.brief)
        clerk.now = clerk.now + .seconds(1)
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        for id in [cancelled, drained] {
            say(&clerk, id, "still there", seconds: 100)
            #expect(clerk.latest == [.tell(.status, id)])
        }
        var other = Clerk()
        let late = try other.run(budget: RunTaskTests.brief)
        other.now = other.now + .seconds(10)
        say(&other, late, seconds: 100)
        #expect(other.count(.overrunning, late) == 1)
        #expect(other.count(.extended, late) == 0)
    }

    @Test("of a task that waits, a held one and an unknown one nothing is taken")
    func others() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.run()
        let queued = try clerk.run()
        let held = try clerk.begin()
        for id in [queued, held, TaskID(rawValue: 999)] {
            say(&clerk, id, "here", seconds: 300)
            #expect(clerk.latest == [])
        }
    }
}
