import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 29: tasks that come after others")
struct DependencyTests {
    private func after(_ ids: TaskID..., anyOutcome: Bool = false) -> [Predecessor] {
        ids.map { Predecessor($0, anyOutcome: anyOutcome) }
    }

    @Test("rule 29: a task starts when all that it comes after have completed, and not before")
    func order() throws {
        var clerk = Clerk()
        let (first, second) = (try clerk.queue(), try clerk.queue())
        let third = try clerk.queue { $0.after = after(first, second) }
        #expect(clerk.hold(third) == .after([first, second]))
        clerk.finish(second)
        #expect(clerk.hold(third) == .after([first]))
        clerk.finish(first)
        #expect(clerk.task(third)?.state == .running)
    }

    @Test(
        "rule 29: where one of them ends otherwise it fails, never runs, and so do those after it")
    func failure() throws {
        var clerk = Clerk()
        let first = try clerk.queue()
        let second = try clerk.queue {
            $0.after = after(first)
            $0.retry = Retry(attempts: 5)
        }
        let third = try clerk.queue { $0.after = after(second) }
        let fourth = try clerk.queue { $0.after = after(first, anyOutcome: true) }
        clerk.finish(first, 1)
        let ends = [second, third].map { clerk.task($0)?.outcome }
        #expect(ends == [.failed, .failed])
        #expect(clerk.task(second)?.reason == .predecessor(BrokenDependency(first, .failed)))
        #expect(clerk.task(fourth)?.state == .running)
        #expect(!clerk.history.contains(.launch(second)) && !clerk.history.contains(.launch(third)))
        let why = try clerk.registry.explain(second, for: Clerk.ann, at: clerk.now).first
        #expect(why?.rule == "after")
        #expect(why?.text == "it was to start after task 1 had completed, which ended as failed")
    }

    @Test("rule 29: an attempt that is tried again is no end")
    func retry() throws {
        var clerk = Clerk()
        let first = try clerk.queue { $0.retry = Retry(attempts: 2, delay: .seconds(1)) }
        let second = try clerk.queue { $0.after = after(first) }
        clerk.finish(first, 1)
        #expect(clerk.hold(second) == .after([first]))
        clerk.pass(.seconds(1))
        clerk.finish(first)
        #expect(clerk.task(second)?.state == .running)
    }

