import TaskAPI
import Testing
import Varlink

@Suite("The background time of applications (rules 13 and 15 to 17)")
struct ApplicationTimeTests {
    private static let settings = """
        applications.suspendAfter = "50ms"
        applications.backgroundTime = "6s"
        applications.grace = "5s"
        """
    private static let long = """
        applications.suspendAfter = "50ms"
        applications.backgroundTime = "150s"
        applications.grace = "10s"
        """

    /// A task of an application, held over a connection of its own.
    private struct Held {
        let client: VarlinkClient
        let id: Int

        init(_ name: String, of application: String, _ daemon: DaemonProcess) throws {
            client = try daemon.connect()
            try client.send(
                Tasks.Begin.self,
                with {
                    $0.name = name
                    $0.application = application
                }, more: true)
            id = try client.receive(Tasks.Begin.self).output.id
        }

        /// The kinds of events that its holder is told of, up to one.
        func told(until last: Tasks.EventKind) throws -> [Tasks.EventKind] {
            var kinds: [Tasks.EventKind] = []
            while kinds.last != last {
                let (output, continues) = try client.receive(Tasks.Begin.self)
                if let event = output.event { kinds.append(event.kind) }
                guard continues else { break }
            }
            return kinds
        }
    }

    @Test(
        "two tasks share the deadline, and who still holds one then is terminated and named",
        arguments: ContainmentMode.available)
    func overrun(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        try client.launch("app")
        let first = try Held("first", of: "app", daemon)
        let second = try Held("second", of: "app", daemon)
        for task in [first, second] {
            #expect(try client.show(task.id).state == .dormant)
            let remaining = try client.ask(Tasks.RemainingTime.self) { $0.id = task.id }.remaining
            #expect(remaining.ms == nil && remaining.hardMs == nil)
        }
        let watch = try ApplicationWatch("app", daemon)
        let left = try client.order(Applications.EnterBackground.self, "app")
        #expect(left.tasks == 2)
        #expect(try #require(left.remainingMs) <= 6000)
        for task in [first, second] {
            #expect(try task.told(until: .expiring).last == .expiring)
        }
        _ = try client.ask(Tasks.End.self) { $0.id = first.id }
        #expect(try client.show(first.id).outcome == .expired)
        #expect(
            try watch.steps(until: "notRunning") == [
                "willResignActive inactive", "didEnterBackground background",
                "backgroundTimeExpiring background", "willTerminate background", "notRunning",
            ])
        let last = try #require(try client.application("app").lastTermination)
        #expect(last.reason == .backgroundTimeOverrun)
        #expect(last.held.map(\.name) == ["second"])
        let named = try #require(last.held.first)
        #expect(named.id == second.id)
        #expect(named.ageMs >= 6000)
        #expect(named.durationMs == 180_000 && named.graceMs == 5000)
        #expect(try #require(last.backgroundMs) >= 6000)
        let ended = try client.ended(second.id)
        #expect(ended.outcome == .overrun || ended.outcome == .interrupted, "\(ended)")
    }

    @Test("a second begin never moves the deadline; the front stops it, and it is whole again")
    func shared() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.long)
        let client = try daemon.connect()
        try client.launch("app")
        let first = try Held("first", of: "app", daemon)
        try client.order(Applications.EnterBackground.self, "app")
        let before = try #require(try client.application("app").remainingMs)
        let second = try Held("second", of: "app", daemon)
        let after = try #require(try client.application("app").remainingMs)
        #expect(after <= before && after > 0)
        #expect(try client.show(second.id).state == .running)
        let left = try [first, second].map { task in
            try client.ask(Tasks.RemainingTime.self) { $0.id = task.id }.remaining
        }
        #expect(left.allSatisfy { $0.bound == .applicationBackgroundTime })
        let deadlines = try left.map { try #require($0.hardMs) }
        #expect(deadlines.allSatisfy { $0 <= after && $0 > 0 } && deadlines[1] <= deadlines[0])

        let front = try client.order(Applications.Activate.self, "app")
        #expect(front.remainingMs == nil && front.tasks == 2)
        for task in [first, second] {
            #expect(try client.show(task.id).state == .dormant)
        }
        let again = try client.order(Applications.EnterBackground.self, "app")
        #expect(try #require(again.remainingMs) > after)
        for task in [first, second] {
            #expect(try client.show(task.id).state == .running)
        }
    }

    @Test(
        "with tasks it is suspended promptly after the last end, and not before",
        arguments: ContainmentMode.available)
    func lastEnd(mode: ContainmentMode) throws {
        // The buffer is so long that nothing but the end can suspend it.
        let daemon = try DaemonProcess(mode, settings: "applications.suspendAfter = \"1h\"\n")
        let client = try daemon.connect()
        try client.launch("app")
        let tasks = try ["first", "second"].map { try Held($0, of: "app", daemon) }
        let watch = try ApplicationWatch("app", daemon)
        try client.order(Applications.EnterBackground.self, "app")
        _ = try client.ask(Tasks.End.self) { $0.id = tasks[0].id }
        #expect(
            try watch.stepsUntilNow() == [
                "willResignActive inactive", "didEnterBackground background",
            ])
        #expect(try client.application("app").state == .background)
        _ = try client.ask(Tasks.End.self) { $0.id = tasks[1].id }
        #expect(try watch.next().step == "suspended")
        #expect(try client.application("app").frozen)
        #expect(try client.show(tasks[1].id).outcome == .completed)
        // Nobody could do what is begun for the frozen.
        let refusal = try client.refusal(of: Tasks.Begin.self) {
            $0.name = "late"
            $0.application = "app"
        }
        #expect(refusal.name == Tasks.TooLittleTime.name)
    }

    @Test("a holder that goes away has ended its tasks: the application is suspended")
    func abandoned() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "applications.suspendAfter = \"1h\"\n")
        let client = try daemon.connect()
        try client.launch("app")
        var task: Held? = try Held("left", of: "app", daemon)
        try client.order(Applications.EnterBackground.self, "app")
        #expect(try client.application("app").tasks == 1)
        let id = try #require(task?.id)
        task = nil
        try client.waitForState(.suspended, of: "app")
        #expect(try client.show(id).outcome == .abandoned)
    }

    @Test("with less time left than the grace, begin is refused and says how much is left")
    func tooLittle() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: """
                applications.backgroundTime = "1000s"
                applications.grace = "999900ms"
                """)
        let client = try daemon.connect()
        try client.launch("app")
        let task = try Held("first", of: "app", daemon)
        try client.order(Applications.EnterBackground.self, "app")
        #expect(try task.told(until: .expiring).last == .expiring)
        let refusal = try client.refusal(of: Tasks.Begin.self) {
            $0.name = "late"
            $0.application = "app"
        }
        #expect(refusal.name == Tasks.TooLittleTime.name)
        let told = try refusal.decode(Tasks.TooLittleTime.self)
        #expect(told.neededMs == 999_900)
        #expect(told.remainingMs <= 999_900 && told.remainingMs > 0)
    }

    @Test("a background mode keeps an application out of all of this")
    func backgroundMode() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: "applications.suspendAfter = \"10ms\"\n")
        let client = try daemon.connect()
        try client.launch("player") { $0.backgroundMode = true }
        try client.launch("other")
        #expect(try client.application("player").state == .background)
        #expect(try client.application("player").remainingMs == nil)
        try client.suspend("other")
        #expect(try client.application("player").state == .background)
        #expect(try client.applicationRules("player") == ["backgroundMode"])
        // It is suspended as others are once the mode is off.
        try client.register("player", ["sleep", "1000"])
        try client.waitForState(.suspended, of: "player")
    }
}
