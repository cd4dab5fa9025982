import BudgetCore
import Testing

@Suite("Applications: calls that wait, who is in front, and what is told")
struct ApplicationOrderTests {
    @Test(
        "a call that waits is answered once, when it is in front or cannot be",
        arguments: [
            ([Cue.started], nil), ([.notStarted], Refusal.cannotStart("maps", "no such file")),
            ([.terminate, .gone], .wrongState("maps", .notRunning)),
            ([.exit, .gone], .wrongState("maps", .notRunning)),
            ([.terminate, .notStarted], .wrongState("maps", .notRunning)),
        ])
    func launchIsAnswered(cues: [Cue], refusal: Refusal?) throws {
        var stage = Stage()
        stage.held = [.start, .kill]
        try stage.register()
        let launch = try stage.launch()
        let activate = try stage.activate()
        #expect(stage.replies[launch] == nil)
        try stage.play(cues + [.pass(60), .release, .gone])
        #expect(stage.replies[launch] == [refusal])
        #expect(stage.replies[activate] == [refusal])
    }

    @Test(
        "an activate of the suspended is answered once",
        arguments: [
            ([Cue.thawed], nil), ([.notThawed], Refusal.notAccepting("gone wrong")),
            ([.home], .wrongState("maps", .suspended)),
            ([.terminate, .gone], .wrongState("maps", .notRunning)),
            ([.gone], .wrongState("maps", .notRunning)),
        ])
    func activateIsAnswered(cues: [Cue], refusal: Refusal?) throws {
        var stage = try SilentMessageTests.stage(.suspended)
        stage.held = [.thaw, .kill]
        let activate = try stage.activate()
        #expect(stage.replies[activate] == nil)
        try stage.play(cues)
        #expect(stage.replies[activate] == [refusal])
        try stage.play([.release, .thawed, .pass(60), .terminate, .pass(60), .gone])
        #expect(stage.replies[activate] == [refusal])
    }

    @Test("every terminate is answered when nothing is left, and one of what does not run at once")
    func terminateIsAnswered() throws {
        var stage = Stage()
        try stage.register()
        try stage.launch()
        stage.held = [.kill]
        let calls = [try stage.terminate(), try stage.terminate()]
        stage.pass(.seconds(7))
        #expect(calls.allSatisfy { stage.replies[$0] == nil })
        try stage.play([.gone])
        #expect(calls.allSatisfy { stage.replies[$0] == [nil] })
        let late = try stage.terminate()
        #expect(stage.replies[late] == nil)
    }

