import BudgetCore
import Testing

/// What the registry lets happen before, after and without the disk (docs/architecture.md, faults).
@Suite("The registry and the disk")
struct StoreTests {
    @Test("a submission is seen, answered and started once it is on disk, with one step")
    func submission() throws {
        var clerk = Clerk()
        clerk.disk = .waits
        let id = try clerk.run()
        #expect(clerk.steps == [.submitted(id, isStarted: true)])
        #expect(clerk.answers[id] == nil)
        #expect(throws: Refusal.noSuchTask(id)) { try clerk.registry.record(id, for: Clerk.ann) }
        #expect(clerk.registry.identifiers(of: nil).isEmpty)
        clerk.pass(.seconds(200))
        clerk.finishWriting()
        #expect(clerk.answers[id] == .some(nil))
        #expect(clerk.latest == [.tell(.queued, id), .launch(id)])
        // The budget begins with the start, not with the submission.
        #expect(clerk.remaining(id)?.untilHandler == .seconds(175))
    }

    @Test("a submission that the disk refuses is refused, and leaves its slot to the next")
    func refusedSubmission() throws {
        var clerk = Clerk { $0.slots = 1 }
        clerk.disk = .fails
        let id = try clerk.run()
        #expect(clerk.answers[id] == .notAccepting("the disk is full"))
        #expect(clerk.task(id) == nil)
        #expect(clerk.registry.liveCount == 0)
        #expect(throws: Refusal.notAccepting("the disk is full")) { try clerk.run() }
        clerk.disk = .writes
        clerk.call { $0.storeHealed(at: $1, &$2) }
        let next = try clerk.run()
        #expect(clerk.task(next)?.state == .running)
    }

