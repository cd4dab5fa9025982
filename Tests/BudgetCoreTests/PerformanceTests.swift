import BudgetCore
import TestKit
import Testing

@Suite("docs/architecture.md, rule 35: tasks that an application does itself")
struct PerformanceTests {
    private func stage(
        _ state: ApplicationState, _ configure: (inout Registration) -> Void = { _ in }
    ) throws -> Stage {
        var stage = Stage()
        try stage.register(Stage.maps, configure)
        guard state != .notRunning else { return stage }
        try stage.launch()
        guard state != .active else { return stage }
        try stage.home()
        if state == .suspended { stage.pass(.seconds(6)) }
        #expect(stage.state() == state)
        _ = stage.take()
        return stage
    }

    private func task(_ id: TaskID, _ stage: Stage) -> BackgroundTask? { stage.clerk.task(id) }

    @Test("one that does not run is started in the background, told, and suspended when it is done")
    func coldStart() throws {
        var stage = try stage(.notRunning)
        _ = stage.take()
        let id = try stage.perform()
        #expect(stage.take() == ["start", "didFinishLaunching", "performTask refresh"])
        #expect(stage.state() == .background)
        #expect(task(id, stage)?.state == .running)
        stage.pass(.seconds(20))
        #expect(stage.take() == [])
        try stage.delivered()
        #expect(task(id, stage)?.outcome == .completed)
        stage.pass(.seconds(4))
        #expect(stage.take() == [])
        stage.pass(.seconds(1))
        #expect(stage.take() == ["freeze", "(suspended)"])
    }

    @Test("a suspended one is thawed for it, and does not come to the front")
    func thawed() throws {
        var stage = try stage(.suspended)
        let id = try stage.perform()
        #expect(stage.take() == ["thaw", "(background)", "performTask refresh"])
        try stage.delivered(isSuccess: false)
        #expect(task(id, stage)?.outcome == .failed)
        stage.pass(.seconds(5))
        #expect(stage.state() == .suspended)
    }

    @Test("one in front is told there, and is not ended where it is not done in time")
    func inFront() throws {
        var stage = try stage(.active)
        _ = stage.take()
        let id = try stage.perform()
        #expect(stage.take() == ["performTask refresh"])
        stage.pass(.seconds(56))
        #expect(stage.take() == ["taskExpiring refresh"])
        stage.pass(.seconds(10))
        #expect(task(id, stage)?.outcome == .overrun)
        #expect(stage.take() == [])
        #expect(stage.state() == .active)
    }

    @Test("who says in the grace that it is done has expired, and goes on")
    func grace() throws {
        var stage = try stage(.suspended)
        let id = try stage.perform()
        stage.pass(.seconds(56))
        #expect(stage.take().last == "taskExpiring refresh")
        try stage.delivered()
        #expect(task(id, stage)?.outcome == .expired)
        stage.pass(.seconds(10))
        #expect(stage.state() == .suspended)
    }

    @Test(
        "who is not done in the background at the limit is ended, and the next launch can ask why")
    func overrun() throws {
        var stage = try stage(.suspended)
        let id = try stage.perform()
        _ = stage.take()
        stage.pass(.seconds(61))
        #expect(stage.take() == ["taskExpiring refresh", "willTerminate", "SIGTERM"])
        #expect(task(id, stage)?.outcome == .overrun)
        stage.pass(.seconds(10))
        #expect(stage.state() == .notRunning)
        #expect(stage.last()?.reason == .taskOverrun)
        #expect(stage.last()?.held.map(\.id) == [id])
    }

    @Test("a cancelled one is told, and has its grace; the application is not ended for it")
    func cancelled() throws {
        var stage = try stage(.suspended)
        let id = try stage.perform()
        _ = stage.take()
        _ = try stage.call { try $0.cancel(id, by: Clerk.ann, text: nil, at: $1, &$2) }
        #expect(stage.take() == ["taskExpiring refresh"])
        stage.pass(.seconds(6))
        #expect(task(id, stage)?.outcome == .cancelled)
        stage.pass(.seconds(6))
        #expect(stage.state() == .suspended)
    }

    @Test("one that goes away without a word has failed in it")
    func lost() throws {
        var stage = try stage(.background)
        let id = try stage.perform()
        stage.call { $0.applicationExited(Stage.maps, .status(0), at: $1, &$2) }
        #expect(task(id, stage)?.outcome == .failed)
        #expect(task(id, stage)?.reason == .recorded("application maps ended before it was done"))
    }

    @Test("one that cannot be started has not done it, and the reason is its own")
    func notStarted() throws {
        var stage = try stage(.notRunning)
        stage.held = [.start]
        let id = try stage.perform()
        #expect(task(id, stage)?.state == .running)
        stage.call { $0.applicationNotStarted(Stage.maps, "no such file", at: $1, &$2) }
        #expect(task(id, stage)?.outcome == .failed)
        #expect(task(id, stage)?.reason == .notStarted("no such file"))
    }

    @Test("several are told in their order, and it is suspended after the last")
    func several() throws {
        var stage = try stage(.suspended)
        _ = try stage.perform("one")
        let two = try stage.perform("two")
        #expect(stage.take() == ["thaw", "(background)", "performTask one", "performTask two"])
        try stage.delivered()
        #expect(task(two, stage)?.outcome == .completed)
        stage.pass(.seconds(20))
        #expect(stage.state() == .background)
    }

    @Test("a visit to the front meanwhile changes nothing of it")
    func visit() throws {
        var stage = try stage(.suspended)
        let id = try stage.perform()
        try stage.activate()
        #expect(stage.state() == .active)
        #expect(task(id, stage)?.state == .running)
        try stage.home()
        stage.pass(.seconds(20))
        #expect(stage.state() == .background)
        try stage.delivered()
        #expect(task(id, stage)?.outcome == .completed)
    }