    @Test("an order that does not fit the state is refused and changes nothing")
    func wrongStates() throws {
        var stage = Stage()
        #expect(throws: Refusal.noSuchApplication("maps")) { try stage.activate() }
        try stage.register()
        #expect(throws: Refusal.wrongState("maps", .notRunning)) { try stage.resign() }
        #expect(throws: Refusal.wrongState("maps", .notRunning)) { try stage.home() }
        try stage.launch()
        #expect(throws: Refusal.wrongState("maps", .active)) { try stage.launch() }
        #expect(throws: Refusal.wrongState("maps", .active)) { try stage.adopt() }
        try stage.home()
        #expect(throws: Refusal.wrongState("maps", .background)) { try stage.resign() }
        try stage.activate()
        stage.held = [.kill]
        try stage.terminate()
        #expect(throws: Refusal.wrongState("maps", .active)) { try stage.activate() }
        #expect(throws: Refusal.wrongState("maps", .active)) { try stage.home() }
        #expect(throws: Refusal.wrongState("maps", .active)) { try stage.resign() }
        try stage.register(Stage.key("adopted")) { $0.command = nil }
        #expect(throws: Refusal.notRegistered("adopted")) {
            try stage.launch(Stage.key("adopted"))
        }
    }

    @Test(
        "single: one of an owner is in front, also one under a sheet leaves; others' owners keep theirs"
    )
    func single() throws {
        let (maps, mail) = (Stage.maps, Stage.key("mail"))
        let foreign = Stage.key("maps", Clerk.bob.owner)
        var stage = Stage()
        for key in [maps, mail, foreign] { try stage.register(key) }
        try stage.launch(foreign)
        try stage.launch(maps)
        try stage.resign(maps)
        _ = stage.take()
        try stage.launch(mail)
        #expect(
            stage.take() == [
                "mail: start", "didEnterBackground", "mail: didFinishLaunching",
                "mail: didBecomeActive",
            ])
        #expect(stage.state(foreign) == .active)
        try stage.activate(maps)
        #expect([maps, mail].map { stage.state($0) } == [.active, .background])
    }

    @Test("multiple: all stay in front")
    func multiple() throws {
        let keys = ["a", "b", "c"].map { Stage.key($0) }
        var stage = Stage { $0.isForegroundSingle = false }
        for key in keys {
            try stage.register(key)
            try stage.launch(key)
        }
        stage.pass(.seconds(1000))
        #expect(keys.allSatisfy { stage.state($0) == .active })
        #expect(stage.clerk.registry.runningApplicationCount == 3)
    }

    @Test("an application is told of what it handles alone, and its states change all the same")
    func handles() throws {
        var stage = Stage()
        try stage.register { $0.handles = Callbacks([.didEnterBackground, .willTerminate]) }
        try stage.play([.launch, .begin("a"), .home, .pass(175), .end("a"), .pass(0), .activate])
        #expect(
            stage.take() == [
                "start", "(inactive)", "(active)", "(inactive)", "didEnterBackground", "freeze",
                "(suspended)", "thaw", "(inactive)", "(active)",
            ])
        try stage.register { $0.handles = Callbacks([]) }
        try stage.terminate()
        #expect(stage.take() == ["SIGTERM"])
    }

    @Test("each change of the badge is one event, in every state; the same number is none")
    func badge() throws {
        var stage = Stage()
        try stage.register()
        func set(_ badge: Int) throws -> Bool {
            let number = stage.nextCall()
            return try stage.call { registry, _, actions in
                try registry.setBadge(Stage.maps, badge, number: number, &actions)
            }
        }
        #expect(try set(3))
        #expect(stage.replies[stage.callLast] == [nil])
        #expect(try !set(3))
        #expect(throws: Refusal.invalidParameter("badge")) { try set(-1) }
        try stage.play([.launch, .home, .pass(9)])
        try stage.push(PushMessage(kind: .alert), badge: 7)
        try stage.push(PushMessage(kind: .silent), badge: 7)
        try stage.play([.delivered, .terminate])
        #expect(
            stage.take().filter { $0.contains("badge") } == ["badgeChanged 3", "badgeChanged 7"])
        #expect(stage.application()?.record.badge == 7)
        try stage.register { $0.handles = Callbacks([]) }
        #expect(try set(0))
        #expect(stage.take().suffix(1) == ["badge 0"])
    }

    @Test("what a crash took with it is named in the record: what it held up to a second before")
    func crashRecord() throws {
        var stage = Stage()
        try stage.register()
        try stage.play([.launch, .begin("old"), .home, .pass(2)])
        let old = stage.tasks["old"] ?? .invalid
        stage.call { $0.holderGone(HolderID(rawValue: 1), reason: .processExited, at: $1, &$2) }
        #expect(stage.clerk.task(old)?.outcome == .abandoned)
        stage.held = [.freeze]
        stage.pass(.seconds(2))
        try stage.begin("new")
        stage.call { $0.holderGone(HolderID(rawValue: 1), reason: .processExited, at: $1, &$2) }
        try stage.play([.pass(1), .crash])
        #expect(stage.last()?.held.map(\.name) == ["new"])
        #expect(stage.last()?.exit == .signal(SignalNumber(rawValue: 11)))
        #expect(stage.last()?.background == .seconds(5))
    }

    @Test("a daemon that stops ends what it launched, and lets what it adopted go on thawed")
    func drain() throws {
        var stage = Stage { $0.isForegroundSingle = false }
        let keys = ["front", "asleep", "adopted", "frozen"].map { Stage.key($0) }
        for key in keys[..<2] {
            try stage.register(key)
            try stage.launch(key)
        }
        for key in keys[2...] { try stage.adopt(key) }
        for key in [keys[1], keys[3]] { try stage.home(key) }
        stage.pass(.seconds(9))
        _ = stage.take()
        stage.held = [.thaw]
        try stage.play([.drain])
        #expect(
            stage.take() == [
                "adopted: release", "asleep: kill", "front: willTerminate", "front: SIGTERM",
                "frozen: thaw", "adopted: (notRunning)", "asleep: (notRunning)",
            ])
        let thaw = stage.thaws[keys[3]] ?? 0
        stage.call { $0.applicationThawed(keys[3], thaw, at: $1, &$2) }
        #expect(stage.take() == ["frozen: release", "frozen: (notRunning)"])
        #expect(
            throws: Refusal.notAccepting("the daemon is stopping; try again when it is up again")
        ) {
            try stage.activate(keys[1])
        }
        try stage.play([.endGrace])
        #expect(stage.take() == ["front: kill", "front: (notRunning)"])
        #expect(stage.clerk.registry.runningApplicationCount == 0)
        #expect(keys.allSatisfy { stage.last($0)?.reason == .interrupted })
    }
}
