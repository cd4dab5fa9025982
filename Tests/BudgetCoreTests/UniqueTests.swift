import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 26: at most one task of a unique name")
struct UniqueTests {
    static let replaced = Reason.cancelled(by: Clerk.ann.owner, text: "replaced")

    private func keep(_ clerk: inout Clerk) throws -> Submitted {
        try clerk.submitted { $0.unique = .keep }
    }

    private func replace(_ clerk: inout Clerk) throws -> TaskID {
        try clerk.queue { $0.unique = .replace }
    }

    /// A task that is tried again.
    private func retried(_ clerk: inout Clerk) throws -> TaskID {
        try clerk.queue {
            $0.unique = .keep
            $0.retry = Retry(attempts: 2)
        }
    }

    @Test("rule 26: keep answers with the task that runs or waits, and takes no id for it")
    func keepLive() throws {
        var clerk = Clerk { $0.slots = 1 }
        let blocker = try clerk.queue("blocker")
        let first = try keep(&clerk)
        #expect(!first.isCoalesced)
        let second = try keep(&clerk)
        #expect(second.id == first.id && second.isCoalesced && !second.waits)
        clerk.finish(blocker)
        #expect(clerk.task(first.id)?.state == .running)
        #expect(try keep(&clerk).id == first.id)
        clerk.finish(first.id)
        let next = try keep(&clerk)
        #expect(next.id.rawValue == first.id.rawValue + 1 && !next.isCoalesced)
    }

