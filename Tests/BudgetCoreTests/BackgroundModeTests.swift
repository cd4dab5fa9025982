import BudgetCore
import Testing

@Suite(
    "docs/architecture.md, rules 8 and 21: background modes, exits on suspend, and what is not enforced"
)
struct BackgroundModeTests {
    @Test("rule 8: a background mode lets tasks go without a limit, and nothing ends it")
    func unlimited() throws {
        var stage = try BackgroundTimeTests.stage { $0.hasBackgroundMode = true }
        try stage.begin("play", profile: "unlimited")
        try stage.play([.home, .cut, .pass(100_000)])
        #expect(stage.take() == [])
        #expect(stage.application()?.remaining(at: stage.clerk.now) == nil)
        let id = stage.tasks["play"] ?? .invalid
        #expect(stage.clerk.remaining(id) == .unlimited)
        var other = try BackgroundTimeTests.stage()
        other.clerk.registry.limits.mayRunUnlimited = []
        #expect(throws: Refusal.permissionDenied(.backgroundMode)) {
            try other.register(Stage.key("b")) { $0.hasBackgroundMode = true }
        }
        #expect(throws: Refusal.permissionDenied(.unlimitedTask)) {
            try other.begin("a", profile: "unlimited")
        }
        #expect(throws: Refusal.permissionDenied(.unlimitedTask)) {
            try other.register(Stage.key("b")) { $0.profile = "unlimited" }
        }
        #expect(throws: Refusal.noSuchProfile("none")) {
            try other.register(Stage.key("b")) { $0.profile = "none" }
        }
    }

    @Test("rule 8: a mode from when its owner might have one is ignored, and explain says so")
    func ignored() throws {
        var stage = try BackgroundTimeTests.stage { $0.hasBackgroundMode = true }
        stage.clerk.registry.limits.mayRunUnlimited = []
        try stage.play([.home, .cut, .pass(5)])
        #expect(stage.take() == ["freeze", "(suspended)"])
        let found = try stage.clerk.registry.explain(Stage.maps, at: stage.clerk.now)
        #expect(found.map(\.rule) == ["suspended", "unlimitedUsers"])
        #expect(throws: Refusal.permissionDenied(.unlimitedTask)) {
            try stage.begin("play", profile: "unlimited")
        }
    }

    @Test("a mode that is switched off gives a whole background time, and the buffer")
    func switchedOff() throws {
        var stage = try BackgroundTimeTests.stage { $0.hasBackgroundMode = true }
        try stage.play([.home, .pass(1000), .cut, .register, .pass(4)])
        #expect(stage.take() == [])
        #expect(stage.application()?.remaining(at: stage.clerk.now) == .seconds(176))
        stage.pass(.seconds(1))
        #expect(stage.take() == ["freeze", "(suspended)"])
    }

    @Test(
        "rule 22: a mode that is switched on thaws it, or calls the freeze off",
        arguments: [
            [Cue.home, .pass(9)], [.hold(.freeze), .home, .pass(9)],
            [.home, .pass(9), .hold(.thaw), .push(.silent, .none)],
        ])
    func switchedOn(cues: [Cue]) throws {
        var stage = try BackgroundTimeTests.stage()
        try stage.play(cues)
        try stage.register { $0.hasBackgroundMode = true }
        try stage.play([.release, .frozen, .thawed, .delivered, .cut, .pass(1000)])
        #expect(stage.state() == .background)
        #expect(stage.take() == [])
        #expect(stage.application()?.remaining(at: stage.clerk.now) == nil)
    }

    @Test("a mode that the disk does not take is off again, with a whole background time")
    func modeNotStored() throws {
        var stage = try BackgroundTimeTests.stage()
        try stage.play([.home, .pass(2)])
        stage.clerk.disk = .fails
        try stage.register { $0.hasBackgroundMode = true }
        #expect(stage.application()?.registration.hasBackgroundMode == false)
        _ = stage.take()
        stage.pass(.seconds(5))
        #expect(stage.take() == ["freeze", "(suspended)"])
    }

    @Test("rule 21: exits on suspend, at once and in this order")
    func exitsOnSuspend() throws {
        var stage = try BackgroundTimeTests.stage { $0.exitsOnSuspend = true }
        try stage.play([.home, .pass(0), .pass(5)])
        #expect(
            stage.take() == [
                "willResignActive", "didEnterBackground", "willTerminate", "SIGTERM", "kill",
                "(notRunning)",
            ])
        #expect(stage.last()?.reason == .exitsOnSuspend)
    }

    @Test("rule 21: one that exits on suspend ends its tasks first, and is never suspended")
    func exitsAfterTasks() throws {
        var stage = try BackgroundTimeTests.stage { $0.exitsOnSuspend = true }
        try stage.play([.begin("a"), .home, .cut, .pass(60)])
        #expect(stage.take() == [])
        try stage.play([.end("a"), .pass(0)])
        #expect(stage.take() == ["willTerminate", "SIGTERM"])
    }

    @Test("where nothing is enforced it is only said what would be done")
    func notEnforced() throws {
        var stage = try BackgroundTimeTests.stage(rules: { $0.enforces = false })
        stage.showsNotes = true
        try stage.play([.home, .cut, .pass(60)])
        #expect(stage.take() == ["note: wouldSuspend"])
        #expect(stage.state() == .background)
        #expect(stage.clerk.registry.nextDeadline == nil)
        try stage.play([.pressure])
        #expect(stage.take() == ["note: wouldEnd(BudgetCore.TerminationReason.memoryPressure)"])
        try stage.play([.begin("a"), .begin("b"), .pressure, .pass(200)])
        let overrun = "note: wouldEnd(BudgetCore.TerminationReason.backgroundTimeOverrun)"
        #expect(
            stage.take() == [
                "didReceiveMemoryWarning", "backgroundTimeExpiring 5 s", overrun,
                "note: wouldSuspend",
            ])
        #expect(stage.state() == .background)
        try stage.push(PushMessage(kind: .silent))
        stage.pass(.seconds(31))
        let late = "note: wouldEnd(BudgetCore.TerminationReason.messageOverrun)"
        #expect(stage.take().dropFirst() == [late, "note: wouldSuspend"])
    }

    @Test("what would be suspended is suspended once that is enforced")
    func enforcedLater() throws {
        var stage = try BackgroundTimeTests.stage(rules: { $0.enforces = false })
        try stage.play([.home, .pass(60), .cut])
        let isBusy = Stage.key("busy")
        try stage.register(isBusy)
        try stage.activate(isBusy)
        _ = stage.take()
        stage.call { registry, now, _ in
            registry.replaceApplicationRules(ApplicationRules(), at: now)
        }
        stage.pass(.zero)
        #expect(stage.take() == ["freeze", "(suspended)"])
        #expect(stage.state(isBusy) == .active)
    }
}
