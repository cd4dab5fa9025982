import BudgetCore
import Containers
import Testing

@Suite("Commands that another program runs, and gives their time")
struct CommandTests {
    static let budget = RequestedBudget(seconds: 10, grace: 2)

    static func clerk() -> Clerk { Clerk() }

    @Test("a command's times and what is kept with it are mirrored where they change")
    func mirrored() throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        let begunAt = clerk.now
        #expect(clerk.takeChangedTimes() == [id])
        #expect(clerk.takeChangedTimes() == [])
        let first = try #require(clerk.deadlines(id))
        #expect(first.handlerAt == begunAt + .seconds(8) && first.limitAt == begunAt + .seconds(10))
        clerk.pass(.seconds(3))
        #expect(clerk.takeChangedTimes() == [])
        _ = try clerk.extend(id)
        #expect(clerk.takeChangedTimes() == [id])
        #expect(clerk.deadlines(id)?.limitAt == begunAt + .seconds(13))
        var change = QueueingChange()
        change.isPaused = true
        _ = try clerk.call { try $0.change(id, by: Clerk.ann, change, at: $1, &$2) }
        #expect(clerk.takeChangedTimes() == [id])
        #expect(clerk.deadlines(id)?.notes.marks == .isPaused)
        try clerk.cancel(id)
        #expect(clerk.takeChangedTimes() == [id])
        let last = try #require(clerk.deadlines(id))
        #expect(last.handlerAt == .never && last.limitAt == clerk.now + .seconds(2))
        clerk.finish(id)
        #expect(clerk.deadlines(id) == nil)
    }

    @Test("nothing is noted of held tasks")
    func notMirrored() throws {
        var clerk = Self.clerk()
        _ = try clerk.end(clerk.begin())
        #expect(clerk.takeChangedTimes() == [])
    }

    @Test("a handler that fires on both sides counts once", arguments: [true, false])
    func firesOnce(isToldFirst: Bool) throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        let dueAt = clerk.now + .seconds(8)
        if isToldFirst {
            clerk.now = dueAt
            clerk.warned(id, 1)
            #expect(clerk.latest == [.tell(.handlerFired, id)])
            clerk.pass(.zero)
        } else {
            clerk.pass(.seconds(8))
            #expect(clerk.latest == [.tell(.handlerFired, id), .warn(id)])
            #expect(clerk.deadlines(id)?.handlerAt == dueAt)
            clerk.warned(id, 1)
        }
        #expect(clerk.latest.isEmpty)
        clerk.warned(id, 1)
        #expect(clerk.count(.handlerFired, id) == 1 && clerk.registry.counts.handlersFired == 1)
        #expect(clerk.registry.counts.handlerLateness.count == 1)
        #expect(clerk.deadlines(id)?.handlerAt == .never)
        clerk.finish(id)
        #expect(clerk.task(id)?.outcome == .expired)
    }

    @Test(
        "one that is given time in the moment in which its handler fires goes on, and is warned again"
    )
    func extendedMeanwhile() throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        clerk.now = clerk.now + .seconds(8) - .nanoseconds(1)
        _ = try clerk.extend(id)
        let next = clerk.now + .seconds(8)
        clerk.now = clerk.now + .nanoseconds(1)
        clerk.warned(id, 1)
        #expect(clerk.latest == [.tell(.handlerFired, id)])
        #expect(clerk.task(id)?.state == .running && clerk.task(id)?.warnedAt == clerk.now)
        #expect(clerk.deadlines(id)?.handlerAt == next)
        clerk.pass(.seconds(8))
        #expect(clerk.count(.handlerFired, id) == 2)
    }

    @Test("a report of a handler that fired before the task was given time is none of a new one")
    func lateReport() throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        clerk.pass(.seconds(8))
        let firedAt = clerk.now
        clerk.pass(.seconds(1))
        _ = try clerk.extend(id)
        clerk.call { $0.commandWarned(id, count: 1, moment: firedAt, at: $1, &$2) }
        #expect(clerk.latest.isEmpty && clerk.task(id)?.state == .running)
        #expect(clerk.registry.counts.handlersFired == 1)
    }

    @Test("a handler that was ordered, and refused since an earlier one was not told of, stays due")
    func owed() throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        clerk.pass(.seconds(8))
        let firedAt = clerk.now
        clerk.pass(.seconds(1))
        _ = try clerk.extend(id)
        clerk.pass(.seconds(1))
        try clerk.call { try $0.simulateExpiration(id, by: Clerk.ann, at: $1, &$2) }
        let orderedAt = clerk.now
        clerk.call { $0.commandWarned(id, count: 1, moment: firedAt, at: $1, &$2) }
        #expect(clerk.deadlines(id)?.handlerAt == orderedAt)
        clerk.warned(id, 2)
        #expect(clerk.deadlines(id)?.handlerAt == .never)
        #expect(clerk.registry.counts.handlersFired == 2)
    }

    @Test("what is killed at its limit has overrun, whoever says so first")
    func limit() throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        clerk.pass(.seconds(8))
        clerk.now = clerk.now + .seconds(2)
        clerk.limitReached(id)
        #expect(clerk.latest == [.tell(.overrunning, id), .killAll(id)])
        clerk.limitReached(id)
        clerk.pass(.zero)
        #expect(clerk.latest.isEmpty && clerk.registry.counts.limitLateness.count == 1)
        clerk.exit(id, .signal(.kill))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .overrun && clerk.task(id)?.reason == .budgetSpent)
        clerk.limitReached(id)
        #expect(clerk.latest.isEmpty)
    }

    @Test("what is killed at the end of its grace ends as it was ordered")
    func limitOfTeardown() throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        try clerk.cancel(id)
        clerk.limitReached(id)
        #expect(clerk.latest == [.killAll(id)])
        clerk.exit(id, .signal(.kill))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .cancelled)
    }

    @Test("what ended before its handler fired was not warned, though both are told of late")
    func exitBeforeHandler() throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        let exitedAt = clerk.now + .seconds(7)
        clerk.pass(.seconds(30))
        clerk.call { $0.mainExited(id, .status(0), moment: exitedAt, at: $1, &$2) }
        clerk.call { $0.processesGone(id, moment: exitedAt, at: $1, &$2) }
        let task = try #require(clerk.task(id))
        #expect(task.outcome == .completed && task.reason == nil && task.warnedAt == nil)
        #expect(task.used(at: clerk.now) == .seconds(7) && task.endedAt == exitedAt)
    }

    @Test("what ended before its handler fired as ordered was not warned, and has not overrun")
    func exitWithoutHandler() throws {
        for limit in [Duration.seconds(8), .seconds(10)] {
            var clerk = Self.clerk()
            let id = try clerk.run(budget: Self.budget)
            clerk.pass(limit)
            #expect(clerk.history.contains(.warn(id)))
            clerk.call { $0.mainExited(id, .status(7), at: $1, &$2) }
            clerk.gone(id)
            let task = try #require(clerk.task(id))
            #expect(task.outcome == .failed && task.reason == nil && task.warnedAt == nil)
        }
    }

    @Test(
        "with the program that runs it a command is lost, and tried again where that is asked for")
    func lost() throws {
        for onInterruption in [true, false] {
            var clerk = Self.clerk()
            let id = try clerk.queue {
                $0.retry = Retry(attempts: 2, onInterruption: onInterruption)
            }
            clerk.started(id)
            #expect(clerk.hasCommand(id, attempt: 1))
            clerk.call { $0.commandLost(id, at: $1, &$2) }
            #expect(!clerk.hasCommand(id, attempt: 1))
            clerk.call { $0.commandLost(id, at: $1, &$2) }
            #expect(clerk.latest.isEmpty)
            let attempt = clerk.run(id)?.attempts.last
            #expect((attempt?.outcome ?? clerk.task(id)?.outcome) == .interrupted)
            let reason = attempt?.reason ?? clerk.task(id)?.reason
            #expect(reason?.text == "the program that runs commands was lost")
            #expect(clerk.task(id)?.state == (onInterruption ? .queued : .ended))
        }
    }

    @Test("how it ends that was decided stays so when the program that runs it is lost")
    func lostWhileStopping() throws {
        var clerk = Self.clerk()
        let id = try clerk.run(budget: Self.budget)
        try clerk.cancel(id)
        clerk.call { $0.commandLost(id, at: $1, &$2) }
        #expect(clerk.task(id)?.outcome == .cancelled)
    }

    @Test("reports about nothing, or what an application does, change nothing")
    func misfits() throws {
        var clerk = Self.clerk()
        let held = try clerk.begin()
        let queued = try clerk.queue { $0.earliestBegin = .seconds(9) }
        for id in [held, queued, TaskID(rawValue: 99)] {
            clerk.warned(id, 1)
            #expect(clerk.latest.isEmpty)
            clerk.limitReached(id)
            #expect(clerk.latest.isEmpty)
            clerk.call { $0.commandLost(id, at: $1, &$2) }
            #expect(clerk.latest.isEmpty && !clerk.hasCommand(id, attempt: 1))
        }
    }
}

