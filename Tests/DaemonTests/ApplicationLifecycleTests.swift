import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("The lifecycle of applications (rules 14, 18 to 21)")
struct ApplicationLifecycleTests {
    private static let quick = "applications.suspendAfter = \"50ms\"\n"
    private static let slow = "applications.suspendAfter = \"1h\"\n"
    private static let launched = ["didFinishLaunching inactive", "didBecomeActive active"]
    private static let left = ["willResignActive inactive", "didEnterBackground background"]
    private static let back = ["willEnterForeground inactive", "didBecomeActive active"]

    @Test(
        "launch, home, suspended and back tell their callbacks in order, with the time away",
        arguments: ContainmentMode.available)
    func thereAndBack(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.quick)
        let client = try daemon.connect()
        let registered = try client.register("app", ["sleep", "1000"])
        #expect(registered.state == .notRunning)
        #expect(registered.pids == [] && registered.freezer == nil)
        let watch = try ApplicationWatch("app", daemon)
        #expect(watch.present.step == "notRunning")

        let launched = try client.order(Applications.Launch.self, "app")
        #expect(launched.state == .active)
        #expect(launched.freezer == (mode == .cgroup ? .cgroup : .signals))
        #expect(!launched.pids.isEmpty && !launched.frozen)
        #expect(try watch.steps(until: "didBecomeActive active") == Self.launched)

        let clock = ContinuousClock()
        let beforeLeaving = clock.now
        let left = try client.order(Applications.EnterBackground.self, "app")
        #expect([.background, .suspended].contains(left.state))
        let leaving = try watch.events { $0.state == .background }
        let afterLeaving = clock.now
        #expect(leaving.map(\.step) == Self.left)
        #expect(leaving.last?.remainingMs == 180_000)
        #expect(try watch.next().step == "suspended")
        let suspended = try client.application("app")
        #expect(suspended.state == .suspended && suspended.frozen)
        #expect(suspended.pids == launched.pids)

        let beforeReturn = clock.now
        let active = try client.order(Applications.Activate.self, "app")
        let afterReturn = clock.now
        #expect(active.state == .active && !active.frozen && active.pids == launched.pids)
        let returning = try watch.events { $0.state == .active }
        #expect(returning.map(\.step) == Self.back)
        let away = Duration.milliseconds(try #require(returning.first?.backgroundMs))
        #expect(away + .milliseconds(1) >= beforeReturn - afterLeaving)
        #expect(away <= afterReturn - beforeLeaving)
        #expect(returning.last?.number == 8)
    }

