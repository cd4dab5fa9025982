import Glibc
import JSON
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("What the processes of applications read and hold themselves")
struct ApplicationReaderTests {
    private static let settings = """
        applications.suspendAfter = "20ms"
        applications.foreground = "multiple"
        """

    /// Makes an application known whose process watches an application, and writes what it is told to a file.
    private func register(
        watching other: String, as id: String, _ daemon: DaemonProcess, _ client: VarlinkClient
    ) throws {
        let script =
            "exec \"$0\" --json --socket \"$BGTASK_SOCKET\" app watch \(other) > $HOME/\(id)"
        try client.register(id, ["sh", "-c", script, Programs.path("bgtaskctl")]) {
            $0.environment = ["HOME": daemon.folder.path]
        }
    }

    /// What a process has written of its events, those whole lines that there are.
    private func written(_ id: String, _ daemon: DaemonProcess) throws -> [Applications.Event] {
        let text = Files.text("\(daemon.folder.path)/\(id)")
        let end = text.lastIndex(of: "\n") ?? text.startIndex
        return try text[..<end].split(separator: "\n").map { line in
            let value = try JSONDocument(parsing: Array(line.utf8)).value(at: 0)
            return try RemoteError(name: "", parameters: value).decode(Applications.Event.self)
        }
    }

    @Test(
        "an application that watches itself is told of its launch, after its present state",
        arguments: ContainmentMode.available)
    func backlog(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        try register(watching: "app", as: "app", daemon, client)
        for _ in 0..<2 {
            unlink(daemon.folder.path + "/app")
            try client.order(Applications.Launch.self, "app")
            try eventually("it is told") { try written("app", daemon).count >= 3 }
            try client.order(Applications.Resign.self, "app")
            try eventually("it is told of what comes") { try written("app", daemon).count >= 4 }
            #expect(
                try written("app", daemon).map(\.step) == [
                    "active", "didFinishLaunching inactive", "didBecomeActive active",
                    "willResignActive inactive",
                ])
            #expect(try written("app", daemon).map(\.number) == [1, 2, 3, 4])
            try client.order(Applications.Terminate.self, "app")
        }
    }

    @Test("a launch by a message delivers the message to the application once")
    func launchByMessage() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try register(watching: "app", as: "app", daemon, client)
        let answer = try client.push(.alert, .tapped, to: "app") {
            $0.payload = .object([("n", .integer(1))])
        }
        #expect(answer.callback == .didReceiveNotificationResponse)
        try eventually("it is told") { try written("app", daemon).count >= 4 }
        // Another watch of its own, and one from outside, are not told of the past.
        let watch = try ApplicationWatch("app", daemon)
        try client.setBadge(1, of: "app")
        #expect(try watch.next().step == "badgeChanged active 1")
        try eventually("it is told of the badge") { try written("app", daemon).count >= 5 }
        let told = try written("app", daemon)
        #expect(
            told.map(\.step) == [
                "active", "didFinishLaunching inactive", "didBecomeActive active",
                "didReceiveNotificationResponse active", "badgeChanged active 1",
            ])
        #expect(told.count { $0.payload != nil } == 1)
    }

    @Test(
        "what a frozen process holds stays, though it cannot answer",
        arguments: ContainmentMode.available)
    func heldWhileFrozen(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        let hold = "\"$0\" --socket \"$BGTASK_SOCKET\" hold --name kept --"
        try client.register(
            "app",
            [
                "sh", "-c", "unset BGTASK_APPLICATION; exec \(hold) sleep 1000",
                Programs.path("bgtaskctl"),
            ])
        try client.order(Applications.Launch.self, "app")
        try eventually("it holds a task") {
            try client.ask(Tasks.List.self).tasks?.count == 1
        }
        let id = try #require(try client.ask(Tasks.List.self).tasks?.first?.id)
        try client.suspend("app")
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        #expect(try client.show(id).state == .expiring)
        _ = try client.ask(Tasks.Extend.self) { $0.id = id }
        #expect(try client.show(id).state == .running)
        #expect(try client.application("app").state == .suspended)
        #expect(try client.application("app").tasks == 0)
        try client.order(Applications.Activate.self, "app")
        // It has read its event now, and passes it on to its command.
        #expect([.completed, .expired].contains(try client.ended(id).outcome))
    }

    @Test(
        "a frozen reader gets its events in order after the thaw, as many as there is room for",
        arguments: ContainmentMode.available)
    func frozenReader(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        try client.launch("talker")
        try register(watching: "talker", as: "reader", daemon, client)
        try client.order(Applications.Launch.self, "reader")
        try eventually("it watches") { try written("reader", daemon).count == 1 }
        try client.suspend("reader")
        let watch = try ApplicationWatch("talker", daemon)
        let count = 1000
        let payload = JSONValue.object([("text", .string(String(repeating: "x", count: 4000)))])
        for _ in 0..<count {
            let answer = try client.push(.alert, to: "talker") { $0.payload = payload }
            #expect(answer.receipt == .delivered)
            #expect(try watch.next().callback == .willPresentNotification)
        }
        #expect(try client.application("reader").state == .suspended)
        let before = try written("reader", daemon).count
        try client.order(Applications.Activate.self, "reader")
        try eventually("it has read something") {
            try written("reader", daemon).count > before
        }
        // The daemon has room again once the reader has read; a badge tells that it has come so far.
        var badge = 0
        try eventually("it reads what comes now") {
            badge += 1
            try client.setBadge(badge, of: "talker")
            return try written("reader", daemon).contains { ($0.badge ?? 0) > 0 }
        }
        let told = try written("reader", daemon)
        let numbers = told.map(\.number)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        let kept = told.prefix { $0.badge ?? 0 == 0 }
        #expect(Array(numbers.prefix(kept.count)) == Array(1...kept.count))
        #expect(kept.count < count)
        let first = try #require(told.first { ($0.badge ?? 0) > 0 })
        #expect(first.number == 1 + count + (first.badge ?? 0))
    }
}
