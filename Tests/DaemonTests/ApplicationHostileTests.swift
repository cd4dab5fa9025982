import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("Bad orders about applications, and orders that nobody waits for any more", .serialized)
struct ApplicationHostileTests {
    private static let settings = """
        applications.suspendAfter = "20ms"
        applications.foreground = "multiple"
        applications.grace = "50ms"

        """

    @Test("an id that was never registered is answered as such by every method that names one")
    func unknown() throws {
        let daemon = try DaemonProcess(.supervisor)
        for (method, answer) in UserTests.applicationMethods where answer != .cannotContain {
            let connection = try RawConnection(daemon)
            try connection.send(frame: AccessTable.call(method, application: "nobody"))
            let reply = RemoteError(try #require(try connection.nextReply()))
            #expect(reply == .noSuchApplication("nobody"), "\(method)")
        }
    }

    @Test("ids, payloads and environments have limits, which refusals name")
    func limits() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        for id in ["", String(repeating: "x", count: 5000), "a\u{0}b"] {
            let refusal = try client.refusal(of: Applications.Register.self) {
                $0.registration.id = id
            }
            #expect(
                refusal.refuses("registration.id")
                    || refusal.name == Tasks.LimitReached.name, "\(refusal)")
        }
        let large = try client.refusal(of: Applications.Register.self) {
            $0.registration.id = "large"
            $0.registration.command = ["true"]
            $0.registration.environment = ["X": String(repeating: "x", count: 65_536)]
        }
        #expect(large == .limitReached("registrationBytesMax", 65_536))
        let profile = try client.refusal(of: Applications.Register.self) {
            $0.registration.id = "large"
            $0.registration.profile = "no-such"
        }
        #expect(profile.name == Tasks.NoSuchProfile.name)
        try client.register("app")
        let payload = try client.refusal(of: Applications.Push.self) {
            $0.id = "app"
            $0.payload = .object([("text", .string(String(repeating: "x", count: 4096)))])
            $0.badge = 3
        }
        #expect(payload == .limitReached("payloadBytesMax", 4096))
        #expect(try client.application("app").badge == 0)
        let watch = try client.refusal(of: Applications.Watch.self) { $0.id = "app" }
        #expect(ServiceError(watch) == .expectedMore)
    }

    @Test("registrations beyond the limit are refused by its name, also when they come at once")
    func manyRegistrations() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let count = 5000
        for number in 0..<count {
            try client.send(
                Applications.Register.self, with { $0.registration.id = "app-\(number)" })
        }
        var refused = 0
        for number in 0..<count {
            do throws(ClientError) {
                let answer = try client.receive(Applications.Register.self).output
                #expect(answer.application.id == "app-\(number)")
            } catch .remote(let error) {
                #expect(error == .limitReached("applicationsPerOwnerMax", 4096))
                refused += 1
            }
        }
        #expect(refused == count - 4096)
        #expect(try client.ask(Applications.List.self).applications.count == 4096)
        // One that is known may be registered again, and room comes with each that is forgotten.
        try client.register("app-0")
        try client.ask(Applications.Unregister.self) { $0.id = "app-1" }
        try client.register("another")
    }

    @Test(
        "an order whose caller has gone is carried out",
        arguments: ContainmentMode.available)
    func gone(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        try client.register("app", ["sh", "-c", "trap '' TERM; while :; do sleep 1000; done"])
        for _ in 0..<20 {
            try leave(Applications.Launch.name, daemon)
            try client.waitForState(.active, of: "app")
            try leave(Applications.EnterBackground.name, daemon)
            try client.waitForState(.suspended, of: "app")
            try leave(Applications.Activate.name, daemon)
            try client.waitForState(.active, of: "app")
            try leave(Applications.Terminate.name, daemon)
            try client.waitForState(.notRunning, of: "app")
        }
        let connection = try RawConnection(daemon)
        try connection.send(
            frame: callText(
                Applications.Adopt.name,
                .object([("id", .string("app")), ("pids", .array([.integer(1)]))])))
        try client.ask(SystemdService.Ping.self)
        try eventually("one connection is left") { try client.counter("connections") == 2 }
        #expect(daemon.child.isRunning)
    }

    /// Gives an order and goes away without its answer.
    private func leave(_ method: String, _ daemon: DaemonProcess) throws {
        let connection = try RawConnection(daemon)
        try connection.send(frame: AccessTable.call(method, application: "app"))
        connection.endInput()
    }

    @Test("what runs is not forgotten, in whatever state it is")
    func unregisterRunning() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try client.launch("app")
        func refusal() throws -> RemoteError {
            try client.refusal(of: Applications.Unregister.self) { $0.id = "app" }
        }
        #expect(try refusal() == .wrongState("app", .active))
        try client.suspend("app")
        #expect(try refusal() == .wrongState("app", .suspended))
        try client.order(Applications.Terminate.self, "app")
        try client.ask(Applications.Unregister.self) { $0.id = "app" }
        #expect(try refusal() == .noSuchApplication("app"))
        #expect(try client.ask(Applications.List.self).applications.isEmpty)
    }

    @Test("many orders at once, from several connections, are each answered, and in order of each")
    func crossing() throws {
        let daemon = try DaemonProcess(
            ContainmentMode.available[0],
            settings: Self.settings + "applications.messagesPerHourMax = 3600\n")
        let client = try daemon.connect()
        try client.register("app")
        let methods = UserTests.applicationMethods.filter {
            ![Applications.Unregister.name, Applications.Watch.name].contains($0.name)
        }
        let connections = try (0..<4).map { _ in try RawConnection(daemon) }
        for round in 0..<60 {
            for (number, connection) in connections.enumerated() {
                let method = methods[(round * 7 + number * 5) % methods.count].name
                try connection.send(frame: AccessTable.call(method, application: "app"))
            }
        }
        for connection in connections {
            for _ in 0..<60 { _ = try #require(try connection.nextReply()) }
        }
        try client.order(Applications.Terminate.self, "app")
        try client.order(Applications.Launch.self, "app")
        #expect(try client.suspend("app").frozen)
    }

    @Test(
        "200 runs leave no descriptor, thread, group or process",
        arguments: ContainmentMode.available)
    func leaks(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(
            mode, settings: Self.settings + "daemon.logLevel = \"warning\"\n")
        let client = try daemon.connectAlone()
        func run(_ count: Int) throws {
            for number in 0..<count {
                let id = "app-\(number % 4)"
                try client.launch(id, script: "sleep 1000 & echo hello; exec sleep 1000")
                if number % 2 == 0 { try client.suspend(id) }
                if number % 8 == 0 { try client.order(Applications.Activate.self, id) }
                try client.order(Applications.Terminate.self, id)
            }
        }
        try run(40)
        let before = DaemonUse(daemon)
        try run(200)
        try eventually("all is cleared away: \(before), \(DaemonUse(daemon))") {
            DaemonUse(daemon).isAtMost(before, idleMax: 16)
        }
        #expect((0..<4).allSatisfy { daemon.applicationProcesses("app-\($0)") == [] })
    }
}
