import JSON
import TaskAPI
import TestKit
import Testing

/// A program for iOS that the daemon launches, brings to the front and sends away.
@Suite("BackgroundTasksKit in an application", .timeLimit(.minutes(15)))
struct ApplicationKitTests {
    private func launch(_ scenario: String, settings: String = "") throws -> LaunchedExample {
        try LaunchedExample(
            "check", Programs.path("background-tasks-check"), "auto", settings: settings
        ) { [scenario, $0 + "/lines"] }
    }

    @Test("callbacks and notifications come in their order, each in its state")
    func lifecycle() throws {
        let program = try launch("lifecycle")
        let becomesActive = [
            "didBecomeActive active", "posted UIApplicationDidBecomeActiveNotification",
        ]
        let resigns = [
            "willResignActive active", "posted UIApplicationWillResignActiveNotification",
        ]
        #expect(
            try program.lines.next(5) == [
                "willFinishLaunching inactive", "didFinishLaunching inactive",
                "posted UIApplicationDidFinishLaunchingNotification",
            ] + becomesActive)
        try program.order(Applications.EnterBackground.self)
        #expect(
            try program.lines.next(4) == resigns + [
                "didEnterBackground background",
                "posted UIApplicationDidEnterBackgroundNotification",
            ])
        try program.suspend()
        try program.order(Applications.Activate.self)
        #expect(
            try program.lines.next(4) == [
                "willEnterForeground background",
                "posted UIApplicationWillEnterForegroundNotification",
            ] + becomesActive)
        try program.order(Applications.Resign.self)
        #expect(try program.lines.next(2) == resigns)
        try program.order(Applications.Activate.self)
        #expect(try program.lines.next(2) == becomesActive)
        try program.order(Applications.Terminate.self)
        #expect(
            try program.lines.next(2) == [
                "willTerminate active", "posted UIApplicationWillTerminateNotification",
            ])
        #expect(try program.present.lastTermination?.status == 0)
    }

    @Test("a task keeps it awake until its handler ends it")
    func holds() throws {
        let program = try launch("holds")
        try program.order(Applications.EnterBackground.self)
        #expect(try program.lines.next() == "holds true, true")
        #expect(try program.present.tasks == 1)
        try program.simulateExpiration(of: "save")
        #expect(try program.lines.next() == "expiring, background")
        try program.waitForSuspension()
        #expect(try program.outcomes(of: "save") == [.expired])
    }

    @Test("a callback that ends a task and begins the next one is not interrupted")
    func chains() throws {
        let program = try launch("chains")
        try program.order(Applications.EnterBackground.self)
        #expect(try program.lines.next() == "holds true")
        try program.waitForEnd(of: "first")
        #expect(try program.outcomes(of: "first") == [.completed])
        #expect(try program.present.tasks == 1)
        #expect(try program.present.state == .background)
        // What willTerminate ends has ended before the program.
        try program.order(Applications.Terminate.self)
        #expect(try program.lines.next() == "willTerminate background")
        #expect(try program.outcomes(of: "second") == [.completed])
    }

    @Test("who still holds a task at the limit is terminated")
    func overruns() throws {
        let program = try launch(
            "overruns", settings: "backgroundTime = \"3s\"\ngrace = \"2900ms\"")
        #expect(try program.lines.next() == "holds true")
        try program.order(Applications.EnterBackground.self)
        #expect(try program.lines.next() == "expiring")
        try program.wait { $0.state == .notRunning && $0.previous == .background }
        let termination = try program.present.lastTermination
        #expect(termination?.reason == .backgroundTimeOverrun)
        #expect(termination?.held.map(\.name) == ["save"])
    }

    @Test("a scheduled task wakes it, is done by itself, and does not bring it to the front")
    func wakes() throws {
        let program = try launch("wakes")
        #expect(try program.lines.next() == "submitted")
        try program.order(Applications.EnterBackground.self)
        try program.suspend()
        try program.simulateLaunch(of: "refresh")
        #expect(
            try program.lines.next(3) == ["refreshes, background", "submitted", "a limit"])
        #expect(try program.present.state == .background)
        try program.simulateExpiration(of: "refresh")
        #expect(try program.lines.next(2) == ["expiring", "behind its completion"])
        try program.waitForOutcome(.expired, of: "refresh")

        // It is started in the background where it has ended.
        try program.order(Applications.Terminate.self)
        #expect(try program.lines.next() == "willTerminate background")
        try program.simulateLaunch(of: "refresh")
        #expect(
            try program.lines.next(3) == ["refreshes, background", "submitted", "a limit"])
        #expect(try program.present.state == .background)
    }

    @Test("it hears that memory is short")
    func memory() throws {
        let program = try launch("memory")
        #expect(try program.simulateMemoryPressure() == [])
        #expect(
            try program.lines.next(2) == [
                "memory warning", "posted UIApplicationDidReceiveMemoryWarningNotification",
            ])
    }

    @Test("messages reach the delegates, and it is suspended when it is done with one")
    func messages() throws {
        let program = try launch("messages")
        let alert = JSONValue.object([
            (
                key: "aps",
                value: .object([
                    (
                        key: "alert",
                        value: .object([
                            (key: "title", value: .string("Hello")),
                            (key: "body", value: .string("from afar")),
                        ])
                    )
                ])
            )
        ])
        #expect(try program.push(.alert, payload: alert).receipt == .delivered)
        #expect(try program.lines.next() == "presents Hello")

        try program.order(Applications.EnterBackground.self)
        try program.suspend()
        #expect(try program.push(.silent, message: "one").receipt == .delivered)
        #expect(try program.lines.next(2) == ["fetches one", "badge 1"])
        try program.waitForSuspension()
        #expect(try program.present.badge == 1)

        #expect(try program.push(.alert, .tapped, payload: alert).receipt == .delivered)
        #expect(try program.lines.next() == "opened Hello: from afar")
        try program.wait { $0.callback == .badgeChanged && $0.badge == 0 }
    }
}
