import BudgetCore
import Containers
import Testing

@Suite("docs/architecture.md, rule 25: an interval since the last success")
struct IntervalTests {
    static let interval = Duration.seconds(600)

    private func upload(_ clerk: inout Clerk, by caller: Caller = Clerk.ann) throws -> TaskID {
        try clerk.queue(by: caller) { $0.minimumInterval = IntervalTests.interval }
    }

    @Test("rule 25: a success starts the interval, to the nanosecond, with a receipt")
    func success() throws {
        var clerk = Clerk()
        clerk.finish(try upload(&clerk))
        clerk.pass(.seconds(100))
        let next = try upload(&clerk)
        #expect(clerk.task(next)?.state == .queued)
        #expect(clerk.isDeferred(next))
        #expect(clerk.registry.notBefore(next, at: clerk.now) == .seconds(500))
        clerk.pass(.seconds(500) - .nanoseconds(1))
        #expect(clerk.task(next)?.state == .queued)
        clerk.pass(.nanoseconds(1))
        #expect(clerk.task(next)?.state == .running)
    }

    @Test("rule 25: a failure starts no interval")
    func failure() throws {
        var clerk = Clerk()
        clerk.finish(try upload(&clerk), 1)
        let next = try upload(&clerk)
        #expect(clerk.task(next)?.state == .running)
    }

    @Test("rule 25: two quick submissions do not both run; what comes of the first decides")
    func liveTaskHoldsBack() throws {
        for status in [Int32(0), 1] {
            var clerk = Clerk()
            let first = try upload(&clerk)
            let second = try upload(&clerk)
            #expect(clerk.hold(second) == .sameName(IntervalTests.interval))
            #expect(clerk.isDeferred(second))
            #expect(clerk.registry.notBefore(second, at: clerk.now) == nil)
            clerk.finish(first, status)
            #expect(clerk.task(second)?.state == (status == 0 ? .queued : .running))
            if status == 0 {
                #expect(clerk.registry.notBefore(second, at: clerk.now) == IntervalTests.interval)
            }
        }
    }

    @Test("rule 25: a live task of the name counts also where it has no interval itself")
    func plainTask() throws {
        var clerk = Clerk()
        let plain = try clerk.queue()
        let next = try upload(&clerk)
        let alsoPlain = try clerk.queue()
        #expect(clerk.states([plain, next, alsoPlain]) == [.running, .queued, .running])
        clerk.finish(alsoPlain, 1)
        #expect(clerk.hold(next) == .sameName(IntervalTests.interval))
        clerk.finish(plain)
        #expect(clerk.registry.notBefore(next, at: clerk.now) == IntervalTests.interval)
    }

    @Test("rule 25: each task waits for its own interval")
    func ownInterval() throws {
        var clerk = Clerk()
        clerk.finish(try clerk.queue())
        let long = try upload(&clerk)
        let short = try clerk.queue { $0.minimumInterval = .seconds(60) }
        clerk.pass(.seconds(60))
        #expect(clerk.states([long, short]) == [.queued, .running])
        clerk.finish(short)
        #expect(clerk.registry.notBefore(long, at: clerk.now) == IntervalTests.interval)
    }

    @Test("rule 25: another name, and another owner's same name, are of no account")
    func others() throws {
        var clerk = Clerk()
        clerk.finish(try upload(&clerk))
        let name = try clerk.queue("download") { $0.minimumInterval = IntervalTests.interval }
        let owner = try upload(&clerk, by: Clerk.bob)
        #expect(clerk.states([name, owner]) == [.running, .running])
    }

    @Test("rule 25: the interval is counted also while the machine sleeps")
    func overSleep() throws {
        var clerk = Clerk()
        clerk.finish(try upload(&clerk))
        let next = try upload(&clerk)
        clerk.machineSleeps(IntervalTests.interval)
        #expect(clerk.task(next)?.state == .running)
    }

    @Test(
        "rule 25: of a line the highest priority goes first, also where it came while others wait")
    func line() throws {
        var clerk = Clerk()
        clerk.finish(try upload(&clerk))
        let low = try upload(&clerk)
        let high = try clerk.queue {
            $0.minimumInterval = IntervalTests.interval
            $0.priority = 1
        }
        clerk.pass(IntervalTests.interval)
        #expect(clerk.states([low, high]) == [.queued, .running])
        clerk.finish(high, 1)
        #expect(clerk.task(low)?.state == .running)
    }

    @Test("rule 25: a line goes on where the first of it is cancelled, whatever held it back")
    func cancelledFirst() throws {
        var clerk = Clerk()
        clerk.finish(try upload(&clerk))
        let ids = try (0..<3).map { _ in try upload(&clerk) }
        try clerk.cancel(ids[0])
        clerk.pass(IntervalTests.interval)
        #expect(clerk.states(ids) == [.ended, .running, .queued])
        clerk.finish(ids[1])
        let late = try clerk.queue { $0.minimumInterval = IntervalTests.interval }
        clerk.call {
            $0.limits.slots = 0
            $0.limitsChanged(at: $1, &$2)
        }
        clerk.pass(IntervalTests.interval)
        try clerk.cancel(ids[2])
        clerk.call {
            $0.limits.slots = 1
            $0.limitsChanged(at: $1, &$2)
        }
        #expect(clerk.task(late)?.state == .running)
    }

