import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 27: retries where they are asked for")
struct RetryTests {
    private func retried(
        _ clerk: inout Clerk, attempts: Int = 3, onInterruption: Bool = false
    ) throws -> TaskID {
        let id = try clerk.queue {
            $0.retry = Retry(attempts: attempts, onInterruption: onInterruption)
        }
        return id
    }

    @Test("rule 27: the delay is 30 s, doubles, and is 5 h at most")
    func delays() {
        let usual = Retry(attempts: 100)
        let expected = [30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 18_000, 18_000]
        #expect((1...12).map { usual.delay(after: $0) } == expected.map { .seconds($0) })
        #expect(usual.delay(after: 100) == .seconds(18_000))
        #expect(Retry(attempts: 2, delay: .zero).delay(after: 50) == .zero)
        #expect(Retry(attempts: 2, delay: .seconds(40_000)).delay(after: 1) == .seconds(18_000))
    }

    @Test("rule 27: a failed attempt is seen, waits for its delay, and the last one ends the task")
    func attempts() throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.pass(.seconds(7))
        clerk.finish(id, 3)
        #expect(clerk.count(.attemptEnded, id) == 1)
        #expect(clerk.count(.ended, id) == 0)
        let run = try #require(clerk.run(id))
        #expect(run.attempt == 2)
        let first = EndedAttempt(
            attempt: 1, outcome: .failed, reason: nil, exit: .status(3),
            startedAt: clerk.now - .seconds(7), warnedAt: nil, endedAt: clerk.now,
            used: .seconds(7), use: nil)
        #expect(run.attempts == [first])
        #expect(run.exit == nil)
        let until = clerk.registry.boot(at: clerk.now) + .seconds(30)
        #expect(clerk.hold(id) == .retry(until: until, attempt: 2))
        #expect(clerk.isDeferred(id))
        clerk.pass(.seconds(30) - .nanoseconds(1))
        #expect(clerk.task(id)?.state == .queued)
        clerk.pass(.nanoseconds(1))
        #expect(clerk.task(id)?.state == .running)
        clerk.finish(id, 3)
        clerk.pass(.seconds(60))
        clerk.finish(id, 4)
        #expect(clerk.task(id)?.outcome == .failed)
        #expect(clerk.run(id)?.attempt == 3)
        #expect(clerk.run(id)?.exit == .status(4))
        #expect(clerk.run(id)?.attempts.map(\.attempt) == [1, 2])
        #expect(clerk.registry.counts.attemptsEnded == 2)
        #expect(clerk.registry.counts[.failed] == 1)
    }

    @Test("rule 27: an attempt that completes ends the task; without a retry the first is the last")
    func noRetry() throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.finish(id)
        #expect(clerk.task(id)?.outcome == .completed)
        let plain = try clerk.queue()
        clerk.finish(plain, 1)
        #expect(clerk.task(plain)?.outcome == .failed)
        let once = try retried(&clerk, attempts: 1)
        clerk.finish(once, 1)
        #expect(clerk.task(once)?.outcome == .failed)
    }

    @Test("rule 27: expired, overrun and commands that cannot be started are tried again")
    func outcomes() throws {
        var clerk = Clerk()
        let expired = try retried(&clerk)
        let overrun = try retried(&clerk)
        let missing = try retried(&clerk)
        clerk.call { $0.startFailed(missing, "no such file", at: $1, &$2) }
        #expect(clerk.run(missing)?.attempts.first?.reason == .notStarted("no such file"))
        clerk.pass(.seconds(30))
        #expect(clerk.task(missing)?.state == .running)
        clerk.pass(.seconds(145))
        clerk.finish(expired)
        #expect(clerk.run(expired)?.attempts.map(\.outcome) == [.expired])
        clerk.pass(.seconds(5))
        clerk.exit(overrun, .signal(.kill))
        clerk.gone(overrun)
        #expect(clerk.run(overrun)?.attempts.map(\.outcome) == [.overrun])
        #expect(clerk.states([expired, overrun]) == [.queued, .queued])
        #expect(clerk.count(.handlerFired, overrun) == 1)
        clerk.pass(.seconds(30))
        #expect(clerk.states([expired, overrun]) == [.running, .running])
        #expect(clerk.remaining(overrun)?.untilHandler == .seconds(175))
    }

    @Test("rule 27: each attempt has the whole budget, also after an extension that was cut")
    func wholeBudget() throws {
        var clerk = Clerk()
        var submission = Clerk.submission { $0.retry = Retry(attempts: 2) }
        submission.budget = RequestedBudget(seconds: 500, grace: 5)
        let id = try clerk.submit(submission)
        clerk.pass(.seconds(200))
        let extended = try clerk.extend(id)
        #expect(extended.untilHardLimit == .seconds(400))
        #expect(extended.bound == .lifetimeLimit)
        clerk.finish(id, 1)
        clerk.pass(.seconds(30))
        #expect(clerk.remaining(id)?.untilHardLimit == .seconds(500))
        #expect(clerk.remaining(id)?.bound == .ownBudget)
        #expect(clerk.task(id)?.used(at: clerk.now) == .zero)
        // The lifetime is counted anew as well.
        clerk.pass(.seconds(100))
        #expect(try clerk.extend(id).untilHardLimit == .seconds(500))
        clerk.pass(.seconds(495))
        #expect(clerk.count(.handlerFired, id) == 1)
    }

    @Test("rule 27: a cancelled attempt is the last, and that has to be on disk")
    func cancelRunning() throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.disk = .waits
        try clerk.cancel(id)
        #expect(clerk.steps == [.cancelling(id)])
        #expect(clerk.answers[id] == .some(nil))
        clerk.answers = [:]
        clerk.finishWriting()
        #expect(clerk.answers[id] == .some(nil))
        clerk.disk = .writes
        clerk.exit(id, .status(1))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .cancelled)
    }

    @Test("rule 27: a cancel that the disk refused is written again when the disk heals")
    func unstoredCancel() throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.disk = .fails
        try clerk.cancel(id)
        #expect(clerk.answers[id] == .some(nil))
        clerk.disk = .writes
        clerk.heal()
        #expect(
            clerk.ordered == [.submitted(id, isStarted: true), .cancelling(id), .cancelling(id)])
        clerk.finish(id)
        #expect(clerk.registry.footprint.owesNothing)
    }

    @Test("rule 27: a task that is cancelled while it is being killed is not tried again")
    func cancelStopping() throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.exit(id, .status(1))
        let waits = try clerk.call { try $0.cancel(id, by: Clerk.ann, text: nil, at: $1, &$2) }
        #expect(waits)
        #expect(clerk.ordered.last == .cancelling(id))
        clerk.gone(id)
        #expect(clerk.task(id)?.outcome == .failed)
        #expect(clerk.registry.queuedCount == 0)
    }

    @Test("rule 27: cancel between two attempts ends the task, with its attempts")
    func cancelBetween() throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.finish(id, 1)
        try clerk.cancel(id)
        #expect(clerk.task(id)?.outcome == .cancelled)
        #expect(clerk.run(id)?.attempts.count == 1)
        #expect(clerk.registry.nextQueueDeadline == nil)
    }

    @Test(
        "rule 27: cancel while the end of an attempt is on its way to the disk",
        arguments: [true, false])
    func cancelAttemptOnItsWay(isStored: Bool) throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.disk = .waits
        clerk.finish(id, 1)
        try clerk.cancel(id)
        clerk.answers = [:]
        clerk.disk = .writes
        clerk.finishWriting(isStored)
        if isStored {
            #expect(clerk.ordered.suffix(2) == [.attemptEnded(id), .ended(id)])
            #expect(clerk.answers[id] == .some(nil))
            #expect(clerk.task(id)?.outcome == .cancelled)
        } else {
            #expect(clerk.answers[id] == .notAccepting("the disk is full"))
            clerk.heal()
            #expect(clerk.task(id)?.state == .queued)
            #expect(clerk.run(id)?.attempt == 2)
        }
    }

    @Test("rule 27: an attempt whose end is not on disk waits until it is")
    func unstoredAttempt() throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.disk = .fails
        clerk.finish(id, 1)
        #expect(clerk.registry.unstoredEndCount == 1)
        #expect(clerk.count(.attemptEnded, id) == 0)
        clerk.pass(.seconds(500))
        #expect(clerk.registry.liveCount == 0)
        #expect(throws: Refusal.notAccepting("the disk is full")) { try clerk.cancel(id) }
        clerk.heal()
        #expect(clerk.registry.unstoredEndCount == 1)
        clerk.disk = .writes
        clerk.heal()
        #expect(clerk.registry.unstoredEndCount == 0)
        #expect(clerk.count(.attemptEnded, id) == 1)
        // Its delay is counted from the end of the attempt.
        #expect(clerk.task(id)?.state == .running)
    }

    @Test("rule 27: the delay is counted over a sleep of the machine before the disk had the end")
    func delayOverSleep() throws {
        var clerk = Clerk()
        let id = try retried(&clerk)
        clerk.disk = .waits
        clerk.finish(id, 1)
        clerk.machineSleeps(.seconds(20))
        clerk.disk = .writes
        clerk.finishWriting()
        #expect(clerk.registry.notBefore(id, at: clerk.now) == .seconds(10))
    }

    @Test("rule 27: what a stop of the daemon interrupts is tried again where that was asked for")
    func drain() throws {
        for onInterruption in [true, false] {
            var clerk = Clerk()
            let id = try retried(&clerk, onInterruption: onInterruption)
            clerk.call { $0.drain(keepsQueue: true, at: $1, &$2) }
            clerk.call { $0.endGrace(at: $1, &$2) }
            clerk.exit(id, .signal(.kill))
            clerk.gone(id)
            #expect(clerk.ordered.last == (onInterruption ? .attemptEnded(id) : .ended(id)))
            #expect(clerk.task(id)?.state == (onInterruption ? .queued : .ended))
            clerk.pass(.seconds(60))
            #expect(clerk.registry.liveCount == 0)
        }
    }

    @Test(
        "rule 27: what a crash interrupted is tried again where that was asked for, unless cancelled"
    )
    func restore() throws {
        let cases = [(true, false), (false, false), (true, true)]
        for (onInterruption, isCancelled) in cases {
            var clerk = Clerk()
            let submission = Clerk.submission {
                $0.retry = Retry(attempts: 3, onInterruption: onInterruption)
            }
            var task = RestoredTask(7, submission, begunAt: clerk.now - .seconds(9))
            task.attempt = 2
            task.isCancelled = isCancelled
            clerk.call { $0.restore([task], at: $1, &$2) }
            guard onInterruption, !isCancelled else {
                #expect(clerk.task(task.id)?.outcome == .interrupted)
                continue
            }
            #expect(clerk.run(task.id)?.attempt == 3)
            #expect(clerk.run(task.id)?.attempts.last?.outcome == .interrupted)
            clerk.pass(.seconds(60) - .nanoseconds(1))
            #expect(clerk.task(task.id)?.state == .queued)
            clerk.pass(.nanoseconds(1))
            #expect(clerk.task(task.id)?.state == .running)
        }
    }

    @Test("rule 27: a restored task waits for what is left of its delay")
    func restoredDelay() throws {
        var clerk = Clerk()
        var task = RestoredTask(7, Clerk.submission { $0.retry = Retry(attempts: 2) })
        task.attempt = 2
        task.notBefore = clerk.registry.boot(at: clerk.now) + .seconds(4)
        clerk.call { $0.restore([task], at: $1, &$2) }
        #expect(clerk.hold(task.id) == .retry(until: task.notBefore, attempt: 2))
        clerk.pass(.seconds(4))
        #expect(clerk.task(task.id)?.state == .running)
    }
}
