import BudgetCore
import Testing

@Suite("Launched applications go on while one daemon follows another")
struct ApplicationRestoreTests {
    private static let one = Stage.key("one")
    private static let two = Stage.key("two")

    /// One with an application that was launched.
    private func stage(_ cues: [Cue] = []) throws -> Stage {
        var stage = Stage {
            $0.isForegroundSingle = false
            $0.suspendAfter = .seconds(5)
        }
        stage.showsNotes = true
        try stage.play([.register, .launch] + cues + [.cut])
        return stage
    }

    /// What is left of it for the next daemon.
    private func follow(
        _ stage: Stage, seconds: Int = 0, _ change: (inout FoundApplication) -> Void = { _ in }
    ) -> Stage {
        var next = Stage { $0 = stage.clerk.registry.applicationRules }
        next.showsNotes = true
        next.clerk.now = stage.clerk.now + .seconds(seconds)
        next.clerk.registry.asleep = stage.clerk.registry.asleep
        var (records, found): ([(key: ApplicationKey, record: ApplicationRecord)], _) =
            ([], [UInt64: FoundApplication]())
        for key in stage.clerk.registry.applications.keys {
            guard let application = stage.application(key), let saved = application.saved
            else { continue }
            records.append((key: key, record: saved))
            guard let run = saved.run,
                let times = stage.clerk.registry.applicationTimes(of: key)
            else { continue }
            var one = FoundApplication(
                hasStarted: application.state != .notRunning,
                isFrozen: application.state == .suspended, notes: times.notes)
            change(&one)
            found[run] = one
        }
        next.call {
            $0.restore(applications: records, running: found, frozen: [], at: $1, &$2)
        }
        return next
    }

    @Test("one in front is in front, and is told nothing")
    func front() throws {
        for cues in [[], [Cue.resign]] {
            let before = try stage(cues)
            var stage = follow(before, seconds: 100)
            #expect(stage.take() == [])
            #expect(stage.state() == before.state())
            #expect(stage.clerk.registry.runningApplicationCount == 1)
            try stage.home()
            #expect(stage.take().last == "didEnterBackground")
            stage.pass(.seconds(5))
            #expect(stage.state() == .suspended)
        }
    }

    @Test("one in the background has its time as before, and as long again before it is suspended")
    func background() throws {
        let before = try stage([.home, .pass(4)])
        var stage = follow(before, seconds: 3)
        #expect(stage.state() == .background)
        #expect(stage.application()?.remaining(at: stage.clerk.now) == .seconds(173))
        stage.pass(.seconds(4))
        #expect(stage.state() == .background)
        stage.pass(.seconds(1))
        #expect(stage.take() == ["freeze", "(suspended)"])
        try stage.activate()
        #expect(stage.take().first == "thaw")
    }

    @Test("one that holds tasks holds none any more, and is suspended")
    func held() throws {
        var before = try stage([.home])
        try before.begin("upload")
        before.pass(.seconds(10))
        var stage = follow(before)
        #expect(stage.state() == .background)
        stage.pass(.seconds(5))
        #expect(stage.state() == .suspended)
    }

