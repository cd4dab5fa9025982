import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("What of applications outlives the daemon, and what does not")
struct ApplicationDurabilityTests {
    private static let settings = """
        applications.suspendAfter = "20ms"
        applications.foreground = "multiple"
        """

    @Test(
        "registration, badge and how the last run ended are there after a stop and after a crash",
        arguments: ContainmentMode.available, [false, true])
    func restart(mode: ContainmentMode, crashes: Bool) throws {
        let first = try DaemonProcess(mode, settings: Self.settings)
        try fill(first)
        let daemon = try first.successor(Self.settings, crashes: crashes)
        let client = try daemon.connect()
        let all = try client.ask(Applications.List.self).applications
        #expect(all.map(\.id) == ["ended", "front", "frozen", "never"])
        #expect(all.allSatisfy { $0.state == .notRunning && $0.pids == [] && !$0.frozen })
        #expect(all.map(\.badge) == [7, 0, 0, 0])
        #expect(all[0].lastTermination?.reason == .exited)
        #expect(all[0].lastTermination?.status == 5)
        for application in all[1...2] {
            #expect(application.lastTermination?.reason == .interrupted, "\(application)")
        }
        #expect(all[3].lastTermination == nil)
        let never = try client.application("never")
        #expect(never.handles == [.didBecomeActive, .badgeChanged])
        #expect(never.command == ["sleep", "1000"] && never.profile == nil)
        for id in ["front", "frozen"] {
            #expect(daemon.applicationProcesses(id) == [], "\(id)")
        }
        #expect(try client.applicationRules("front") == ["notRunning", "lastTermination"])
        // What was registered is launched as before.
        #expect(try client.order(Applications.Launch.self, "frozen").state == .active)
        try client.suspend("frozen")
    }

    /// Leaves one that has ended, one that never ran, one in front and one that is frozen.
    private func fill(_ daemon: DaemonProcess) throws {
        let client = try daemon.connect()
        let home = daemon.folder.path
        try client.register("ended", ["sh", "-c", "exit 5"]) {
            $0.environment = ["HOME": home]
            $0.exitsOnSuspend = true
        }
        try client.order(Applications.Launch.self, "ended")
        try client.waitForState(.notRunning, of: "ended")
        try client.setBadge(7, of: "ended")
        try client.register("never")
        try client.ask(Applications.SetHandles.self) {
            $0.id = "never"
            $0.handles = [.badgeChanged, .didBecomeActive]
        }
        try client.register("forgotten")
        try client.ask(Applications.Unregister.self) { $0.id = "forgotten" }
        try client.launch("front")
        try client.launch("frozen")
        #expect(try !client.suspend("frozen").pids.isEmpty)
    }

    @Test(
        "what was held at an overrun is known after a crash",
        arguments: [ContainmentMode.supervisor])
    func heldTasks(mode: ContainmentMode) throws {
        let settings = """
            applications.suspendAfter = "20ms"
            applications.backgroundTime = "300ms"
            applications.grace = "100ms"
            """
        let first = try DaemonProcess(mode, settings: settings)
        var client = try first.connect()
        try client.launch("app")
        let id = try client.begin("upload") { $0.application = "app" }
        try client.order(Applications.EnterBackground.self, "app")
        let before = try client.waitForState(.notRunning, of: "app").lastTermination
        let daemon = try first.successor(settings, crashes: true)
        client = try daemon.connect()
        let last = try #require(try client.application("app").lastTermination)
        #expect(last.reason == .backgroundTimeOverrun)
        #expect(last.held.map(\.id) == [id])
        #expect(last.held.first?.name == "upload")
        #expect(last.held.first?.ageMs == before?.held.first?.ageMs)
        #expect(last.held.first?.durationMs == 180_000)
        #expect(last.backgroundMs == before?.backgroundMs)
        #expect(last.signal == "SIGTERM")
        #expect(last.agoMs >= 0)
    }

    @Test(
        "how an application ended is told when the disk has it, or has refused it",
        .enabled(if: DatabaseVisitor.isThere, "there is no sqlite3(1)"),
        arguments: ContainmentMode.available)
    func toldOnceStored(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        let home = daemon.folder.path
        try client.launch("app", script: "while ! [ -e $HOME/go ]; do sleep 0.05; done; exit 5") {
            $0.environment = ["HOME": home]
        }
        let watch = try ApplicationWatch("app", daemon)
        let visitor = DatabaseVisitor(daemon)
        try visitor.lock()
        try Files.write("", to: home + "/go")
        #expect(try watch.steps(until: "notRunning") == ["notRunning"])
        // Nothing can be written: it is told since the disk was tried, and for no other reason.
        for text in ["tasks cannot be stored", "app has ended"] { try daemon.waitForLog(text) }
        let told = daemon.log.split(separator: "\n").filter {
            $0.contains("tasks cannot be stored") || $0.contains("app has ended")
        }
        #expect(told.first?.contains("tasks cannot be stored") == true, "\(told)")
        #expect(try client.application("app").lastTermination?.status == 5)
        try visitor.unlock()
        // What is answered now is on disk behind it.
        try eventually("it is stored again") { (try? client.setBadge(1, of: "app")) != nil }
        let next = try daemon.successor(Self.settings, crashes: true)
        let last = try #require(try next.connect().application("app").lastTermination)
        #expect(last.reason == .exited)
        #expect(last.status == 5)
    }