    @Test(
        "an interruption is told by two callbacks alone, and no time is spent",
        arguments: ContainmentMode.available)
    func interruption(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.slow)
        let client = try daemon.connect()
        try client.launch("app")
        let watch = try ApplicationWatch("app", daemon)
        #expect(watch.present.step == "active")
        let covered = try client.order(Applications.Resign.self, "app")
        #expect(covered.state == .inactive)
        #expect(covered.remainingMs == nil && covered.backgroundMs == nil)
        #expect(try client.order(Applications.Resign.self, "app").state == .inactive)
        #expect(try client.order(Applications.Activate.self, "app").state == .active)
        #expect(try client.order(Applications.Activate.self, "app").state == .active)
        #expect(
            try watch.stepsUntilNow() == ["willResignActive inactive", "didBecomeActive active"])

        try client.order(Applications.Resign.self, "app")
        let left = try client.order(Applications.EnterBackground.self, "app")
        #expect(left.state == .background && left.remainingMs != nil)
        #expect(try watch.stepsUntilNow() == Self.left)
        let refusal = try client.refusal(of: Applications.Resign.self) { $0.id = "app" }
        #expect(refusal == .wrongState("app", .background))
    }

    @Test(
        "who exits on suspend is told so, and is never suspended",
        arguments: ContainmentMode.available)
    func exitsOnSuspend(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.slow)
        let client = try daemon.connect()
        try client.launch("app") { $0.exitsOnSuspend = true }
        let watch = try ApplicationWatch("app", daemon)
        try client.order(Applications.EnterBackground.self, "app")
        #expect(
            try watch.steps(until: "notRunning") == Self.left + [
                "willTerminate background", "notRunning",
            ])
        let last = try #require(try client.application("app").lastTermination)
        #expect(last.reason == .exitsOnSuspend)
        #expect(last.signal == "SIGTERM")
        #expect(last.backgroundMs != nil)
    }

    @Test(
        "memory pressure kills suspended applications without a word, the least recently used first",
        arguments: ContainmentMode.available)
    func memoryPressure(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.quick)
        let client = try daemon.connect()
        for id in ["a", "b", "c"] {
            try client.launch(id, script: "trap '' TERM; while :; do sleep 1000; done")
            try client.suspend(id)
        }
        try client.order(Applications.Activate.self, "a")
        try client.suspend("a")
        try client.launch("front")
        let watch = try ApplicationWatch("b", daemon)
        let first = try client.ask(Applications.SimulateMemoryPressure.self).terminated
        #expect(first == ["b"])
        let end = try watch.next()
        #expect(end.step == "notRunning")
        #expect(end.reason == "memory was short")
        let rest = try client.ask(Applications.SimulateMemoryPressure.self) { $0.count = 9 }
        #expect(rest.terminated == ["c", "a"])
        for id in ["a", "b", "c"] {
            let last = try client.waitForState(.notRunning, of: id).lastTermination
            #expect(last?.reason == .memoryPressure)
            #expect(last?.signal == "SIGKILL")
        }
        #expect(try client.application("front").state == .active)
        #expect(try client.ask(Applications.SimulateMemoryPressure.self).terminated == [])
        let none = try client.refusal(of: Applications.SimulateMemoryPressure.self) {
            $0.count = 0
        }
        #expect(none.refuses("count"))

        try client.order(Applications.Launch.self, "b")
        #expect(try watch.steps(until: "didBecomeActive active") == Self.launched)
    }

    @Test("who may not come to the front beside another sends it away, where one is in front")
    func single() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.slow)
        let client = try daemon.connect()
        try client.launch("first")
        let watch = try ApplicationWatch("first", daemon)
        try client.launch("second")
        #expect(try client.application("first").state == .background)
        #expect(try watch.stepsUntilNow() == Self.left)
        try client.order(Applications.Activate.self, "first")
        #expect(try client.application("second").state == .background)
        // An interrupted one is still in front.
        try client.order(Applications.Resign.self, "first")
        try client.order(Applications.Activate.self, "second")
        #expect(try client.application("first").state == .background)

        try daemon.rewrite(settings: Self.slow + "applications.foreground = \"multiple\"\n")
        try client.ask(Manager.Reload.self)
        try client.order(Applications.Activate.self, "first")
        #expect(try client.application("first").state == .active)
        #expect(try client.application("second").state == .active)
    }

    @Test("an application is told of what it handles alone; its state is told all the same")
    func handles() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.slow)
        let client = try daemon.connect()
        try client.register("app") { $0.handles = [.didBecomeActive, .didEnterBackground] }
        let watch = try ApplicationWatch("app", daemon)
        try client.order(Applications.Launch.self, "app")
        try client.order(Applications.EnterBackground.self, "app")
        try client.order(Applications.Activate.self, "app")
        try client.order(Applications.Terminate.self, "app")
        #expect(
            try watch.steps(until: "notRunning") == [
                "inactive", "didBecomeActive active", "inactive", "didEnterBackground background",
                "inactive", "didBecomeActive active", "notRunning",
            ])
    }

    @Test("what runs is not launched again, and what has no command is not started")
    func launchRefused() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        try client.launch("app")
        let twice = try client.refusal(of: Applications.Launch.self) { $0.id = "app" }
        #expect(twice == .wrongState("app", .active))
        try client.register("bare", nil)
        for name in [Applications.Launch.name, Applications.Activate.name] {
            let refusal = try client.refusal(of: Applications.Launch.self) { $0.id = "bare" }
            #expect(refusal.name == Applications.NotRegistered.name, "\(name)")
        }
        try client.register("gone", ["/no/such/program"])
        let refusal = try client.refusal(of: Applications.Launch.self) { $0.id = "gone" }
        #expect(refusal.name == Applications.CannotStart.name)
        #expect(try refusal.decode(Applications.CannotStart.self).reason.contains("/no/such"))
        #expect(try client.application("gone").state == .notRunning)
    }
}
