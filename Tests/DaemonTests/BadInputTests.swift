import Glibc
import JSON
import TaskAPI
import Testing
import TestKit
import Varlink

@Suite("Bad input")
struct BadInputTests {
    /// The same daemon still serves.
    private func expectServing(_ daemon: DaemonProcess) throws {
        try daemon.connect().ask(SystemdService.Ping.self)
        #expect(daemon.child.isRunning)
    }

    @Test("what is no call closes the connection, and the log says why")
    func garbage() throws {
        let daemon = try DaemonProcess(.supervisor)
        let deep =
            "{\"method\":\"a.b\",\"parameters\":" + String(repeating: "{\"a\":", count: 100) + "1"
            + String(repeating: "}", count: 101)
        let bad = [
            ("", "not JSON"), ("GET / HTTP/1.1\r\n\r\n", "not JSON"), ("{", "not JSON"),
            ("{}{}", "not JSON"), ("[]", "not a JSON object"), ("3", "not a JSON object"),
            ("{}", "no method"), ("{\"method\":7}", "the method of a message is of a wrong type"),
            ("{\"method\":\"Begin\"}", "not INTERFACE.MEMBER"),
            ("{\"method\":\"a.b\",\"parameters\":[]}", "the parameters of a message"),
            ("{\"method\":\"a.b\",\"more\":1}", "the more of a message"),
            ("{\"method\":\"a.b\",\"method\":\"a.b\"}", "not JSON"),
            ("{\"method\":\"a.\\ud800\"}", "not JSON"), (deep, "not JSON"),
            ("\u{FEFF}{\"method\":\"a.b\"}", "not JSON"),
        ]
        for (number, (text, reason)) in zip(1..., bad) {
            let connection = try RawConnection(daemon)
            try connection.send(frame: text)
            #expect(try connection.readToEnd() == [], "\(text)")
            // At most ten a second are logged one by one; the rest is counted.
            let client = try daemon.connect()
            try eventually("violation \(number) is counted") {
                try client.counter("protocol_violations_total") == number
            }
            if number <= 10 { try daemon.waitForLog(reason) }
        }
        let invalid = try RawConnection(daemon)
        try invalid.send([0x7B, 0xFF, 0xFE, 0x7D, 0])
        #expect(try invalid.readToEnd() == [])
        let client = try daemon.connect()
        try eventually("each is named in the log or counted") {
            let named = daemon.log.split(separator: "\n").count {
                $0.contains("broke the protocol")
            }
            let counted = try client.counter("refusals_not_logged_total") ?? 0
            return named + counted == bad.count + 1
        }
        try expectServing(daemon)
    }

    @Test("the reason for a deep message is its depth, and for a long one its length")
    func deepAndLong() throws {
        let daemon = try DaemonProcess(.supervisor)
        let deep = try RawConnection(daemon)
        let levels = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        try deep.send(frame: "{\"method\":\"a.b\",\"parameters\":{\"a\":\(levels)}}")
        #expect(try deep.readToEnd() == [])
        try daemon.waitForLog("deep")

        let client = try daemon.connectAlone()
        let before = Processes.status("VmRSS", of: daemon.processID)
        let long = try RawConnection(daemon)
        let head = Array("{\"method\":\"a.b\",\"parameters\":{\"a\":\"".utf8)
        let frame = head + [UInt8](repeating: UInt8(ascii: "x"), count: 5 << 20)
        _ = try long.send(frame)
        #expect(try long.readToEnd() == [])
        try daemon.waitForLog("a message is longer than 4194304 bytes")
        try client.ask(SystemdService.Ping.self)
        #expect(Processes.status("VmRSS", of: daemon.processID) < before + 8 << 10)

        // What is just short enough is read, and given back.
        let legal = try RawConnection(daemon)
        let fill = (4 << 20) - head.count - 3
        try legal.send(head + [UInt8](repeating: UInt8(ascii: "x"), count: fill))
        try legal.send("\"}}\0")
        let reply = try #require(try legal.nextReply())
        #expect(reply["error"] == .string("org.varlink.service.InterfaceNotFound"))
        try client.ask(SystemdService.Ping.self)
        #expect(Processes.status("VmRSS", of: daemon.processID) < before + 8 << 10)
        try expectServing(daemon)
    }

