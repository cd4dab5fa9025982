import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 20: memory pressure")
struct MemoryPressureTests {
    /// Applications of one owner or more, suspended in an order other than that of their names.
    private func stage(_ keys: [ApplicationKey]) throws -> Stage {
        var stage = Stage { $0.isForegroundSingle = false }
        for key in keys {
            try stage.register(key)
            try stage.launch(key)
            stage.pass(.seconds(1))
        }
        for key in keys {
            try stage.home(key)
            stage.pass(.seconds(10))
        }
        return stage
    }

    private func press(_ stage: inout Stage, on owner: OwnerID? = nil, _ count: Int) -> [String] {
        stage.call { $0.memoryPressure(on: owner, count: count, at: $1, &$2) }.map(\.id)
    }

    @Test("the least recently used goes first; a message is no use of it, a visit is")
    func order() throws {
        var stage = try stage(["d", "a", "c", "b"].map { Stage.key($0) })
        try stage.activate(Stage.key("d"))
        try stage.home(Stage.key("d"))
        stage.pass(.seconds(10))
        try stage.push(PushMessage(kind: .silent), to: Stage.key("a"))
        try stage.delivered(Stage.key("a"))
        stage.pass(.seconds(10))
        #expect(stage.clerk.registry.suspendedApplicationCount == 4)
        #expect(press(&stage, 1) == ["a"])
        #expect(press(&stage, 0) == [])
        #expect(press(&stage, -1) == [])
        #expect(press(&stage, 2) == ["c", "b"])
        #expect(press(&stage, 9) == ["d"])
        #expect(press(&stage, 9) == [])
        #expect(stage.clerk.registry.suspendedApplicationCount == 0)
        #expect(stage.clerk.registry.counts.memoryPressureKills == 4)
        #expect(stage.last(Stage.key("a"))?.reason == .memoryPressure)
        #expect(stage.last(Stage.key("a"))?.held == [])
    }

    @Test("never one in front, and never one that is not suspended")
    func onlySuspended() throws {
        var stage = try stage(["a", "b", "c", "d"].map { Stage.key($0) })
        try stage.activate(Stage.key("a"))
        try stage.activate(Stage.key("b"))
        try stage.resign(Stage.key("b"))
        try stage.activate(Stage.key("c"))
        try stage.home(Stage.key("c"))
        #expect(press(&stage, 9) == ["d"])
        #expect(
            ["a", "b", "c"].map { stage.state(Stage.key($0)) } == [
                .active, .inactive, .background,
            ])
    }

    @Test("who is awake is told, in front and in the background; who does not handle it is not")
    func warning() throws {
        var stage = Stage()
        try stage.register()
        try stage.launch()
        _ = stage.take()
        #expect(press(&stage, 1) == [])
        #expect(stage.take() == ["didReceiveMemoryWarning"])
        try stage.home()
        _ = stage.take()
        #expect(press(&stage, 1) == [])
        #expect(stage.take() == ["didReceiveMemoryWarning"])
        let waits = try stage.call { registry, _, actions throws(Refusal) in
            try registry.setHandles(Stage.maps, [], number: 7, &actions)
        }
        #expect(waits)
        #expect(press(&stage, 1) == [])
        #expect(stage.take() == [])
    }

    @Test("one that is already being killed is not counted again")
    func notTwice() throws {
        var stage = try stage(["a", "b"].map { Stage.key($0) })
        stage.held = [.kill]
        #expect(press(&stage, 1) == ["a"])
        #expect(press(&stage, 1) == ["b"])
        #expect(press(&stage, 1) == [])
    }

    @Test("of one owner alone, or of everybody by their use and not by their owner")
    func owners() throws {
        let bob = Clerk.bob.owner
        var stage = try stage([
            Stage.key("x", bob), Stage.key("a"), Stage.key("y", bob), Stage.key("b"),
        ])
        #expect(press(&stage, on: Clerk.ann.owner, 1) == ["a"])
        #expect(press(&stage, 3) == ["x", "y", "b"])
    }

    @Test("the kill makes no callback, and the next launch is cold and can ask why")
    func coldLaunch() throws {
        var stage = try stage([Stage.maps])
        _ = stage.take()
        #expect(press(&stage, 1) == ["maps"])
        #expect(stage.take() == ["kill", "(notRunning)"])
        #expect(stage.last()?.reason == .memoryPressure)
        #expect(stage.last()?.background == .seconds(10))
        try stage.activate()
        #expect(stage.take() == ["start", "didFinishLaunching", "didBecomeActive"])
        #expect(stage.last()?.reason == .memoryPressure)
    }
}
