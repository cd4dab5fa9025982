import JSON
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("Tasks that an application does itself (rule 35)")
struct PerformanceTests {
    private static let settings = "applications.suspendAfter = \"20ms\"\n"

    private func submit(
        _ client: VarlinkClient, _ name: String = "refresh",
        _ fill: (inout Tasks.Work) -> Void = { _ in }
    ) throws -> Int {
        var work = Tasks.Work()
        (work.name, work.application, work.wake) = (name, "app", true)
        fill(&work)
        return try client.ask(Tasks.Submit.self) { $0.work = work }.id
    }

    private func deliver(
        _ event: Applications.Event, _ client: VarlinkClient, _ isSuccess: Bool? = nil
    ) throws {
        try client.ask(Applications.Delivered.self) {
            $0.id = "app"
            $0.deliveryId = event.deliveryId ?? 0
            $0.success = isSuccess
        }
    }

    private func task(_ id: Int, _ client: VarlinkClient) throws -> Tasks.Task {
        try client.ask(Tasks.Show.self) { $0.id = id }.task
    }

    /// The end is told when the disk has it.
    private func ended(_ id: Int, _ client: VarlinkClient) throws -> Tasks.Task {
        try eventually("task \(id) has ended") { try task(id, client).state == .ended }
        return try task(id, client)
    }

    @Test(
        "it is started in the background, told, and suspended; then thawed for the next one",
        arguments: ContainmentMode.available)
    func performs(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        try client.register("app")
        let watch = try ApplicationWatch("app", daemon)
        let id = try submit(client)
        var events = try watch.events { $0.callback == .performTask }
        #expect(events.map(\.step) == ["didFinishLaunching background", "performTask background"])
        let told = try #require(events.last)
        #expect(told.task == id && told.identifier == "refresh" && told.remainingMs != nil)
        let running = try task(id, client)
        #expect(running.state == .running && running.application == "app")
        #expect(running.wake == true && running.pid == nil)
        #expect(try client.applicationRules("app").contains("performTask"))
        #expect(try client.application("app").tasks == 1)
        try deliver(told, client)
        // A second time it changes nothing.
        try deliver(told, client, false)
        let done = try ended(id, client)
        #expect(done.wake == true && done.command == nil)
        #expect(done.outcome == .completed && done.exit == nil)
        #expect(try client.application("app").tasks == 0)
        try client.waitForState(.suspended, of: "app")

        let next = try submit(client, "backup")
        events = try watch.events { $0.callback == .performTask }
        #expect(events.map(\.step).suffix(2) == ["background", "performTask background"])
        try deliver(try #require(events.last), client, false)
        #expect(try ended(next, client).outcome == .failed)
        try client.waitForState(.suspended, of: "app")
    }

    @Test("who is not done in time is told, and terminated; the next one starts it anew")
    func overruns() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try client.register("app")
        let watch = try ApplicationWatch("app", daemon)
        let id = try submit(client) {
            var budget = Tasks.Budget()
            (budget.durationMs, budget.graceMs) = (600_000, 200)
            $0.budget = budget
        }
        var steps = try watch.steps(until: "performTask background")
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        steps += try watch.steps(until: "notRunning")
        #expect(
            steps == [
                "didFinishLaunching background", "performTask background",
                "taskExpiring background", "willTerminate background", "notRunning",
            ])
        #expect(try ended(id, client).outcome == .overrun)
        #expect(try client.application("app").lastTermination?.reason == .taskOverrun)
        _ = try submit(client)
        #expect(
            try watch.steps(until: "performTask background") == [
                "didFinishLaunching background", "performTask background",
            ])
    }

    @Test(
        "what waits is there after a crash, as it was submitted, and is done under the next daemon")
    func crash() throws {
        let first = try DaemonProcess(.supervisor, settings: Self.settings)
        var client = try first.connect()
        try client.register("app")
        let id = try submit(client) { $0.earliestBeginMs = 3_600_000 }
        let daemon = try first.successor(Self.settings, crashes: true)
        client = try daemon.connect()
        #expect(try task(id, client).application == "app")
        let work = try client.ask(Tasks.ShowSubmission.self) { $0.id = id }.work
        #expect(work.wake == true && work.command == nil && work.application == "app")
        let watch = try ApplicationWatch("app", daemon)
        try client.ask(Tasks.SimulateLaunch.self) { $0.id = id }
        let told = try #require(try watch.events { $0.callback == .performTask }.last)
        #expect(told.task == id)
        try deliver(told, client)
        #expect(try ended(id, client).outcome == .completed)
    }

    @Test("a task without a command runs that of its application, as it was registered")
    func registeredCommand() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try client.register("app", ["sh", "-c", "echo $A $B in $PWD"]) {
            $0.environment = ["A": "one", "B": "two"]
            $0.directory = "/usr"
        }
        let id = try client.submit([]) {
            ($0.command, $0.application) = (nil, "app")
            $0.environment = ["B": "three"]
        }
        _ = try ended(id, client)
        #expect(try daemon.text(of: id) == "one three in /usr\n")
    }

    @Test(
        "an application that listens late, or anew, is told of all that it has not done",
        arguments: [false, true])
    func listens(anew: Bool) throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings + "queue.slots = 400")
        let client = try daemon.connect()
        // It connects when it is let go, after 300 tasks have come.
        let bgtaskctl = Programs.path("bgtaskctl")
        let waits = daemon.waits(for: "listen")
        try client.register(
            "app",
            [
                "sh", "-c",
                (anew ? "timeout 1 \(bgtaskctl) app watch app >/dev/null; " : "") + waits
                    + "; exec \(bgtaskctl) app watch app >\(daemon.folder.path)/told",
            ])
        for number in 0..<300 { _ = try submit(client, "t\(number)") }
        try daemon.letGo("listen")
        let path = daemon.folder.path + "/told"
        try eventually("it was told of all") {
            Files.text(path).split(separator: "\n").count { $0.contains("performTask") } == 300
        }
    }

    @Test("what could not be done is refused by its name")
    func refused() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        func refusal(_ fill: (inout Tasks.Work) -> Void) throws -> RemoteError? {
            try client.refusal(of: Tasks.Submit.self) {
                var work = Tasks.Work()
                (work.name, work.application) = ("refresh", "app")
                fill(&work)
                $0.work = work
            }
        }
        #expect(
            try refusal { $0.wake = true }?.name == "org.bgtaskd.Applications.NoSuchApplication")
        #expect(try refusal { _ in }?.name == "org.bgtaskd.Applications.NoSuchApplication")
        try client.register("app", nil)
        #expect(try refusal { $0.wake = true }?.name == "org.bgtaskd.Applications.NotRegistered")
        #expect(try refusal { _ in }?.name == "org.bgtaskd.Applications.NotRegistered")
        for fill in [
            { $0.command = ["true"] }, { $0.application = nil }, { $0.directory = "/" },
            { $0.environment = [:] }, { $0.input = "" }, { $0.expiration = .init() },
        ] as [(inout Tasks.Work) -> Void] {
            let error = try refusal {
                $0.wake = true
                fill(&$0)
            }
            #expect(error?.parameters.text.contains("\"work.wake\"") == true)
        }
        let bare = try refusal { $0.application = nil }
        #expect(bare?.parameters.text.contains("\"work.command\"") == true)
    }
}
