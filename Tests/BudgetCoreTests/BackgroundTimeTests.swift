import BudgetCore
import Testing

@Suite("docs/architecture.md, rules 13 and 15 to 17: background time")
struct BackgroundTimeTests {
    static func stage(
        _ configure: (inout Registration) -> Void = { _ in },
        rules: (inout ApplicationRules) -> Void = { _ in }
    ) throws -> Stage {
        var stage = Stage(rules)
        try stage.register(Stage.maps, configure)
        try stage.launch()
        _ = stage.take()
        return stage
    }

    /// How long a task has until its handler fires.
    private func untilHandler(_ stage: Stage, _ name: String) -> Duration? {
        stage.clerk.remaining(stage.tasks[name] ?? .invalid)?.untilHandler
    }

    private func task(_ stage: Stage, _ name: String) -> BackgroundTask? {
        stage.clerk.task(stage.tasks[name] ?? .invalid)
    }

    @Test("rule 15: with tasks it is suspended promptly after the last one, not at the deadline")
    func suspendedPromptly() throws {
        var stage = try Self.stage()
        try stage.begin("a")
        try stage.begin("b")
        try stage.play([.home, .cut, .pass(60), .end("a"), .pass(10)])
        #expect(stage.take() == [])
        try stage.play([.end("b"), .pass(0)])
        #expect(stage.take() == ["freeze", "(suspended)"])
        #expect(task(stage, "a")?.outcome == .completed)
        #expect(stage.clerk.registry.nextDeadline == nil)
    }

    @Test("rule 15: a task begun and ended within the buffer ends the buffer")
    func taskInBuffer() throws {
        var stage = try Self.stage()
        try stage.play([.home, .cut, .pass(1), .begin("a"), .pass(60), .end("a"), .pass(0)])
        #expect(stage.take() == ["freeze", "(suspended)"])
    }

    @Test("rule 15: a queued command that is withdrawn does not end the buffer")
    func withdrawnInBuffer() throws {
        var stage = try Self.stage()
        var submission = Clerk.submission { $0.earliestBegin = .seconds(600) }
        submission.application = "maps"
        let id = try stage.clerk.submit(submission)
        try stage.play([.home, .cut, .pass(1)])
        try stage.clerk.cancel(id)
        stage.pass(.seconds(3))
        #expect(stage.take() == [])
        stage.pass(.seconds(1))
        #expect(stage.take() == ["freeze", "(suspended)"])
    }

    @Test("rule 16: two tasks see one deadline, which a second begin does not move")
    func sharedDeadline() throws {
        var stage = try Self.stage()
        try stage.play([.begin("a"), .home, .pass(50), .begin("b")])
        #expect(untilHandler(stage, "a") == .seconds(125))
        #expect(untilHandler(stage, "b") == .seconds(125))
        #expect(stage.application()?.remaining(at: stage.clerk.now) == .seconds(130))
        stage.pass(.seconds(100))
        try stage.begin("c")
        #expect(untilHandler(stage, "a") == .seconds(25))
        #expect(untilHandler(stage, "c") == .seconds(25))
    }

    @Test(
        "rule 16: in front nothing is spent; coming back stops the countdown, and no handler fires")
    func frontStopsCountdown() throws {
        var stage = try Self.stage()
        try stage.play([.begin("a"), .home, .pass(174), .activate, .cut, .pass(1000)])
        #expect(task(stage, "a")?.state == .dormant)
        #expect(stage.take() == [])
        #expect(stage.application()?.remaining(at: stage.clerk.now) == nil)
        // Whole again at the next entry.
        try stage.play([.home, .cut, .pass(174)])
        #expect(stage.take() == [])
        stage.pass(.seconds(1))
        #expect(stage.take() == ["backgroundTimeExpiring 5 s"])
    }

    @Test(
        "rule 16: a handler that has fired is taken back in front, and fires at the next end of time"
    )
    func expiringBecomesDormant() throws {
        var stage = try Self.stage()
        try stage.play([.begin("a"), .home, .pass(177), .activate])
        #expect(task(stage, "a")?.state == .dormant)
        try stage.play([.home, .cut, .pass(175)])
        #expect(stage.take() == ["backgroundTimeExpiring 5 s"])
        #expect(stage.clerk.count(.handlerFired, stage.tasks["a"] ?? .invalid) == 2)
    }

