import BudgetCore
import TestKit
import Testing

@Suite("Commands that a new daemon finds")
struct CommandRestoreTests {
    static let here = ExecutorInstance(high: 1, low: 2)
    static let elsewhere = ExecutorInstance(high: 1, low: 3)

    /// A daemon with one command, and what the next one finds of it.
    struct Scene {
        var before = CommandTests.clerk()
        let id: TaskID
        var task: RestoredTask

        init(
            application: String? = nil, _ configure: (inout Submission) -> Void = { _ in }
        ) throws {
            var submission = Clerk.submission()
            submission.application = application
            submission.budget = CommandTests.budget
            configure(&submission)
            id = try before.submit(submission)
            before.started(id)
            task = RestoredTask(id.rawValue, submission, begunAt: before.now)
            task.budget = Budget(duration: .seconds(10), grace: .seconds(2))
            task.grace = .seconds(2)
            task.executor = CommandRestoreTests.here
        }

        var found: FoundCommand? {
            before.deadlines(id).map {
                FoundCommand(
                    attempt: 1, processID: ProcessID(rawValue: 77), isRunning: true,
                    notes: CommandNotes(words: $0.notes.words), handlerAt: $0.handlerAt,
                    limitAt: $0.limitAt)
            }
        }

        /// The next daemon, so much later.
        func next(_ command: FoundCommand?, after pause: Duration = .zero) -> Clerk {
            var clerk = CommandTests.clerk()
            clerk.now = before.now + pause
            clerk.call { registry, now, actions in
                var found: [TaskID: FoundCommand] = [:]
                found[id] = command
                registry.restore(
                    [task], found: found, executor: CommandRestoreTests.here, at: now, &actions)
            }
            return clerk
        }
    }

