import BudgetCore
import Testing

@Suite("Run tasks: a command on borrowed time")
struct RunTaskTests {
    static let brief = RequestedBudget(seconds: 10, grace: 2)

    @Test(
        "an exit before the handler: 0 is completed, anything else failed",
        arguments: [
            (ProcessExit.status(0), Outcome.completed), (.status(1), .failed),
            (.signal(SignalNumber(rawValue: 11)), .failed),
            (.signal(.terminate), .failed),
        ])
    func earlyExit(exit: ProcessExit, outcome: Outcome) throws {
        var clerk = Clerk()
        let id = try clerk.run()
        clerk.pass(.seconds(3))
        clerk.exit(id, exit)
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == outcome)
        #expect(clerk.task(id)?.used(at: clerk.now) == .seconds(3))
    }

    @Test("an exit in the grace is expired, whatever its status", arguments: [0, 7])
    func exitInGrace(status: Int32) throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(8))
        #expect(clerk.latest == [.tell(.handlerFired, id), .warn(id)])
        clerk.exit(id, .status(status))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .expired)
    }

    @Test("who is there at the hard limit is killed, and recorded when nothing is left")
    func overrun() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(10))
        #expect(clerk.latest.suffix(2) == [.tell(.overrunning, id), .killAll(id)])
        clerk.exit(id, .signal(.kill))
        #expect(clerk.task(id)?.state == .expiring)
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .overrun)
    }

    @Test("who had exited by itself when the kill came has not overrun")
    func exitBeatsKill() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(10))
        clerk.exit(id, .status(0))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .expired)
    }

    @Test("what was looked at stays as it was, whatever comes of the task")
    func looks() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        let first = clerk.run(id)
        clerk.exit(id, .status(7))
        let second = clerk.run(id)
        clerk.gone(id)
        #expect(first?.exit == nil && first?.conclusion == nil)
        #expect(second?.exit == .status(7) && second?.conclusion == nil)
        #expect(clerk.run(id)?.exit == .status(7))
        #expect(first != second)
    }

    @Test("a kill that does not end it is repeated, and reported once")
    func stuck() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(10))
        clerk.pass(.seconds(4))
        // After one, two and four seconds.
        #expect(clerk.latest.count { $0 == .killAll(id) } == 3)
        #expect(clerk.count(.stuck, id) == 1)
        clerk.exit(id, .signal(.kill))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .overrun)
        #expect(clerk.registry.nextDeadline == nil)
    }

    @Test("cancel: SIGTERM, the task's grace, kill")
    func cancel() throws {
        var clerk = Clerk()
        let id = try clerk.run()
        try clerk.cancel(id)
        #expect(clerk.latest == [.tell(.cancelling, id), .signal(id, .terminate)])
        clerk.pass(.seconds(5) - .nanoseconds(1))
        #expect(clerk.latest.isEmpty)
        clerk.pass(.nanoseconds(1))
        #expect(clerk.latest == [.killAll(id)])
        clerk.exit(id, .signal(.kill))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .cancelled)
        #expect(throws: Refusal.alreadyEnded(id, .cancelled)) { try clerk.cancel(id) }
    }

    @Test("a cancelled task that obeys is cancelled, and what remains of it is killed at once")
    func cancelObeyed() throws {
        var clerk = Clerk()
        let id = try clerk.run()
        try clerk.cancel(id)
        clerk.exit(id, .status(0))
        #expect(clerk.latest == [.killAll(id)])
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .cancelled)
        #expect(clerk.task(id)?.reason == .cancelled(by: Clerk.ann.owner, text: nil))
    }

    @Test("the grace of a cancel never reaches beyond the hard limit")
    func cancelNearLimit() throws {
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        clerk.pass(.seconds(9))
        try clerk.cancel(id)
        clerk.pass(.seconds(1))
        #expect(clerk.latest == [.killAll(id)])
    }

    @Test("a queued task that is cancelled never starts")
    func cancelQueued() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.run()
        let second = try clerk.run()
        try clerk.cancel(second)
        #expect(clerk.task(second)?.outcome == .cancelled)
        clerk.exit(first, .status(0))
        clerk.gone(first)
        #expect(!clerk.history.contains(.launch(second)))
        #expect(clerk.registry.queuedCount == 0)
    }

    @Test("a command that cannot be started has failed, and its slot is free")
    func startFailed() throws {
        var clerk = Clerk { $0.slots = 1 }
        let work = Work(command: ["missing"])
        let submission = Submission(name: "missing", owner: Clerk.ann.owner, work: work)
        let id = try clerk.submit(submission)
        let next = try clerk.run()
        clerk.call { $0.startFailed(id, "cannot run \"missing\"", at: $1, &$2) }
        #expect(clerk.latest == [.tell(.ended, id), .launch(next)])
        #expect(clerk.task(id)?.outcome == .failed)
        #expect(clerk.task(id)?.reason?.text == "cannot run \"missing\"")
    }

    @Test("the handler's command runs beside the task, which ends when both have")
    func handlerCommand() throws {
        var clerk = Clerk()
        let handler = ExpirationHandler(signal: nil, command: ["save"])
        let id = try clerk.run(budget: RunTaskTests.brief, expiration: handler)
        clerk.pass(.seconds(8))
        #expect(clerk.latest == [.tell(.handlerFired, id), .warn(id)])
        clerk.exit(id, .status(0))
        #expect(clerk.latest.isEmpty)
        clerk.call { $0.handlerExited(id, at: $1, &$2) }
        #expect(clerk.latest == [.killAll(id)])
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .expired)
    }

    @Test("a handler's command that outlasts the hard limit is killed with the task")
    func handlerCommandOverruns() throws {
        var clerk = Clerk()
        let handler = ExpirationHandler(signal: .terminate, command: ["save"])
        let id = try clerk.run(budget: RunTaskTests.brief, expiration: handler)
        clerk.pass(.seconds(8))
        clerk.exit(id, .status(0))
        clerk.pass(.seconds(2))
        #expect(clerk.latest.contains(.killAll(id)))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .expired)
    }

    @Test("explain names the rule, its number and the earliest change")
    func explain() throws {
        var clerk = Clerk { $0.slots = 1 }
        let id = try clerk.run()
        let waiting = try clerk.run()
        let slots = try clerk.registry.explain(waiting, for: Clerk.ann, at: clerk.now)
        #expect(slots.first?.rule == "slots")
        #expect(slots.first?.value == 1)
        #expect(slots.first?.earliestChange == .seconds(180))
        let budget = try clerk.registry.explain(id, for: Clerk.ann, at: clerk.now)
        #expect(budget.first?.rule == "budget")
        #expect(budget.first?.value == 180_000)
        #expect(budget.first?.earliestChange == .seconds(175))
        clerk.exit(id, .status(3))
        clerk.gone(id)
        let end = try clerk.registry.explain(id, for: Clerk.ann, at: clerk.now)
        #expect(end.first?.text == "its command exited with status 3")
    }

    @Test("explain does not tell when another's task frees a slot, but to who sees all")
    func explainOthers() throws {
        var clerk = Clerk { $0.slots = 2 }
        _ = try clerk.run(by: Clerk.bob)
        clerk.pass(.seconds(10))
        let second = try clerk.run(by: Clerk.bob)
        let waiting = try clerk.run(by: Clerk.ann)
        func told(_ caller: Caller) throws -> Explanation? {
            try clerk.registry.explain(waiting, for: caller, at: clerk.now).first
        }
        #expect(try told(Clerk.ann)?.rule == "slots")
        #expect(try told(Clerk.ann)?.value == 2)
        #expect(try told(Clerk.ann)?.earliestChange == nil)
        #expect(try told(Clerk.rootWithAll)?.earliestChange == .seconds(170))
        // The slot of an own task is known, and the earlier one of another's still is not.
        clerk.exit(second, .status(0))
        clerk.gone(second)
        let own = try clerk.run(by: Clerk.ann)
        #expect(clerk.task(waiting)?.state == .running)
        let slots = try clerk.registry.explain(own, for: Clerk.ann, at: clerk.now).first
        #expect(slots?.earliestChange == .seconds(180))
    }
}