    @Test("rule 25: the last success is kept over a restart")
    func restart() throws {
        var clerk = Clerk()
        let submission = Clerk.submission { $0.minimumInterval = IntervalTests.interval }
        var task = RestoredTask(7, submission)
        task.lastSuccess = clerk.registry.boot(at: clerk.now) - .seconds(599)
        clerk.call { $0.restore([task], at: $1, &$2) }
        #expect(clerk.registry.notBefore(task.id, at: clerk.now) == .seconds(1))
        clerk.pass(.seconds(1))
        #expect(clerk.task(task.id)?.state == .running)
    }

    @Test("rule 25: the interval is counted on the run's own clock, whatever time of day is set")
    func timeOfDaySet() throws {
        for shift in [-300, 300] {
            var clerk = Clerk()
            let key = Clerk.SuccessKey(owner: Clerk.ann.owner, name: "upload")
            clerk.finish(try upload(&clerk))
            clerk.successes[key] = clerk.registry.boot(at: clerk.now) + .seconds(shift)
            clerk.pass(.seconds(100))
            let next = try upload(&clerk)
            #expect(clerk.registry.notBefore(next, at: clerk.now) == .seconds(500))
            clerk.pass(.seconds(500))
            clerk.finish(next, 1)
            // The success of a task without an interval, while nothing follows the name.
            clerk.finish(try clerk.queue())
            clerk.successes[key] = clerk.registry.boot(at: clerk.now) + .seconds(shift)
            let last = try upload(&clerk)
            #expect(clerk.registry.notBefore(last, at: clerk.now) == IntervalTests.interval)
        }
    }

    @Test("what is kept of names that nothing follows is bounded")
    func bounded() throws {
        var clerk = Clerk()
        for number in 0...NameRules.successesMax {
            clerk.finish(
                try clerk.queue("upload \(number)") {
                    $0.minimumInterval = IntervalTests.interval
                })
        }
        let counts = clerk.registry.footprint.nameCounts
        #expect(counts.followed == 0 && counts.remembered <= NameRules.successesMax)
    }

    @Test("rule 25: a success that the disk refused counts, for who came before it and after it")
    func unstoredSuccess() throws {
        for isBefore in [true, false] {
            var clerk = Clerk()
            let plain = try clerk.queue()
            clerk.disk = .waits
            clerk.finish(plain)
            var next: TaskID?
            if isBefore { next = try upload(&clerk) }
            let rest = Array(clerk.steps.dropFirst())
            clerk.steps = Array(clerk.steps.prefix(1))
            clerk.finishWriting(false)
            if !isBefore {
                clerk.heal()
                next = try upload(&clerk)
            }
            clerk.steps = isBefore ? rest : Array(clerk.steps.suffix(1))
            clerk.disk = .writes
            clerk.finishWriting()
            clerk.heal()
            let id = try #require(next)
            #expect(clerk.registry.notBefore(id, at: clerk.now) == IntervalTests.interval)
        }
    }

    @Test("rule 12: tasks of one name wait by so many different rules and no more")
    func rulesPerName() throws {
        var clerk = Clerk { $0.slots = 1 }
        func submit(_ seconds: Int, _ caller: Caller = Clerk.ann) throws -> TaskID {
            try clerk.queue(by: caller) { $0.minimumInterval = .seconds(seconds) }
        }
        let ids = try (1...16).map { try submit($0) }
        _ = try submit(16)
        #expect(throws: Refusal.limitReached(limit: "rulesPerNameMax", value: 16)) {
            try submit(17)
        }
        _ = try submit(17, Clerk.bob)
        try clerk.cancel(ids[7])
        _ = try submit(17)
        _ = try clerk.queue()
    }

    @Test("nothing is kept of names and owners whose tasks have ended")
    func memory() throws {
        var clerk = Clerk { $0.slots = 2 }
        for number in 0..<10_000 {
            let caller = Caller(owner: OwnerID(rawValue: UInt32(number % 50)))
            let id = try clerk.queue("upload \(number)", by: caller) {
                $0.minimumInterval = IntervalTests.interval
                $0.unique = number % 2 == 0 ? .keep : nil
                $0.earliestBegin = number % 3 == 0 ? .seconds(1) : nil
            }
            if number % 3 == 0 { clerk.pass(.seconds(1)) }
            clerk.finish(id)
        }
        let footprint = clerk.registry.footprint
        #expect(footprint.isQueueForgotten && footprint.occupantIDs.isEmpty)
        #expect(footprint.ownerCount == 0 && footprint.arrivingCount == 0)
    }
}