    @Test(
        "a message of 300,000 keys or values is closed with a reason, before it is read to its end")
    func manyValues() throws {
        let daemon = try DaemonProcess(.supervisor)
        let keys = "{" + (0..<300_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
        let zeros = "{\"a\":[" + String(repeating: "0,", count: 300_000) + "0]}"
        for parameters in [keys, zeros] {
            let connection = try RawConnection(daemon)
            try connection.send(frame: "{\"method\":\"a.b\",\"parameters\":\(parameters)}")
            #expect(try connection.readToEnd() == [])
        }
        try daemon.waitForLog("too many values", count: 2)
        try expectServing(daemon)
    }

    @Test("a command of too many arguments or variables is refused by the limit's name")
    func manyArguments() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        var work = Tasks.Work()
        work.name = "many"
        work.command = [String](repeating: "a", count: 32_769)
        func refusal() -> RemoteError? {
            let error = #expect(throws: ClientError.self) {
                try client.ask(Tasks.Submit.self) { $0.work = work }
            }
            if case .remote(let remote) = error { return remote }
            return nil
        }
        #expect(refusal() == .limitReached("argumentsMax", 32_768))
        work.command = ["true"]
        work.environment = Dictionary(
            uniqueKeysWithValues: (0..<4097).map { ("V\($0)", "") })
        #expect(refusal() == .limitReached("environmentVariablesMax", 4096))
        try expectServing(daemon)
    }

    @Test(
        "2,000 mutated calls (100,000 in a long run) are answered or closed, and the daemon serves on"
    )
    func mutations() throws {
        let daemon = try DaemonProcess(.supervisor)
        let frames = [
            callText("org.varlink.service.GetInfo", .object([])),
            callText(
                "org.varlink.service.GetInterfaceDescription",
                .object([("interface", .string("org.bgtaskd.Tasks"))])),
            callText(
                Tasks.Begin.name,
                .object([
                    ("name", .string("häld")),
                    (
                        "budget",
                        .object([("durationMs", .integer(5000)), ("graceMs", .integer(100))])
                    ),
                ]), flags: ",\"more\":true"),
            callText(
                Tasks.Submit.name,
                .object([
                    (
                        "work",
                        .object([
                            ("name", .string("n")), ("command", .array([.string("true")])),
                            ("environment", .object([("A", .string("b"))])),
                        ])
                    )
                ])),
            callText(Tasks.End.name, .object([("id", .integer(7))])),
            callText(
                Tasks.List.name,
                .object([("states", .array([.string("running")])), ("all", .bool(false))]),
                flags: ",\"more\":true"),
            callText(Tasks.Watch.name, .object([("id", .null)]), flags: ",\"more\":true"),
            callText(Tasks.Wait.name, .object([("id", .integer(1)), ("timeoutMs", .integer(1))])),
        ].map { Array($0.utf8) }
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<Effort.choose(2000, 100_000) {
            let bytes = Self.mutated(frames.randomElement(using: &random) ?? [], &random)
            let connection = try RawConnection(daemon)
            _ = try connection.send(bytes + [0])
            connection.endInput()
            for frame in try connection.readToEnd() {
                #expect(throws: Never.self, "seed \(seed), round \(round)") {
                    try JSONDocument(parsing: frame)
                }
            }
            try #require(daemon.child.isRunning, "seed \(seed), round \(round): \(bytes)")
        }
        try expectServing(daemon)
    }

    /// Bytes changed, inserted, left out, doubled or moved, a few times.
    private static func mutated(
        _ frame: [UInt8], _ random: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = frame
        let special = Array("{}[]\",:\\0-9eE.\0\u{7F}\u{FF}".utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard !bytes.isEmpty else { break }
            let at = Int.random(in: 0..<bytes.count, using: &random)
            let length = Int.random(in: 1...min(12, bytes.count - at), using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[at] = special.randomElement(using: &random) ?? 0
            case 2: bytes.insert(special.randomElement(using: &random) ?? 0, at: at)
            case 3: bytes.removeSubrange(at..<at + length)
            case 4: bytes.insert(contentsOf: bytes[at..<at + length], at: at)
            default: bytes.replaceSubrange(at..<at + length, with: "1e400".utf8)
            }
        }
        return bytes
    }

    @Test("half a call and a close is nothing, at whatever byte it is cut")
    func halfFrames() throws {
        let daemon = try DaemonProcess(.supervisor)
        let frame = callText(Tasks.Begin.name, .object([("name", .string("half"))]))
        for length in 0..<frame.utf8.count {
            let connection = try RawConnection(daemon)
            try connection.send(Array(frame.utf8.prefix(length)))
            if length % 2 == 0 { connection.endInput() }
        }
        let client = try daemon.connectAlone()
        #expect(try client.ask(Tasks.List.self) { $0.ended = true }.tasks?.count == 0)
        // A whole call before the half one is answered.
        let connection = try RawConnection(daemon)
        try connection.send(frame: callText(SystemdService.Ping.name, .object([])))
        try connection.send("{\"method\":\"io.sys")
        connection.endInput()
        #expect(try connection.readToEnd().count == 1)
        try expectServing(daemon)
    }

    @Test("unknown interfaces, methods and fields are named")
    func unknown() throws {
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        func reply(_ method: String, _ parameters: JSONValue = .object([])) throws -> RemoteError {
            try connection.send(frame: callText(method, parameters))
            return RemoteError(try #require(try connection.nextReply()))
        }
        let interface = try reply("org.example.None.Do")
        #expect(ServiceError(interface) == .interfaceNotFound(interface: "org.example.None"))
        for name in ["org.bgtaskd.Tasks", "org.bgtaskd.Manager", "io.systemd.service"] {
            let method = try reply(name + ".Do")
            #expect(ServiceError(method) == .methodNotFound(method: name + ".Do"))
        }
        let service = try reply("org.varlink.service.Do")
        #expect(ServiceError(service) == .methodNotFound(method: "org.varlink.service.Do"))
        let field = try reply(Tasks.End.name, .object([("id", .integer(1)), ("x", .null)]))
        #expect(field.refuses("x"))
        try connection.send(
            frame: "{\"method\":\"io.systemd.service.Ping\",\"upgrade\":true,\"parameters\":{}}")
        let upgrade = RemoteError(try #require(try connection.nextReply()))
        #expect(
            ServiceError(upgrade) == .methodNotImplemented(method: "io.systemd.service.Ping"))
        try expectServing(daemon)
    }

    @Test(
        "ids that no task has are refused, whatever number they are",
        arguments: [
            Tasks.Extend.name, Tasks.Cancel.name, Tasks.RemainingTime.name, Tasks.Show.name,
            Tasks.Explain.name, Tasks.SimulateExpiration.name,
            Tasks.SimulateLaunch.name, Tasks.Wait.name, Tasks.Watch.name,
            Tasks.Output.name, Tasks.End.name, Tasks.Change.name, Tasks.Restart.name,
            Tasks.ShowSubmission.name, Tasks.Report.name,
            Tasks.Complete.name,
        ])
    func identifiers(method: String) throws {
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        func reply(_ number: String) throws -> JSONValue {
            try connection.send(
                frame: "{\"method\":\"\(method)\",\"parameters\":{\"id\":\(number)},\"more\":true}")
            return try #require(try connection.nextReply())
        }
        for number in ["-1", "-9223372036854775808", "9223372036854775808", "1.5", "1e30"] {
            #expect(RemoteError(try reply(number)).refuses("id"), "\(number)")
        }
        for (text, number) in [("9223372036854775807", Int.max), ("1e3", 1000), ("20.0", 20)] {
            #expect(RemoteError(try reply(text)) == .noSuchTask(number), "\(text)")
        }
        let zero = try reply("0")
        if method == Tasks.End.name {
            #expect(zero["error"] == nil)
        } else {
            #expect(RemoteError(zero) == .noSuchTask(0))
        }
    }

    @Test("numbers, names and times out of their range are named")
    func ranges() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let begin: [(String, (inout Tasks.Begin.Input) -> Void)] = [
            ("name", { $0.name = "" }), ("name", { $0.name = "a\nb" }),
            ("budget.durationMs", { $0.budget = Tasks.Budget(ms: 0, grace: 0) }),
            ("budget.durationMs", { $0.budget = Tasks.Budget(ms: .min, grace: 0) }),
            ("budget.durationMs", { $0.budget = Tasks.Budget(ms: .max, grace: 0) }),
            ("budget.graceMs", { $0.budget = Tasks.Budget(ms: 1000, grace: 1000) }),
            ("budget.graceMs", { $0.budget = Tasks.Budget(ms: 1000, grace: -1) }),
            ("budget.graceMs", { $0.budget = Tasks.Budget(ms: 1000, grace: .max) }),
        ]
        for (parameter, fill) in begin {
            let refusal = try client.refusal(of: Tasks.Begin.self) {
                $0.name = "n"
                fill(&$0)
            }
            #expect(refusal.refuses(parameter))
        }
        let submit: [(String, (inout Tasks.Work) -> Void)] = [
            ("work.name", { $0.name = "\u{1B}[2J" }), ("work.command", { $0.command = [] }),
            ("work.command", { $0.command = [""] }),
            ("work.command[1]", { $0.command = ["a", "b\0c"] }),
            ("work.directory", { $0.directory = "relative" }),
            ("work.directory", { $0.directory = "/a\0b" }),
            ("work.environment", { $0.environment = ["A=B": "c"] }),
            ("work.environment", { $0.environment = ["": "c"] }),
            ("work.environment", { $0.environment = ["A": "\0"] }),
            ("work.budget.graceMs", { $0.budget = Tasks.Budget(ms: 1, grace: 1) }),
            ("work.expiration.signal", { $0.expiration = .init(signal: "SIGNOTHING") }),
            ("work.expiration.command", { $0.expiration = .init(command: []) }),
            ("work.expiration.command[0]", { $0.expiration = .init(command: ["\0"]) }),
        ]
        for (parameter, fill) in submit {
            let refusal = try client.refusal(of: Tasks.Submit.self) {
                $0.work.name = "n"
                $0.work.command = ["true"]
                fill(&$0.work)
            }
            #expect(refusal.refuses(parameter))
        }
        let reason = try client.refusal(of: Tasks.Cancel.self) {
            $0.id = 1
            $0.reason = String(repeating: "r", count: 1025)
        }
        #expect(reason.refuses("reason"))
    }

    @Test(
        "a command of more than the kernel takes fails with the reason",
        arguments: ContainmentMode.available)
    func hugeCommand(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let huge = String(repeating: "x", count: 200_000)
        let argument = try client.ended(try client.submit(["true", huge]))
        #expect(argument.outcome == .failed)
        #expect(argument.reason?.contains("Argument list too long") == true)
        let variable = try client.ended(
            try client.submit(["true"]) { $0.environment = ["BIG": huge] })
        #expect(variable.outcome == .failed)
        let program = try client.ended(try client.submit([huge]))
        #expect(program.outcome == .failed)
        #expect(try client.ended(try client.submit(["true"])).outcome == .completed)
    }
}

extension RemoteError {
    /// Takes a reply apart that is an error.
    init(_ reply: JSONValue) {
        var name = "no error: \(reply.text)"
        if case .string(let text)? = reply["error"] { name = text }
        self.init(name: name, parameters: reply["parameters"] ?? .object([]))
    }
}