    @Test("a queued task starts once its start is on disk; where that fails it waits on")
    func queuedStart() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.run()
        let second = try clerk.run()
        let third = try clerk.run()
        clerk.disk = .fails
        clerk.exit(first, .status(0))
        clerk.gone(first)
        #expect(clerk.task(first)?.outcome == .completed)
        #expect(clerk.task(second)?.state == .queued)
        #expect(clerk.registry.firstHold(on: second) == .store("the disk is full"))
        #expect(!clerk.history.contains(.launch(second)))
        clerk.disk = .writes
        clerk.call { $0.storeHealed(at: $1, &$2) }
        #expect(clerk.ordered.suffix(2) == [.ended(first), .started(second)])
        #expect(clerk.latest == [.launch(second)])
        #expect(clerk.task(third)?.state == .queued)
    }

    @Test("a slot that is free again does not go to who came later than one on the way to the disk")
    func arrivalOrder() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.run()
        clerk.disk = .waits
        let second = try clerk.run()
        clerk.exit(first, .status(0))
        clerk.gone(first)
        let third = try clerk.run()
        clerk.finishWriting()
        clerk.finishWriting()
        #expect(clerk.task(second)?.state == .running)
        #expect(clerk.task(third)?.state == .queued)
    }

    @Test("an end is told when it is on disk; its slot is free before")
    func end() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.run()
        let second = try clerk.run()
        clerk.disk = .waits
        clerk.exit(first, .status(0))
        clerk.gone(first)
        #expect(clerk.steps == [.ended(first), .started(second)])
        #expect(clerk.task(first)?.state == .running)
        #expect(clerk.task(first)?.outcome == nil)
        clerk.pass(.seconds(300))
        #expect(clerk.count(.handlerFired, first) == 0)
        clerk.finishWriting()
        #expect(clerk.latest == [.tell(.ended, first), .launch(second)])
        #expect(clerk.task(first)?.used(at: clerk.now) == .zero)
    }

    @Test("an end that the disk refuses is told, and recorded when the disk heals")
    func unstoredEnd() throws {
        var clerk = Clerk { $0.endedRunMax = 0 }
        let id = try clerk.run()
        clerk.disk = .fails
        clerk.exit(id, .status(3))
        clerk.gone(id)
        #expect(clerk.count(.ended, id) == 1)
        clerk.call { $0.storeHealed(at: $1, &$2) }
        #expect(clerk.registry.storeFault == "the disk is full")
        #expect(clerk.task(id)?.outcome == .failed)
        clerk.disk = .writes
        clerk.call { $0.storeHealed(at: $1, &$2) }
        #expect(clerk.ordered.count { $0 == .ended(id) } == 3)
        #expect(clerk.count(.ended, id) == 1)
        #expect(clerk.task(id) == nil)
    }

    @Test("a cancelled queued task is answered when the disk has it, and else it stays queued")
    func cancelQueued() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.run()
        let second = try clerk.run()
        let third = try clerk.run()
        clerk.disk = .waits
        try clerk.cancel(second)
        clerk.answers = [:]
        #expect(clerk.task(second)?.state == .queued)
        clerk.finishWriting(false)
        #expect(clerk.answers[second] == .notAccepting("the disk is full"))
        #expect(throws: Refusal.notAccepting("the disk is full")) { try clerk.cancel(third) }
        clerk.disk = .writes
        clerk.call { $0.storeHealed(at: $1, &$2) }
        try clerk.cancel(second)
        #expect(clerk.answers[second] == .some(nil))
        #expect(clerk.task(second)?.outcome == .cancelled)
        #expect(clerk.registry.queuedCount == 1)
    }

    @Test("a cancel that overtakes the start on its way to the disk wins, or the task starts")
    func cancelStarting() throws {
        for isStored in [true, false] {
            var clerk = Clerk { $0.slots = 1 }
            let first = try clerk.run()
            let second = try clerk.run()
            clerk.disk = .waits
            clerk.exit(first, .status(0))
            clerk.gone(first)
            let third = try clerk.run()
            try clerk.cancel(second)
            clerk.finishWriting(isStored)
            clerk.disk = .writes
            if isStored {
                clerk.finishWriting()
                #expect(clerk.task(second)?.outcome == .cancelled)
                #expect(!clerk.history.contains(.launch(second)))
                #expect(clerk.task(third)?.state == .running)
            } else {
                #expect(clerk.task(third) == nil)
                clerk.call { $0.storeHealed(at: $1, &$2) }
                #expect(clerk.task(second)?.state == .running)
            }
        }
    }

    @Test("a drain leaves what is queued to the next daemon, a start on its way included")
    func drain() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.run()
        let second = try clerk.run()
        clerk.disk = .waits
        clerk.exit(first, .status(0))
        clerk.gone(first)
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        clerk.finishWriting()
        #expect(clerk.steps == [.startUndone(second)])
        #expect(clerk.task(second)?.state == .queued)
        #expect(clerk.registry.liveCount == 0)
        #expect(!clerk.history.contains(.launch(second)))
    }

    @Test("a start that could not be withdrawn does not begin in a drain")
    func drainAfterWithdrawal() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.run()
        let second = try clerk.run()
        clerk.disk = .waits
        clerk.exit(first, .status(0))
        clerk.gone(first)
        let start = clerk.steps
        clerk.steps = []
        try clerk.cancel(second)
        let end = clerk.steps
        clerk.steps = start
        clerk.finishWriting()
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        clerk.steps = end
        clerk.finishWriting(false)
        #expect(clerk.answers[second] == .notAccepting("the disk is full"))
        #expect(clerk.ordered.last == .startUndone(second))
        #expect(clerk.task(second)?.state == .queued)
        #expect(clerk.registry.liveCount == 0)
        #expect(!clerk.history.contains(.launch(second)))
    }

    @Test("a start that waits for the disk is not begun, so that no stop waits for it")
    func startsOnTheWay() throws {
        var clerk = Clerk { $0.slots = 3 }
        let running = try clerk.run()
        clerk.disk = .waits
        let first = try clerk.run()
        let second = try clerk.run()
        #expect(clerk.registry.liveCount == 3)
        #expect(clerk.registry.begunCount == 1)
        clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        clerk.exit(running, .status(0))
        clerk.gone(running)
        #expect(clerk.registry.begunCount == 0)
        #expect(clerk.task(running)?.outcome == nil)
        clerk.finishWriting()
        #expect(clerk.task(running)?.outcome == .interrupted)
        #expect(clerk.registry.liveCount == 0)
        for id in [first, second] { #expect(clerk.task(id)?.state == .queued) }
    }

    @Test("a disk that does not answer has new work refused, and takes what is on its way later")
    func silence() throws {
        var clerk = Clerk { $0.slots = 1 }
        clerk.disk = .waits
        let first = try clerk.run()
        let second = try clerk.run()
        clerk.registry.storeInDoubt("the disk is silent")
        #expect(throws: Refusal.notAccepting("the disk is silent")) { try clerk.run() }
        #expect(clerk.answers.isEmpty)
        clerk.disk = .writes
        clerk.finishWriting()
        #expect(clerk.answers[first] == .some(nil))
        #expect(clerk.answers[second] == .some(nil))
        #expect(clerk.task(first)?.state == .running)
        clerk.call { $0.storeHealed(at: $1, &$2) }
        let third = try clerk.run()
        #expect(clerk.task(third)?.state == .queued)
    }

    @Test("a drain that keeps nothing tells that what is queued is interrupted")
    func drainInMemory() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.run()
        let second = try clerk.run()
        clerk.disk = .waits
        let third = try clerk.run()
        clerk.call { $0.drain(keepsQueue: false, at: $1, &$2) }
        clerk.finishWriting()
        clerk.disk = .writes
        clerk.finishWriting()
        #expect(clerk.task(second)?.outcome == .interrupted)
        #expect(clerk.task(third)?.outcome == .interrupted)
        #expect(clerk.task(first)?.state == .expiring)
        #expect(clerk.registry.queuedCount == 0)
    }

    @Test("what an earlier daemon left: the queue goes on, and what ran was interrupted")
    func restoration() throws {
        var clerk = Clerk { $0.slots = 1 }
        func restored(_ number: UInt64, begunAt: Instant?) -> RestoredTask {
            let work = Work(command: ["upload"])
            return RestoredTask(
                id: TaskID(rawValue: number),
                submission: Submission(name: "upload", owner: Clerk.ann.owner, work: work),
                profile: "default",
                budget: Budget(duration: .seconds(180), grace: .seconds(5)),
                grace: .seconds(5), lifetimeMax: .seconds(600), isCutByLifetime: false,
                submittedAt: clerk.now - .seconds(60), begunAt: begunAt)
        }
        let tasks = [
            restored(7, begunAt: nil), restored(9, begunAt: clerk.now - .seconds(30)),
            restored(12, begunAt: nil),
        ]
        clerk.call { $0.restore(tasks, at: $1, &$2) }
        let (first, ran, last) = (tasks[0].id, tasks[1].id, tasks[2].id)
        #expect(clerk.ordered == [.ended(ran), .started(first)])
        #expect(clerk.task(ran)?.outcome == .interrupted)
        #expect(clerk.task(ran)?.reason == .daemonLost)
        #expect(clerk.task(first)?.state == .running)
        #expect(clerk.remaining(first)?.untilHandler == .seconds(175))
        #expect(clerk.task(last)?.state == .queued)
        #expect(clerk.task(last)?.age(at: clerk.now) == .seconds(60))
    }
}