    @Test(
        "rule 17: the handlers fire together; who still holds a task is terminated, and it is named"
    )
    func overrun() throws {
        for profile in ["default", "extended"] {
            var stage = try Self.stage()
            try stage.begin("front", profile: profile)
            stage.pass(.seconds(7))
            try stage.play([.home, .pass(100)])
            try stage.begin("late", profile: "extended")
            try stage.begin("good", profile: "extended")
            try stage.play([.cut, .pass(74), .pass(1)])
            #expect(stage.take() == ["backgroundTimeExpiring 5 s"], "\(profile)")
            for name in ["front", "late", "good"] {
                #expect(task(stage, name)?.state == .expiring, "\(name)")
                #expect(task(stage, name)?.reason == .applicationTimeSpent, "\(name)")
            }
            try stage.end("good")
            #expect(task(stage, "good")?.outcome == .expired)
            stage.pass(.seconds(5))
            #expect(stage.take() == ["willTerminate", "SIGTERM"], "\(profile)")
            stage.pass(.seconds(5))
            #expect(stage.take() == ["kill", "(notRunning)"], "\(profile)")
            let last = stage.last()
            #expect(last?.reason == .backgroundTimeOverrun)
            #expect(last?.held.map(\.name) == ["front", "late"])
            #expect(last?.held.map(\.age) == [.seconds(187), .seconds(80)])
            #expect(last?.held.last?.duration == .seconds(600))
            #expect(last?.held.last?.grace == .seconds(6))
            #expect(last?.background == .seconds(180))
            #expect(task(stage, "late")?.outcome == .overrun)
        }
    }

    @Test("rule 17: one budget shorter than the background time ends its task alone")
    func ownBudget() throws {
        var stage = try Self.stage()
        try stage.begin("short", profile: "short")
        try stage.play([.begin("long"), .home, .cut, .pass(60)])
        #expect(task(stage, "short")?.outcome == .overrun)
        #expect(stage.take() == [])
        #expect(stage.state() == .background)
        stage.pass(.seconds(115))
        #expect(stage.take() == ["backgroundTimeExpiring 5 s"])
    }

    @Test("rule 17: which limit ends it does not depend on which of the two handlers is earlier")
    func mixedGraces() throws {
        let budgets: [(duration: Int, grace: Int, isTerminated: Bool)] = [
            (190, 20, true), (180, 5, true), (180, 1, true), (179, 1, false), (179, 30, false),
        ]
        for (duration, grace, isTerminated) in budgets {
            var stage = try Self.stage()
            var request = BeginRequest(
                name: "a", owner: Clerk.ann.owner, holder: HolderID(rawValue: 1))
            request.application = "maps"
            request.budget = RequestedBudget(seconds: duration, grace: grace)
            _ = try stage.call { try $0.begin(request, at: $1, &$2) }
            try stage.play([.home, .pass(179), .pass(1), .pass(5)])
            let reason: TerminationReason? = isTerminated ? .backgroundTimeOverrun : nil
            #expect(stage.last()?.reason == reason, "\(duration) s, \(grace) s")
            #expect(stage.state() == (isTerminated ? .notRunning : .suspended))
        }
    }

    @Test("rule 17: the profile says otherwise, 594 and 600 s")
    func profile() throws {
        var stage = try Self.stage { $0.profile = "extended" }
        try stage.play([.begin("a"), .home, .cut, .pass(593)])
        #expect(stage.take() == [])
        stage.pass(.seconds(1))
        #expect(stage.take() == ["backgroundTimeExpiring 6 s"])
        stage.pass(.seconds(6))
        #expect(stage.take() == ["willTerminate", "SIGTERM"])
        stage.pass(.seconds(6) - .nanoseconds(1))
        #expect(stage.take() == [])
        stage.pass(.nanoseconds(1))
        #expect(stage.take() == ["kill", "(notRunning)"])
    }

    @Test("rule 13: with less left than the grace no task begins, nor while it is suspended")
    func tooLittleTime() throws {
        var stage = try Self.stage()
        try stage.play([.begin("a"), .home, .pass(176)])
        let little = Refusal.tooLittleTime(remaining: .seconds(4), needed: .seconds(5))
        #expect(throws: little) { try stage.begin("b") }
        try stage.play([.end("a"), .pass(0)])
        #expect(stage.state() == .suspended)
        let none = Refusal.tooLittleTime(remaining: .zero, needed: .seconds(5))
        #expect(throws: none) { try stage.begin("b") }
        try stage.activate()
        try stage.begin("b")
        #expect(task(stage, "b")?.state == .dormant)
    }

    @Test("rule 19: a task begun while it is being frozen calls the freeze off")
    func beginWhileFreezing() throws {
        var stage = try Self.stage()
        try stage.play([.hold(.freeze), .home, .pass(5), .cut, .begin("a"), .frozen, .pass(60)])
        #expect(stage.take() == ["thaw"])
        #expect(stage.state() == .background)
        #expect(untilHandler(stage, "a") == .seconds(110))
        try stage.play([.release, .end("a"), .pass(0)])
        #expect(stage.take() == ["freeze", "(suspended)"])
    }

    @Test(
        "rule 15: a task that ends before the thaw is answered leaves it to be suspended promptly")
    func endWhileThawing() throws {
        var stage = try Self.stage()
        try stage.play([
            .hold(.freeze), .hold(.thaw), .home, .pass(5), .cut, .begin("a"), .end("a"), .pass(0),
            .release, .thawed, .pass(0),
        ])
        #expect(stage.take() == ["thaw", "freeze", "(suspended)"])
    }
}