    @Test("its time is its own: the application has as much as the task")
    func time() throws {
        var stage = try stage(.suspended)
        _ = try stage.perform(seconds: 500)
        stage.pass(.seconds(300))
        #expect(stage.state() == .background)
        #expect(stage.application()?.remaining(at: stage.clerk.now) == .seconds(200))
    }

    @Test("what nobody could do is refused when it is submitted")
    func refused() throws {
        var stage = try stage(.notRunning) { $0.handles = Callbacks([.didBecomeActive]) }
        #expect(
            throws: Refusal.notAccepting("application maps does not handle performTask")
        ) { try stage.perform() }
        #expect(throws: Refusal.noSuchApplication("none")) {
            try stage.perform(by: Stage.key("none"))
        }
        try stage.register(Stage.key("adopted")) { $0.command = nil }
        #expect(throws: Refusal.notRegistered("adopted")) {
            try stage.perform(by: Stage.key("adopted"))
        }
    }

    @Test("one that is being ended does it when it is started again")
    func later() throws {
        var stage = try stage(.background)
        stage.held = [.kill]
        try stage.terminate()
        let id = try stage.perform()
        #expect(stage.take() == ["willTerminate", "SIGTERM"])
        stage.held = []
        stage.call { $0.applicationGone(Stage.maps, at: $1, &$2) }
        #expect(
            stage.take() == [
                "(notRunning)", "start", "didFinishLaunching", "performTask refresh",
            ])
        #expect(task(id, stage)?.state == .running)
        #expect(stage.state() == .background)
    }

    @Test("who begins to listen anew is told again of what is not done, and of nothing else")
    func toldAgain() throws {
        var stage = try stage(.suspended)
        let one = try stage.perform("one")
        _ = try stage.perform("two")
        try stage.delivered()
        stage.pass(.seconds(56))
        let events = stage.clerk.registry.performanceEvents(of: Stage.maps, at: stage.clerk.now)
        #expect(events.map(\.callback) == [.performTask, .taskExpiring])
        #expect(events.allSatisfy { $0.task == one && $0.delivery != nil })
    }

    @Test("who does not handle it any more when it is awake has not done it")
    func handlesNoMore() throws {
        var stage = try stage(.suspended)
        stage.held = [.thaw]
        let id = try stage.perform()
        _ = try stage.call { registry, _, actions throws(Refusal) in
            try registry.setHandles(Stage.maps, [], number: 99, &actions)
        }
        let thaw = try #require(stage.thaws[Stage.maps])
        stage.call { $0.applicationThawed(Stage.maps, thaw, at: $1, &$2) }
        #expect(task(id, stage)?.outcome == .failed)
        #expect(
            task(id, stage)?.reason
                == .notStarted("application maps does not handle performTask"))
    }

    @Test(
        "what time is left is told as it is: after an extension, early, and in a cancelled one's grace"
    )
    func timeLeft() throws {
        var stage = try stage(.suspended)
        let id = try stage.perform()
        func left() -> Duration? { stage.events[Stage.maps]?.last?.remaining }
        #expect(left() == .seconds(60))
        stage.pass(.seconds(50))
        _ = try stage.call { try $0.extend(id, by: Clerk.ann, at: $1, &$2) }
        #expect(stage.application()?.remaining(at: stage.clerk.now) == .seconds(60))
        try stage.call { try $0.simulateExpiration(id, by: Clerk.ann, at: $1, &$2) }
        #expect(left() == .seconds(5))
        let other = try stage.perform()
        _ = try stage.call { try $0.cancel(other, by: Clerk.ann, text: nil, at: $1, &$2) }
        #expect(left() == .seconds(5))
    }

    @Test(
        "an application in the background whose time is over may begin tasks while it performs one")
    func begins() throws {
        var stage = try stage(.background)
        try stage.begin("long")
        stage.pass(.seconds(170))
        try stage.end("long")
        _ = try stage.perform(seconds: 100)
        try stage.begin("inside")
        stage.pass(.seconds(50))
        #expect(stage.state() == .background)
    }

    @Test("it is not suspended before its time behind a task, whatever ends meanwhile")
    func behind() throws {
        var stage = try stage(.suspended)
        _ = try stage.perform()
        try stage.begin("inside")
        try stage.delivered()
        try stage.end("inside")
        stage.pass(.seconds(4))
        #expect(stage.state() == .background)
        stage.pass(.seconds(1))
        #expect(stage.state() == .suspended)
    }

    @Test("a stop of the daemon interrupts it")
    func drained() throws {
        var stage = try stage(.suspended)
        let id = try stage.perform()
        _ = stage.take()
        stage.call { $0.drain(keepsQueue: true, at: $1, &$2) }
        #expect(stage.take() == ["taskExpiring refresh", "willTerminate", "SIGTERM"])
        stage.pass(.seconds(10))
        #expect(task(id, stage)?.outcome == .interrupted)
    }
}

@Suite("Tasks that applications do themselves, by seed")
struct PerformanceSimulationTests {
    @Test("each is told once, ends once, and keeps its application awake", arguments: 0..<8)
    func histories(block: UInt64) {
        let count: UInt64 = Effort.choose(100, 5000)
        for seed in block * count..<(block + 1) * count {
            var simulation = PerformanceSimulation(seed: seed)
            let failure = simulation.run(steps: 80)
            #expect(failure == nil, "seed \(seed)")
            if failure != nil { return }
        }
    }
}
