import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("Floods", .serialized)
struct FloodTests {
    @Test("5,000 calls in one write are answered in their order")
    func pipelined() throws {
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        let calls = (1...5000).map { number in
            callText(Tasks.Show.name, .object([("id", .integer(number))])) + "\0"
        }
        try connection.send(calls.joined())
        for number in 1...5000 {
            let reply = RemoteError(try #require(try connection.nextReply()))
            try #require(reply == .noSuchTask(number))
        }
        try daemon.connect().ask(SystemdService.Ping.self)
    }

    @Test("calls without a reply get none, however many")
    func oneway() throws {
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        let begin = callText(
            Tasks.Begin.name, .object([("name", .string("quiet"))]), flags: ",\"oneway\":true")
        let bad = callText("a.b", .object([]), flags: ",\"oneway\":true")
        let wait = callText(
            Tasks.Wait.name, .object([("id", .integer(1)), ("timeoutMs", .integer(0))]),
            flags: ",\"oneway\":true")
        let round = [begin, bad, wait].map { $0 + "\0" }.joined()
        for _ in 0..<100 { try connection.send(String(repeating: round, count: 100)) }
        try connection.send(frame: callText(Tasks.Show.name, .object([("id", .integer(999_999))])))
        let reply = RemoteError(try #require(try connection.nextReply()))
        #expect(reply == .noSuchTask(999_999))
        let client = try daemon.connect()
        // As many as one owner may have.
        #expect(try client.counter("tasks_live") == 1000)
    }

    @Test("a call that asks for more and whose method has one answer gets one")
    func moreNotOffered() throws {
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        for method in [SystemdService.Ping.name, Manager.Describe.name, Manager.Statistics.name] {
            try connection.send(frame: callText(method, .object([]), flags: ",\"more\":true"))
            let reply = try #require(try connection.nextReply())
            #expect(reply["continues"] == nil)
            #expect(reply["error"] == nil)
        }
    }

    @Test("a watcher that never reads is cut off, with a reason and bounded memory")
    func slowReader() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.endedHeldMax = 1")
        let client = try daemon.connectAlone()
        let before = Processes.status("VmRSS", of: daemon.processID)
        let watcher = try RawConnection(daemon)
        try watcher.send(frame: callText(Tasks.Watch.name, .object([]), flags: ",\"more\":true"))
        var largest = 0
        for _ in 0..<50 {
            try Self.beginAndEnd(500, on: client)
            largest = max(largest, Processes.status("VmRSS", of: daemon.processID))
        }
        try daemon.waitForLog("a client that did not read was disconnected")
        #expect(try client.counter("slow_readers_total") == 1)
        #expect(largest < before + 24 << 10)
        let events = try watcher.readToEnd()
        #expect(events.count > 0)
        #expect(events.count < 50_000)
        #expect(try client.counter("tasks_live") == 0)
    }

    /// Begins held tasks and ends them, many calls at once.
    static func beginAndEnd(_ count: Int, on client: VarlinkClient) throws {
        for _ in 0..<count { try client.send(Tasks.Begin.self, with { $0.name = "flood" }) }
        let ids = try (0..<count).map { _ in try client.receive(Tasks.Begin.self).output.id }
        for id in ids { try client.send(Tasks.End.self, with { $0.id = id }) }
        for _ in ids { _ = try client.receive(Tasks.End.self) }
    }

    @Test("a reader that goes away in the middle of a stream disturbs nobody")
    func vanishingReaders() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connectAlone()
        for _ in 0..<500 { try client.send(Tasks.Begin.self, with { $0.name = "listed" }) }
        for _ in 0..<500 { _ = try client.receive(Tasks.Begin.self) }
        let before = try daemon.settledDescriptorCount()
        let list = callText(Tasks.List.name, .object([]), flags: ",\"more\":true")
        let begin = callText(Tasks.Begin.name, .object([("name", .string("n"))]))
        for number in 0..<300 {
            let connection = try RawConnection(daemon)
            switch number % 3 {
            case 0: try connection.send(String(list.prefix(number % list.count)))
            case 1:
                try connection.send(frame: list)
                _ = try connection.nextFrame()
            default:
                try connection.send(frame: begin)
                try connection.send(frame: list)
            }
        }
        try eventually("all are gone") { try client.counter("connections") == 1 }
        #expect(try client.counter("tasks_live") == 500)
        try eventually("as many descriptors are open as before") {
            Processes.descriptorCount(of: daemon.processID) <= before
        }
    }

    @Test(
        "a client that stopped sending for its owner's buffers goes on when they are free again")
    func bufferLimit() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "limits.bufferBytesPerOwnerMax = 1048576")
        let client = try daemon.connect()
        let head = Array(
            "{\"method\":\"io.systemd.service.Ping\",\"parameters\":{},\"x\":\"".utf8)
        let fill = [UInt8](repeating: UInt8(ascii: "x"), count: 700_000)
        var hogs = try (0..<2).map { _ in try RawConnection(daemon) }
        // Of the second one, what the daemon leaves fits into the socket.
        for (hog, count) in zip(hogs, [700_000, 400_000]) {
            try hog.send(head + fill.prefix(count))
        }
        let patient = try RawConnection(daemon)
        // More than one may have where there is no room, and less than the socket's own buffers.
        try patient.send(head + fill.prefix(150_000))
        try client.ask(SystemdService.Ping.self)
        hogs.removeAll()
        try patient.send(fill + Array("\"}\0".utf8))
        let reply = try #require(try patient.nextReply())
        #expect(reply["error"] == nil)
    }

    @Test("of clients that had waited for room nothing is left when they are gone")
    func nothingLeftOfWaiting() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "limits.bufferBytesPerOwnerMax = 1048576")
        let client = try daemon.connectAlone()
        try client.ask(SystemdService.Ping.self)
        let before = try daemon.settledDescriptorCount()
        let head = Array("{\"x\":\"".utf8)
        let fill = [UInt8](repeating: UInt8(ascii: "x"), count: 700_000)
        var hogs = try (0..<2).map { _ in try RawConnection(daemon) }
        for (hog, count) in zip(hogs, [700_000, 400_000]) {
            try hog.send(head + fill.prefix(count))
        }
        var patients = try (0..<5).map { _ in try RawConnection(daemon) }
        for patient in patients { try patient.send(head + fill.prefix(150_000)) }
        try client.ask(SystemdService.Ping.self)
        hogs.removeAll()
        for patient in patients { try patient.send(fill.prefix(1000)) }
        try client.ask(SystemdService.Ping.self)
        patients.removeAll()
        try eventually("their descriptors are closed") {
            Processes.descriptorCount(of: daemon.processID) <= before
        }
    }

    @Test("one who floods does not keep others waiting")
    func fairness() throws {
        let daemon = try DaemonProcess(.supervisor)
        let flooder = try RawConnection(daemon)
        let ping = Array(callText(SystemdService.Ping.name, .object([])).utf8) + [0]
        try flooder.send(Array(repeating: ping, count: 4000).joined())
        let client = try daemon.connect()
        try client.ask(SystemdService.Ping.self)
        let id = try client.begin { $0.budget = Tasks.Budget(ms: 60_010, grace: 60_000) }
        try eventually("the handler fires") { try client.show(id).state == .expiring }
        for _ in 0..<4000 { try #require(try flooder.nextFrame() != nil) }
    }
}