    @Test("one that runs goes on with its times, its slot and its clock, and nothing is told of it")
    func goesOn() throws {
        var scene = try Scene()
        scene.before.pass(.seconds(3))
        _ = try scene.before.extend(scene.id)
        var next = scene.next(scene.found, after: .seconds(1))
        #expect(next.latest.isEmpty && next.ordered.isEmpty)
        let task = try #require(next.task(scene.id))
        #expect(task.state == .running && task.used(at: next.now) == .seconds(4))
        #expect(
            next.deadlines(scene.id)
                == scene.before.deadlines(scene.id))
        #expect(next.run(scene.id)?.processID == ProcessID(rawValue: 77))
        #expect(next.registry.slotsTaken == 1 && next.registry.begunCount == 1)
        next.pass(.seconds(7))
        #expect(next.latest == [.tell(.handlerFired, scene.id), .warn(scene.id)])
        next.finish(scene.id)
        #expect(next.task(scene.id)?.outcome == .expired)
        #expect(next.registry.slotsTaken == 0)
    }

    @Test("one that is being started is told of when it runs")
    func isLaunching() throws {
        let scene = try Scene()
        var command = try #require(scene.found)
        (command.isRunning, command.processID) = (false, nil)
        var next = scene.next(command)
        #expect(next.latest.isEmpty && next.hasCommand(scene.id, attempt: 1))
        next.started(scene.id)
        #expect(next.latest == [.tell(.began, scene.id)])
        var other = scene.next(command)
        _ = other.call { $0.startPostponed(scene.id, "no room", .command, at: $1, &$2) }
        #expect(other.registry.counts.begunRun == 0)
    }

    @Test("what came about meanwhile is told in its order, and as of its time")
    func reports() throws {
        let scene = try Scene { $0.work.expiration.command = ["save"] }
        var command = try #require(scene.found)
        command.handlerRuns = false
        let begunAt = scene.before.now
        var next = scene.next(command, after: .seconds(60))
        let (firedAt, killedAt) = (begunAt + .seconds(8), begunAt + .seconds(10))
        next.call { registry, now, actions in
            registry.commandWarned(scene.id, count: 1, moment: firedAt, at: now, &actions)
            registry.commandLimitReached(scene.id, moment: killedAt, at: now, &actions)
            registry.mainExited(
                scene.id, .signal(.kill), moment: killedAt, at: now, &actions)
            registry.handlerExited(scene.id, at: now, &actions)
            registry.processesGone(scene.id, moment: killedAt, at: now, &actions)
        }
        let task = try #require(next.task(scene.id))
        #expect(task.outcome == .overrun && task.warnedAt == firedAt)
        #expect(task.endedAt == killedAt && task.used(at: next.now) == .seconds(10))
        #expect(next.count(.handlerFired, scene.id) == 1)
    }

    @Test("one whose handler was told of is not told again, also where it had time again since")
    func toldBefore() throws {
        var scene = try Scene()
        scene.before.pass(.seconds(8))
        scene.before.warned(scene.id, 1)
        let firedAt = scene.before.now
        for isExtended in [false, true] {
            if isExtended { _ = try scene.before.extend(scene.id) }
            var next = scene.next(scene.found, after: .seconds(1))
            next.call { $0.commandWarned(scene.id, count: 1, moment: firedAt, at: $1, &$2) }
            #expect(next.latest.isEmpty && next.task(scene.id)?.warnedAt == firedAt)
            #expect(next.task(scene.id)?.state == (isExtended ? .running : .expiring))
        }
    }

    @Test(
        "one that its executor ends with all others is interrupted for what that says",
        arguments: [Reason.daemonAway, .executorStop])
    func warnedWithAll(_ reason: Reason) throws {
        let scene = try Scene()
        var next = scene.next(scene.found, after: .seconds(4))
        next.call { registry, now, actions in
            registry.commandWarned(
                scene.id, count: 1, moment: scene.before.now + .seconds(3), stop: reason, at: now,
                &actions)
            registry.mainExited(scene.id, .status(0), at: now, &actions)
            registry.processesGone(scene.id, at: now, &actions)
        }
        let task = try #require(next.task(scene.id))
        #expect(task.reason == reason && task.outcome == .interrupted)
    }

    @Test("one that was warned for want of a daemon has its grace, and no more")
    func warnedAlone() throws {
        let scene = try Scene()
        var next = scene.next(scene.found, after: .seconds(4))
        let firedAt = scene.before.now + .seconds(3)
        next.call { $0.commandWarned(scene.id, count: 1, moment: firedAt, at: $1, &$2) }
        #expect(next.latest == [.tell(.handlerFired, scene.id)])
        #expect(next.task(scene.id)?.reason == .shutdown)
        #expect(next.deadlines(scene.id)?.limitAt == firedAt + .seconds(2))
    }

    @Test(
        "one that was being cancelled is killed when its grace is over, and who cancelled it is known"
    )
    func isStopping() throws {
        var scene = try Scene()
        try scene.before.cancel(scene.id)
        var next = scene.next(scene.found, after: .seconds(1))
        #expect(next.latest.isEmpty)
        next.pass(.seconds(1))
        #expect(next.latest == [.killAll(scene.id)])
        scene.before.pass(.seconds(2))
        var later = scene.next(scene.found)
        #expect(later.latest.isEmpty)
        later.exit(scene.id, .signal(.kill))
        later.gone(scene.id)
        #expect(later.task(scene.id)?.outcome == .cancelled)
        #expect(later.task(scene.id)?.reason == .cancelled(by: Clerk.ann.owner, text: nil))
    }

    @Test("an order to cancel it that is on disk and was not carried out is carried out")
    func cancelledOnDisk() throws {
        var scene = try Scene { $0.queueing.retry = Retry(attempts: 3) }
        scene.task.isCancelled = true
        var next = scene.next(scene.found)
        #expect(next.latest == [.tell(.cancelling, scene.id), .signal(scene.id, .terminate)])
        #expect(next.ordered.isEmpty)
        next.finish(scene.id, 1)
        #expect(next.task(scene.id)?.outcome == .cancelled)
    }

    @Test("an order to cancel it that did not reach the disk is written there")
    func cancelledInNotes() throws {
        var scene = try Scene { $0.queueing.retry = Retry(attempts: 3) }
        try scene.before.cancel(scene.id)
        let next = scene.next(scene.found)
        #expect(next.ordered == [.cancelling(scene.id)])
    }

    @Test("one that was paused is let go on by the next daemon")
    func isPaused() throws {
        var scene = try Scene()
        var change = QueueingChange()
        change.isPaused = true
        _ = try scene.before.call { try $0.change(scene.id, by: Clerk.ann, change, at: $1, &$2) }
        var next = scene.next(scene.found)
        #expect(next.registry.isStopped(scene.id) == true)
        change.isPaused = false
        _ = try next.call { try $0.change(scene.id, by: Clerk.ann, change, at: $1, &$2) }
        #expect(next.latest.first == .signal(scene.id, .goOn))
    }

    @Test("one that spent nothing, since its application was in front, has its whole rest")
    func dormant() throws {
        var scene = try Scene(application: "editor")
        let key = ApplicationKey(owner: Clerk.ann.owner, id: "editor")
        scene.before.pass(.seconds(3))
        scene.before.call { $0.applicationMoved(key, to: .foreground, at: $1, &$2) }
        #expect(scene.found?.limitAt == .never && scene.found?.handlerAt == .never)
        let next = scene.next(scene.found, after: .seconds(50))
        #expect(next.latest == [.tell(.resumed, scene.id)])
        #expect(next.task(scene.id)?.used(at: next.now) == .seconds(3))
        #expect(next.remaining(scene.id)?.untilHardLimit == .seconds(7))
        #expect(next.registry.taskCount(of: key) == 1)
    }

    @Test("one that was never started uses up no attempt, and is started with the next daemon")
    func neverStarted() throws {
        var scene = try Scene { $0.queueing.retry = Retry(attempts: 3) }
        scene.task.attempt = 2
        let next = scene.next(nil)
        #expect(next.latest == [.launch(scene.id)])
        #expect(next.ordered == [.startUndone(scene.id), .started(scene.id)])
        #expect(next.run(scene.id)?.attempt == 2 && next.run(scene.id)?.attempts.isEmpty == true)
    }

    @Test("one that another program ran, or another attempt, or that was cancelled, is interrupted")
    func isLost() throws {
        var scene = try Scene()
        scene.task.executor = Self.elsewhere
        #expect(scene.next(nil).task(scene.id)?.outcome == .interrupted)
        var command = try #require(scene.found)
        command.attempt = 2
        #expect(scene.next(command).task(scene.id)?.outcome == .interrupted)
        #expect(!scene.next(command).hasCommand(scene.id, attempt: 2))
        scene.task.executor = nil
        #expect(scene.next(nil).task(scene.id)?.outcome == .interrupted)
        scene.task.executor = Self.here
        scene.task.isCancelled = true
        #expect(scene.next(nil).task(scene.id)?.outcome == .interrupted)
    }

    @Test("one of which nothing is known but its times keeps those")
    func withoutNotes() throws {
        let scene = try Scene()
        var command = try #require(scene.found)
        command.notes = nil
        let next = scene.next(command, after: .seconds(1))
        let times = try #require(next.deadlines(scene.id))
        #expect(times.handlerAt == command.handlerAt && times.limitAt == command.limitAt)
        #expect(next.task(scene.id)?.used(at: next.now) == .seconds(1))
        command.handlerAt = .never
        let warned = scene.next(command, after: .seconds(1))
        #expect(warned.task(scene.id)?.state == .expiring)
        command.limitAt = .never
        let unbounded = scene.next(command, after: .seconds(1))
        #expect(unbounded.remaining(scene.id)?.untilHardLimit == .seconds(10))
        // What says that it is of a time to come is not believed.
        command = try #require(scene.found)
        #expect(scene.next(command, after: .seconds(-1)).task(scene.id)?.state == .running)
    }

    @Test("one that has a slot takes it before others are started")
    func slots() throws {
        let scene = try Scene()
        var clerk = Clerk { $0.slots = 1 }
        clerk.now = scene.before.now
        let waiting = RestoredTask(9, Clerk.submission())
        let found = try #require(scene.found)
        clerk.call { registry, now, actions in
            registry.restore(
                [scene.task, waiting], found: [scene.id: found], executor: Self.here, at: now,
                &actions)
        }
        #expect(clerk.latest.isEmpty && clerk.task(waiting.id)?.state == .queued)
        clerk.finish(scene.id)
        #expect(clerk.latest.last == .launch(waiting.id))
    }
}