    @Test("rule 26: keep waits for the disk with a task that is not on disk yet, and falls with it")
    func keepArriving() throws {
        for isStored in [true, false] {
            var clerk = Clerk()
            clerk.disk = .waits
            let first = try keep(&clerk)
            let second = try keep(&clerk)
            #expect(second.id == first.id && second.isCoalesced && second.waits)
            clerk.finishWriting(isStored)
            #expect(
                clerk.answers[first.id]
                    == (isStored ? .some(nil) : .notAccepting("the disk is full")))
            clerk.disk = .writes
            clerk.heal()
            #expect(try keep(&clerk).isCoalesced == isStored)
        }
    }

    @Test("rule 26: the name is its owner's, and a task that does not ask for it is of no account")
    func scope() throws {
        var clerk = Clerk()
        let plain = try clerk.queue()
        let ann = try clerk.queue { $0.unique = .keep }
        let bob = try clerk.queue(by: Clerk.bob) { $0.unique = .keep }
        let other = try clerk.queue("other") { $0.unique = .keep }
        #expect(
            clerk.states([plain, ann, bob, other]) == [.running, .running, .running, .running])
        #expect(Set([plain, ann, bob, other]).count == 4)
    }

    @Test("rule 26: replace cancels one that runs, and starts when it is gone")
    func replaceRunning() throws {
        var clerk = Clerk()
        let first = try keep(&clerk).id
        let second = try replace(&clerk)
        #expect(clerk.history.contains(.signal(first, .terminate)))
        #expect(clerk.hold(second) == .replaced)
        clerk.exit(first, .signal(.terminate))
        #expect(clerk.task(second)?.state == .queued)
        clerk.gone(first)
        #expect(clerk.task(first)?.outcome == .cancelled)
        #expect(clerk.task(first)?.reason == UniqueTests.replaced)
        #expect(clerk.task(second)?.state == .running)
    }

    @Test("rule 26: one that is being cancelled stands for nothing, and takes no second order")
    func beingCancelled() throws {
        for uniqueness in [Uniqueness.keep, .replace] {
            var clerk = Clerk()
            let first = try keep(&clerk).id
            try clerk.cancel(first)
            let second = try clerk.submitted { $0.unique = uniqueness }
            #expect(!second.isCoalesced)
            #expect(clerk.hold(second.id) == .replaced)
            #expect(clerk.history.count { $0 == .signal(first, .terminate) } == 1)
            // The third finds the second one, which waits.
            #expect(try keep(&clerk).id == second.id)
            clerk.finish(first)
            #expect(clerk.task(second.id)?.state == .running)
        }
    }

    @Test("rule 26: one that was cancelled while it was being killed stands for nothing")
    func cancelledStopping() throws {
        var clerk = Clerk()
        let first = try keep(&clerk).id
        clerk.exit(first, .status(1))
        #expect(try keep(&clerk).id == first)
        try clerk.cancel(first)
        let second = try keep(&clerk)
        #expect(!second.isCoalesced)
        clerk.gone(first)
        #expect(clerk.task(second.id)?.state == .running)
    }

    @Test("rule 26: replace ends one that is queued in the commit that brings the new one")
    func replaceQueued() throws {
        var clerk = Clerk { $0.slots = 1 }
        let blocker = try clerk.queue("blocker")
        let first = try keep(&clerk).id
        clerk.disk = .waits
        let second = try replace(&clerk)
        #expect(clerk.steps == [.ended(first), .submitted(second, isStarted: false)])
        #expect(try keep(&clerk).id == second)
        clerk.finishWriting()
        #expect(clerk.task(first)?.outcome == .cancelled)
        #expect(clerk.task(first)?.reason == UniqueTests.replaced)
        clerk.disk = .writes
        clerk.finish(blocker)
        #expect(clerk.task(second)?.state == .running)
    }

    @Test(
        "rule 26: where the disk refuses the new one the queued one stays, and has the name again")
    func replaceQueuedRefused() throws {
        var clerk = Clerk { $0.slots = 1 }
        let blocker = try clerk.queue("blocker")
        let first = try keep(&clerk).id
        clerk.disk = .fails
        let second = try replace(&clerk)
        #expect(clerk.answers[second] == .notAccepting("the disk is full"))
        #expect(clerk.task(first)?.state == .queued)
        #expect(clerk.task(second) == nil)
        clerk.disk = .writes
        clerk.heal()
        #expect(try keep(&clerk).id == first)
        clerk.finish(blocker)
        #expect(clerk.task(first)?.state == .running)
    }

    @Test("rule 26: replace of one that is not on disk yet", arguments: [true, false])
    func replaceArriving(isStored: Bool) throws {
        var clerk = Clerk()
        clerk.disk = .waits
        let first = try keep(&clerk).id
        let arrival = clerk.steps
        let second = try replace(&clerk)
        let replacement = Array(clerk.steps.dropFirst(arrival.count))
        clerk.steps = arrival
        clerk.disk = .writes
        clerk.finishWriting()
        clerk.steps = replacement
        clerk.finishWriting(isStored)
        clerk.heal()
        #expect(clerk.task(first)?.outcome == (isStored ? .cancelled : nil))
        #expect(clerk.task(isStored ? second : first)?.state == .running)
        #expect(clerk.registry.identifiers(of: nil).count == 1)
    }

    @Test("rule 26: while the disk decides about a cancel, a new one of the name is refused")
    func withdrawalOnTheWay() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.queue("blocker")
        let first = try keep(&clerk).id
        clerk.disk = .waits
        try clerk.cancel(first)
        let refusal = Refusal.notAccepting(
            "task \(first) of that name is being cancelled; try again when it has ended")
        #expect(throws: refusal) { try keep(&clerk) }
        #expect(throws: refusal) { try replace(&clerk) }
        clerk.finishWriting(false)
        clerk.disk = .writes
        clerk.heal()
        #expect(try keep(&clerk).id == first)
    }

    @Test("rule 26: a task between two attempts has its name")
    func betweenAttempts() throws {
        var clerk = Clerk()
        let first = try retried(&clerk)
        clerk.disk = .waits
        clerk.finish(first, 1)
        // Until the disk has the end of the attempt it can neither be replaced nor start.
        let refusal = Refusal.notAccepting(
            "task \(first) of that name is between two attempts; try again in a moment")
        #expect(throws: refusal) { try replace(&clerk) }
        #expect(try keep(&clerk).id == first)
        clerk.disk = .writes
        clerk.finishWriting()
        #expect(try keep(&clerk).id == first)
        let second = try replace(&clerk)
        #expect(clerk.task(first)?.outcome == .cancelled)
        #expect(clerk.task(second)?.state == .running)
    }

    @Test("rule 26: one that is being stopped and would be tried again is not, once it is replaced")
    func replaceStopping() throws {
        var clerk = Clerk()
        let first = try retried(&clerk)
        clerk.exit(first, .status(1))
        let second = try replace(&clerk)
        #expect(clerk.ordered.contains(.cancelling(first)))
        clerk.gone(first)
        #expect(clerk.task(first)?.outcome == .failed)
        #expect(clerk.task(second)?.state == .running)
        #expect(clerk.registry.queuedCount == 0)
    }

    @Test("rule 26: a replacement is replaced in its turn; the disk may refuse it")
    func replaceReplacement() throws {
        var clerk = Clerk()
        let first = try keep(&clerk).id
        let second = try replace(&clerk)
        clerk.disk = .fails
        let third = try replace(&clerk)
        #expect(clerk.answers[third] == .notAccepting("the disk is full"))
        clerk.disk = .writes
        clerk.heal()
        #expect(try keep(&clerk).id == second)
        let fourth = try replace(&clerk)
        #expect(clerk.task(second)?.outcome == .cancelled)
        clerk.finish(first)
        #expect(clerk.task(fourth)?.state == .running)
    }

    @Test("rule 26: a task keeps its name where the disk refuses the one that was to replace it")
    func nameKept() throws {
        var clerk = Clerk()
        let first = try keep(&clerk).id
        clerk.exit(first, .status(0))
        clerk.disk = .fails
        _ = try replace(&clerk)
        clerk.disk = .writes
        clerk.heal()
        #expect(try keep(&clerk).id == first)
    }

    @Test("rule 26: a name and who waits for it are taken over after a restart")
    func restart() throws {
        var clerk = Clerk()
        let submission = Clerk.submission { $0.unique = .replace }
        var ran = RestoredTask(7, submission, begunAt: clerk.now)
        ran.isCancelled = true
        let waiting = RestoredTask(8, submission)
        clerk.call { $0.restore([ran, waiting], at: $1, &$2) }
        #expect(clerk.task(ran.id)?.outcome == .interrupted)
        #expect(clerk.task(waiting.id)?.state == .running)
        #expect(try keep(&clerk).id == waiting.id)
    }

    @Test("rule 26: replaceQueued leaves what runs, and replaces what waits for its end")
    func queuedAlone() throws {
        var clerk = Clerk()
        func next() throws -> TaskID { try clerk.queue { $0.unique = .replaceQueued } }
        let running = try next()
        #expect(clerk.task(running)?.state == .running)
        let second = try next()
        let third = try next()
        #expect(clerk.task(running)?.state == .running)
        #expect(clerk.task(second)?.outcome == .cancelled)
        #expect(clerk.task(third)?.state == .queued)
        // Whoever is content with any gets the one that waits.
        #expect(try keep(&clerk).id == third)
        clerk.finish(running)
        #expect(clerk.task(running)?.outcome == .completed)
        #expect(clerk.task(third)?.state == .running)
        // An iOS program submits its successor first thing, and ends then.
        for _ in 0..<50 {
            let running = try #require(clerk.registry.identifiers(of: nil).last)
            let successor = try next()
            #expect(clerk.task(successor)?.state == .queued)
            clerk.finish(running)
            #expect(clerk.task(successor)?.state == .running)
        }
        // Who replaces all leaves none.
        let (last, waiting) = (try #require(clerk.registry.identifiers(of: nil).last), try next())
        let other = try replace(&clerk)
        #expect(clerk.task(waiting)?.outcome == .cancelled)
        clerk.exit(last, .signal(SignalNumber(rawValue: 15)))
        clerk.gone(last)
        #expect(clerk.task(last)?.outcome == .cancelled)
        #expect(clerk.task(other)?.state == .running)
    }

    @Test("rule 26: who waits for the end of a running one comes instead of its next attempt")
    func superseded() throws {
        var clerk = Clerk()
        let first = try retried(&clerk)
        let second = try clerk.queue { $0.unique = .replaceQueued }
        clerk.exit(first, .status(1))
        clerk.gone(first)
        #expect(clerk.task(first)?.outcome == .failed)
        #expect(clerk.task(second)?.state == .running)
        #expect(throws: Refusal.invalidParameter("after")) {
            let third = try clerk.queue { $0.unique = .replaceQueued }
            _ = try clerk.queue {
                $0.unique = .replaceQueued
                $0.after = [Predecessor(third)]
            }
        }
    }
}