    @Test("rule 29: a cancelled one, or one in whose place another comes, lets it fail")
    func cancel() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.queue("other")
        let first = try clerk.queue { $0.unique = .replace }
        let second = try clerk.queue("follower") { $0.after = after(first) }
        let third = try clerk.queue { $0.unique = .replace }
        #expect(clerk.task(first)?.outcome == .cancelled)
        #expect(clerk.task(second)?.outcome == .failed)
        let fourth = try clerk.queue("follower") { $0.after = after(third) }
        try clerk.cancel(third)
        #expect(clerk.task(fourth)?.outcome == .failed)
    }

    @Test("rule 29: its other rules hold besides; it does not stand before others of its name")
    func otherRules() throws {
        var clerk = Clerk()
        let first = try clerk.queue("build")
        let second = try clerk.queue {
            $0.after = after(first)
            $0.minimumInterval = .seconds(10)
        }
        let third = try clerk.queue { $0.minimumInterval = .seconds(10) }
        #expect(clerk.task(third)?.state == .running)
        clerk.finish(third)
        clerk.finish(first)
        #expect(clerk.hold(second)?.rule == "minimumInterval")
        clerk.pass(.seconds(10))
        #expect(clerk.task(second)?.state == .running)
    }

    @Test("rule 29: what has ended is not waited for, and one that would wait in vain is refused")
    func ended() throws {
        var clerk = Clerk()
        let (good, bad) = (try clerk.queue(), try clerk.queue())
        clerk.finish(good)
        clerk.finish(bad, 1)
        let next = try clerk.queue { $0.after = after(good) }
        #expect(clerk.task(next)?.state == .running)
        #expect(throws: Refusal.alreadyEnded(bad, .failed)) {
            try clerk.queue { $0.after = after(good, bad) }
        }
        let any = try clerk.queue { $0.after = after(bad, anyOutcome: true) }
        #expect(clerk.task(any)?.state == .running)
    }

    @Test("rule 29: others' tasks, held ones and tasks that never were cannot be waited for")
    func refusals() throws {
        var clerk = Clerk()
        let others = try clerk.queue(by: Clerk.bob)
        #expect(throws: Refusal.noSuchTask(others)) { try clerk.queue { $0.after = after(others) } }
        let held = try clerk.begin()
        #expect(throws: Refusal.self) { try clerk.queue { $0.after = after(held) } }
        let never = TaskID(rawValue: 99)
        #expect(throws: Refusal.noSuchTask(never)) { try clerk.queue { $0.after = after(never) } }
        let own = try clerk.queue()
        #expect(throws: Refusal.invalidParameter("after")) {
            try clerk.queue { $0.after = after(own, own) }
        }
    }

    @Test("rule 29: what would be cancelled for it cannot be waited for")
    func replaced() throws {
        var clerk = Clerk { $0.slots = 1 }
        _ = try clerk.queue("other")
        let first = try clerk.queue { $0.unique = .replace }
        #expect(throws: Refusal.invalidParameter("after")) {
            try clerk.queue {
                $0.unique = .replace
                $0.after = after(first)
            }
        }
        let second = try clerk.queue {
            $0.unique = .replace
            $0.after = after(first, anyOutcome: true)
        }
        #expect(clerk.task(first)?.outcome == .cancelled)
        #expect(clerk.hold(second)?.rule == "slots")
    }

    @Test(
        "rule 29: what waits in vain ends a few at a time, and what it comes after counts as work")
    func bounded() throws {
        var clerk = Clerk()
        let first = try clerk.queue()
        let others = try (0..<100).map { _ in try clerk.queue { $0.after = after(first) } }
        clerk.held.registry.limits.workBytesPerOwnerMax = 0
        #expect(throws: Refusal.self) { try clerk.queue { $0.after = after(first) } }
        var actions: [Action] = []
        clerk.disk = .waits
        clerk.finish(first, 1)
        for step in clerk.steps { clerk.held.registry.stored(step, at: clerk.now, &actions) }
        actions = []
        clerk.held.registry.deadlineReached(at: clerk.now, limit: 10, &actions)
        let stored = actions.count { if case .store = $0 { true } else { false } }
        #expect(stored == 10)
        #expect(others.count { clerk.run($0)?.conclusion != nil } == 10)
    }

    @Test("rule 29: what only the disk knows is told with the submission")
    func earlierEnds() throws {
        var clerk = Clerk()
        var submission = Clerk.submission { $0.after = after(TaskID(rawValue: 77)) }
        #expect(clerk.registry.unknownPredecessors(of: submission) == [TaskID(rawValue: 77)])
        submission.earlierEnds[TaskID(rawValue: 77)] = .completed
        #expect(clerk.registry.unknownPredecessors(of: submission).isEmpty)
        #expect(clerk.task(try clerk.submit(submission))?.state == .running)
    }

    @Test("rule 29: so many tasks at most come after one")
    func followers() throws {
        var clerk = Clerk()
        let first = try clerk.queue()
        for _ in 0..<1000 { _ = try clerk.queue { $0.after = after(first) } }
        #expect(throws: Refusal.limitReached(limit: "followersMax", value: 1000)) {
            try clerk.queue { $0.after = after(first) }
        }
    }

    @Test(
        "rule 29: an end that the disk has not yet frees nobody; one that it refuses does, when it heals"
    )
    func disk() throws {
        var clerk = Clerk()
        let first = try clerk.queue()
        let second = try clerk.queue { $0.after = after(first) }
        clerk.disk = .waits
        clerk.finish(first)
        #expect(clerk.task(second)?.state == .queued)
        clerk.finishWriting(false)
        #expect(clerk.task(second)?.state == .queued)
        clerk.disk = .writes
        clerk.heal()
        #expect(clerk.task(second)?.state == .running)
    }

    @Test("rule 29: a restart loses no order")
    func restart() throws {
        var clerk = Clerk()
        let (first, second, third) = (
            TaskID(rawValue: 1001), TaskID(rawValue: 1002), TaskID(rawValue: 1003)
        )
        var waiting = RestoredTask(1002, Clerk.submission { $0.after = after(first) })
        waiting.wait(after: after(first).map { Dependency($0) }, broken: nil)
        var vain = RestoredTask(1003, Clerk.submission { $0.after = after(TaskID(rawValue: 900)) })
        vain.wait(after: [], broken: BrokenDependency(TaskID(rawValue: 900), nil))
        let restored = [RestoredTask(1001, Clerk.submission()), waiting, vain]
        clerk.call { $0.restore(restored, at: $1, &$2) }
        #expect(clerk.task(first)?.state == .running)
        #expect(clerk.hold(second) == .after([first]))
        #expect(clerk.task(third)?.outcome == .failed)
        clerk.finish(first)
        #expect(clerk.task(second)?.state == .running)
    }
}