@Suite("A stop that leaves commands to the next daemon")
struct LeftCommandTests {
    @Test("tells the others to end, and not those; nothing new is started")
    func leaves() throws {
        var clerk = Clerk { $0.slots = 2 }
        let held = try clerk.begin()
        let running = try clerk.run(budget: CommandTests.budget)
        let stopping = try clerk.run(budget: CommandTests.budget)
        let waiting = try clerk.run()
        try clerk.cancel(stopping)
        clerk.call { $0.drain(keepsQueue: true, leavesCommands: true, at: $1, &$2) }
        #expect(clerk.latest == [.tell(.handlerFired, held)])
        #expect(clerk.registry.awaitedCount == 1 && clerk.registry.begunCount == 3)
        #expect(clerk.registry.longestRemaining(at: clerk.now) == .seconds(5))
        _ = try clerk.end(held)
        #expect(clerk.registry.awaitedCount == 0)
        clerk.call { $0.endGrace(at: $1, &$2) }
        #expect(clerk.latest.isEmpty)
        // Its grace goes on, and so does its end.
        clerk.pass(.seconds(2))
        #expect(clerk.latest == [.killAll(stopping)])
        clerk.pass(.seconds(5))
        #expect(clerk.task(stopping)?.state == .expiring)
        clerk.exit(stopping, .signal(.kill))
        clerk.gone(stopping)
        #expect(clerk.task(stopping)?.outcome == .cancelled)
        clerk.pass(.seconds(1))
        #expect(clerk.history.suffix(2) == [.tell(.handlerFired, running), .warn(running)])
        _ = try clerk.extend(running)
        #expect(clerk.task(running)?.state == .running)
        #expect(clerk.task(waiting)?.state == .queued && clerk.registry.awaitedCount == 0)
    }