    @Test("one that is frozen stays so, and comes back by an order")
    func frozen() throws {
        let before = try stage([.home, .pass(5)])
        var stage = follow(before, seconds: 1000)
        #expect(stage.take() == [] && stage.state() == .suspended)
        let isSuspended = stage.clerk.registry.isSuspended(Stage.maps)
        #expect(isSuspended)
        try stage.activate()
        #expect(
            stage.take() == ["thaw", "willEnterForeground 1005 s", "didBecomeActive"])
    }

    @Test("one that others have thawed meanwhile is in the background")
    func thawed() throws {
        let before = try stage([.home, .pass(5)])
        var stage = follow(before) { $0.isFrozen = false }
        #expect(stage.take() == ["(background)"])
        stage.pass(.seconds(5))
        #expect(stage.take() == ["freeze", "(suspended)"])
    }

    @Test("a freeze under way is done, or is tried again later")
    func freezing() throws {
        let before = try stage([.home, .hold(.freeze), .pass(5)])
        var done = follow(before) { $0.isFrozen = true }
        #expect(done.take() == ["(suspended)"] && done.state() == .suspended)
        var undone = follow(before)
        #expect(undone.take() == [] && undone.state() == .background)
        undone.pass(.seconds(5))
        #expect(undone.take() == ["freeze", "(suspended)"])
    }

    @Test("a thaw under way goes on, and has the application come to the front")
    func thawing() throws {
        let before = try stage([.home, .pass(5), .hold(.thaw), .activate])
        var frozen = follow(before)
        #expect(
            frozen.take() == ["thaw", "willEnterForeground 5 s", "didBecomeActive"])
        var thawed = follow(before) { $0.isFrozen = false }
        #expect(thawed.take() == ["willEnterForeground 5 s", "didBecomeActive"])
    }

    @Test("one that was being started is started, or was so meanwhile")
    func starting() throws {
        var before = try stage([.exit])
        before.held = [.start]
        try before.launch()
        var waiting = follow(before)
        #expect(waiting.take() == [] && waiting.state() == .notRunning)
        try waiting.play([.started])
        #expect(waiting.take() == ["didFinishLaunching", "didBecomeActive"])
        var started = follow(before) { $0.hasStarted = true }
        #expect(started.take() == ["didFinishLaunching", "didBecomeActive"])
    }

    @Test("an end under way goes on, for the reason that it had")
    func ending() throws {
        var before = try stage([.home])
        before.held = [.kill]
        try before.play([.terminate])
        let limit = before.clerk.registry.applicationTimes(of: Stage.maps)?.limitAt
        #expect(limit == before.clerk.now + .seconds(5))
        var stage = follow(before, seconds: 2)
        #expect(stage.take() == [])
        #expect(throws: Refusal.wrongState("maps", .background)) { try stage.activate() }
        stage.pass(.seconds(3))
        #expect(stage.take().prefix(1) == ["kill"])
        #expect(stage.state() == .notRunning && stage.last()?.reason == .terminated)
        before.pass(.seconds(6))
        var killed = follow(before)
        killed.pass(.zero)
        #expect(killed.take().prefix(1) == ["kill"])
        #expect(killed.last()?.reason == .terminated)
    }

    @Test("one that ended meanwhile has ended as it did, and when it did")
    func ended() throws {
        var stage = follow(try stage(), seconds: 60)
        let moment = stage.clerk.now - .seconds(30)
        try stage.play([.crash])
        stage.call { $0.applicationGone(Stage.maps, moment: moment, at: $1, &$2) }
        #expect(stage.last()?.reason == .crashed)
        #expect(stage.last()?.exit == .signal(SignalNumber(rawValue: 11)))
    }

    @Test("one that was told to end, or was lost, was interrupted, with its exit where it has one")
    func interrupted() throws {
        var stopped = follow(try stage())
        stopped.held = [.kill]
        stopped.call { $0.applicationStopped(Stage.maps, moment: nil, at: $1, &$2) }
        #expect(
            stopped.take() == ["note: \(ApplicationNote.ending(.interrupted))", "willTerminate"])
        stopped.call { $0.applicationExited(Stage.maps, .status(3), at: $1, &$2) }
        try stopped.play([.gone])
        #expect(stopped.last()?.reason == .interrupted && stopped.last()?.exit == .status(3))
        var lost = follow(try stage())
        lost.call { $0.applicationLost(Stage.maps, at: $1, &$2) }
        #expect(lost.last()?.reason == .interrupted && lost.state() == .notRunning)
    }

    @Test("one that is not there any more, or of which nothing is known, was interrupted")
    func unknown() throws {
        let before = try stage()
        let stage = follow(before) { $0.notes = nil }
        #expect(stage.state() == .notRunning && stage.last()?.reason == .interrupted)
        let launched = stage.clerk.registry.launchedApplications
        #expect(launched.isEmpty)
        #expect(stage.application()?.saved?.run == nil)
    }

    @Test("their order and the numbers that they know go on")
    func order() throws {
        var before = try stage()
        for key in [Self.two, Self.one] {
            try before.register(key)
            try before.launch(key)
        }
        try before.activate(Self.two)
        try before.push(PushMessage(kind: .silent))
        let front = before.clerk.registry.applications.front(of: Clerk.ann.owner)
        var stage = follow(before)
        #expect(stage.clerk.registry.applications.front(of: Clerk.ann.owner) == front)
        // What it was told of before is known, and owed no more.
        let old = before.deliveries[Stage.maps] ?? 0
        #expect(old > 0)
        try stage.call { try $0.delivered(Stage.maps, old, at: $1, &$2) }
        try stage.push(PushMessage(kind: .silent))
        #expect(stage.deliveries[Stage.maps] ?? 0 > old)
        let runs = stage.clerk.registry.launchedApplications.keys
        try stage.play([.exit])
        try stage.launch()
        #expect(stage.application()?.record.run ?? 0 > runs.max() ?? 0)
    }

    @Test("a stop that leaves commands leaves launched applications, and lets go of adopted ones")
    func drain() throws {
        var stage = try stage([.home])
        try stage.adopt(Self.one)
        _ = stage.take()
        stage.call { $0.drain(keepsQueue: true, leavesCommands: true, at: $1, &$2) }
        #expect(stage.state() == .background && stage.state(Self.one) == .notRunning)
        #expect(stage.take().contains("one: release"))
        #expect(stage.clerk.registry.awaitedApplicationCount == 0)
        #expect(stage.clerk.registry.runningApplicationCount == 1)
        stage.pass(.seconds(5))
        #expect(stage.state() == .suspended)
        stage.call { $0.endGrace(at: $1, &$2) }
        #expect(follow(stage).state() == .suspended)
    }

    @Test("what is mirrored of one changes with it, and its end is told once the disk has it")
    func mirror() throws {
        var stage = try stage()
        let run = try #require(stage.application()?.record.run)
        #expect(stage.takeChanged() == [Stage.maps])
        #expect(stage.takeChanged() == [])
        #expect(stage.times()?.notes.state == .active)
        try stage.home()
        #expect(stage.takeChanged() == [Stage.maps])
        #expect(stage.times()?.notes.state == .background)
        #expect(stage.takeRecorded() == [])
        try stage.play([.exit])
        #expect(stage.takeRecorded() == [run])
        #expect(stage.times() == nil)
        try stage.adopt(Self.one)
        #expect(stage.times(Self.one) == nil)
    }
}

extension Stage {
    fileprivate func times(_ key: ApplicationKey = maps) -> ApplicationTimes? {
        clerk.registry.applicationTimes(of: key)
    }

    fileprivate mutating func takeChanged() -> [ApplicationKey] {
        clerk.registry.takeChangedApplications()
    }

    fileprivate mutating func takeRecorded() -> [UInt64] { clerk.registry.takeRecordedRuns() }
}