    @Test(
        "a stop ends what runs, which is told, and what is suspended, in bounded time",
        arguments: ContainmentMode.available)
    func stop(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        let home = daemon.folder.path
        try client.launch(
            "polite",
            script:
                "trap ': > $HOME/told; exit 0' TERM; touch $HOME/ready; while :; do sleep 0.05; done"
        ) { $0.environment = ["HOME": home] }
        try eventually("it is ready") { Files.exists(home + "/ready") }
        let watch = try ApplicationWatch("polite", daemon)
        for number in 1...5 {
            try client.launch("frozen-\(number)")
            try client.suspend("frozen-\(number)")
        }
        daemon.child.signal(SIGTERM)
        #expect(try watch.steps(until: "notRunning") == ["willTerminate active", "notRunning"])
        #expect(try daemon.child.waitForEnd() == .status(0))
        #expect(Files.exists(home + "/told"))
        #expect(daemon.groupFolder == nil)
        for id in ["polite"] + (1...5).map({ "frozen-\($0)" }) {
            #expect(daemon.applicationProcesses(id) == [])
        }
    }

    @Test("who ignores the stop is killed after the grace", arguments: ContainmentMode.available)
    func stopIgnored(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(
            mode, settings: Self.settings + "\napplications.grace = \"50ms\"\n")
        let client = try daemon.connect()
        let home = daemon.folder.path
        try client.launch(
            "rude", script: "trap '' TERM; touch $HOME/ready; while :; do sleep 1000; done"
        ) { $0.environment = ["HOME": home] }
        try eventually("it is ready") { Files.exists(home + "/ready") }
        #expect(try daemon.stop() == .status(0))
        #expect(daemon.applicationProcesses("rude") == [])
        let next = try DaemonProcess(mode, settings: Self.settings, in: daemon.folder)
        let last = try next.connect().application("rude").lastTermination
        #expect(last?.reason == .interrupted)
    }

    @Test("without enforcement it is only said what would be done, until that is switched on")
    func enforcement() throws {
        let times = """
            applications.suspendAfter = "20ms"
            applications.backgroundTime = "300ms"
            applications.grace = "100ms"
            applications.foreground = "multiple"

            """
        let daemon = try DaemonProcess(
            .supervisor, settings: times + "applications.enforce = false\n")
        let client = try daemon.connect()
        for id in ["idle", "holding", "exiting"] {
            try client.launch(id) { $0.exitsOnSuspend = id == "exiting" }
        }
        _ = try client.begin("kept") { $0.application = "holding" }
        for id in ["idle", "holding", "exiting"] {
            try client.order(Applications.EnterBackground.self, id)
        }
        try daemon.waitForLog(
            "Application idle would be suspended, but applications.enforce is false")
        try daemon.waitForLog(
            "Application exiting would be ended, but applications.enforce is false")
        try daemon.waitForLog(
            "Application holding would be ended, but applications.enforce is false")
        for id in ["idle", "holding", "exiting"] {
            let application = try client.application(id)
            #expect(application.state == .background && !application.frozen)
        }
        #expect(try client.applicationRules("idle") == ["enforce"])
        #expect(try client.ask(Applications.SimulateMemoryPressure.self).terminated == [])

        try daemon.rewrite(settings: times)
        try client.ask(Manager.Reload.self)
        #expect(try client.waitForState(.suspended, of: "idle").frozen)
        let ended = try client.waitForState(.notRunning, of: "exiting")
        #expect(ended.lastTermination?.reason == .exitsOnSuspend)
    }

    @Test(
        "what has to be on disk is refused while the disk takes nothing, and what was there stays",
        .enabled(if: SmallDisk.refusal == nil, "no file system can be mounted"))
    func fullDisk() throws {
        let disk = try SmallDisk()
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings, in: disk.folder)
        let client = try daemon.connect()
        try client.register("known")
        try client.setBadge(1, of: "known")
        try disk.fill()
        try eventually("the daemon has seen that the disk takes nothing") {
            (try? client.register("probe")) == nil
        }
        for refusal in [
            try client.refusal(of: Applications.Register.self) {
                $0.registration.id = "new"
                $0.registration.command = ["true"]
            },
            try client.refusal(of: Applications.SetBadge.self) {
                $0.id = "known"
                $0.badge = 2
            },
            try client.refusal(of: Applications.Unregister.self) { $0.id = "known" },
        ] {
            #expect(refusal.name == Tasks.NotAccepting.name)
        }
        let unknown = try client.refusal(of: Applications.Show.self) { $0.id = "new" }
        #expect(unknown == .noSuchApplication("new"))
        #expect(try client.application("known").badge == 1)
        // What needs no disk goes on.
        #expect(try client.order(Applications.Launch.self, "known").state == .active)
        try client.suspend("known")
        try client.order(Applications.Terminate.self, "known")

        disk.makeRoom()
        try eventually("the disk takes writes again") {
            (try? client.register("new", ["true"])) != nil
        }
        let next = try daemon.successor(Self.settings, crashes: true)
        let known = try next.connect().application("known")
        #expect(known.badge == 1)
        #expect(known.lastTermination?.reason == .terminated)
    }
}