    @Test("another attempt waits for the next daemon")
    func retry() throws {
        var clerk = Clerk()
        let id = try clerk.queue { $0.retry = Retry(attempts: 2, delay: .seconds(1)) }
        clerk.started(id)
        clerk.call { $0.drain(keepsQueue: true, leavesCommands: true, at: $1, &$2) }
        clerk.finish(id, 1)
        #expect(clerk.ordered.last == .attemptEnded(id))
        clerk.pass(.seconds(60))
        #expect(clerk.task(id)?.state == .queued && clerk.run(id)?.attempt == 2)
    }

    @Test("a stop that leaves nothing waits for all")
    func leavesNothing() throws {
        var clerk = Clerk()
        let id = try clerk.run()
        clerk.call { $0.drain(keepsQueue: true, leavesCommands: false, at: $1, &$2) }
        #expect(clerk.latest == [.tell(.handlerFired, id), .warn(id)])
        #expect(clerk.registry.awaitedCount == 1)
    }
}

extension Clerk {
    /// The program that runs commands has fired a handler for so many times.
    mutating func warned(_ id: TaskID, _ count: Int) {
        call { $0.commandWarned(id, count: count, at: $1, &$2) }
    }

    func deadlines(_ id: TaskID) -> CommandDeadlines? { held.registry.commandDeadlines(of: id) }

    func hasCommand(_ id: TaskID, attempt: Int) -> Bool {
        held.registry.hasCommand(id, attempt: attempt)
    }

    func takeChangedTimes() -> [TaskID] { held.registry.takeChangedTimes() }

    mutating func limitReached(_ id: TaskID) {
        call { $0.commandLimitReached(id, at: $1, &$2) }
    }
}
