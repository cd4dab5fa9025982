import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("How long an answer may be, whatever it is about", .serialized)
struct BoundedAnswerTests {
    @Test("errors quote a peer's texts up to 256 bytes")
    func errors() throws {
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        let long = String(repeating: "ä", count: 200_000)
        let method = "org.bgtaskd.Tasks." + String(repeating: "M", count: 900)
        let calls = [
            callText(
                "org.varlink.service.GetInterfaceDescription",
                .object([("interface", .string(long))])),
            callText(method, .object([])),
            callText(method + ".M", .object([])),
            callText(
                Tasks.Begin.name, .object([("name", .string("a")), ("profile", .string(long))])),
            callText(Tasks.Begin.name, .object([("name", .string("a")), (long, .string("a"))])),
        ]
        for call in calls {
            try connection.send(frame: call)
            let frame = try #require(try connection.nextFrame())
            #expect(frame.count < 512, "\(String(decoding: frame, as: UTF8.self))")
            let reply = try JSONDocument(parsing: frame).value(at: 0)
            guard case .object(let parameters)? = reply["parameters"],
                let quoted = parameters.first,
                case .string(let text) = quoted.value
            else {
                Issue.record("no text in \(reply)")
                continue
            }
            #expect(text.utf8.count <= 256)
            #expect(text.hasSuffix("…"))
        }
    }

    @Test("1,000 tasks with long commands are shown, listed and watched in a bounded length")
    func commands() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "queue.slots = 1\nlimits.bufferBytesPerOwnerMax = 33554432")
        let client = try daemon.connect()
        _ = try client.submit(["sleep", "1000"])
        let watcher = try daemon.connect()
        try watcher.send(Tasks.Watch.self, Tasks.Watch.Input(), more: true)
        let argument = String(repeating: "a", count: 60_000)
        let ids = try (0..<1000).map { _ in try client.submit(["sh", argument, "end"]) }
        let shown = try #require(try client.show(ids[0]).command)
        #expect(shown.joined().utf8.count <= 4096)
        #expect(shown.last?.hasSuffix("a…") == true)
        let event = try watcher.receive(Tasks.Watch.self).output.event
        #expect(event.task.command == shown || event.task.command == ["sleep", "1000"])
        var count = 0
        try client.callMore(Tasks.List.self, Tasks.List.Input()) { reply in
            guard let task = reply.task else { return true }
            count += 1
            #expect(task.command?.joined().utf8.count ?? 0 <= 4096)
            return true
        }
        #expect(count == 1001)
    }

    @Test("why a long command cannot be started is said in a few words")
    func startFailure() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit([String(repeating: "c", count: 1 << 20)])
        let task = try client.ended(id)
        #expect(task.outcome == .failed)
        let reason = try #require(task.reason)
        #expect(reason.utf8.count < 256)
        #expect(reason.contains("ccc…\": "))
    }

    @Test(
        "listings that nobody reads end at twice the limit of their owner's buffers",
        .enabled(if: geteuid() == 0))
    func unreadListings() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "limits.bufferBytesPerOwnerMax = 4194304")
        let holder = try daemon.connect(as: .games)
        for _ in 0..<1000 { _ = try holder.begin(String(repeating: "n", count: 250)) }
        let flags = ["", ",\"more\":true"]
        let flood = try (0..<200).map { _ in try RawConnection(daemon, as: .games) }
        for (number, connection) in flood.enumerated() {
            let list = callText(Tasks.List.name, .object([]), flags: flags[number % 2])
            connection.sendWithoutWaiting(list + "\0")
        }
        try daemon.waitForLog("twice bufferBytesPerOwnerMax (4194304)")
        let other = try daemon.connect(as: .backup)
        for _ in 0..<50 { _ = try other.begin() }
        daemon.expectBounded(to: 64 << 10)
        withExtendedLifetime(flood) {}
    }

    @Test(
        "a history that is more than twice its owner's buffers ends the connection, and no more",
        arguments: ["", ",\"more\":true"])
    func unreadHistory(flags: String) throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "queue.slots = 1\nlimits.bufferBytesPerOwnerMax = 65536")
        let client = try daemon.connect()
        _ = try client.submit(["sleep", "1000"])
        // Fewer than a page, so that the answer is whole when it turns out to be too much.
        try client.submitAndCancel(100) {
            $0.command = ["true", String(repeating: "x", count: 3900)]
        }
        let reader = try RawConnection(daemon)
        try reader.send(frame: callText(Tasks.History.name, .object([]), flags: flags))
        try daemon.waitForLog("twice bufferBytesPerOwnerMax (65536)")
        #expect(try client.begin() > 0)
        #expect(daemon.child.isRunning)
        withExtendedLifetime(reader) {}
    }

    @Test("a listing goes on where it was, however many tasks begin and end meanwhile")
    func changingList() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.tasksPerOwnerMax = 3000")
        let client = try daemon.connect()
        let name = String(repeating: "n", count: 250)
        let ids = try (0..<2000).map { _ in try client.begin(name) }
        let lister = try daemon.connect()
        try lister.send(Tasks.List.self, Tasks.List.Input(), more: true)
        var listed = [try #require(try lister.receive(Tasks.List.self).output.task?.id)]
        // It has stopped by now, since more than this does not fit into the buffers.
        let last = try #require(ids.last)
        _ = try client.ask(Tasks.End.self) { $0.id = last }
        for _ in 0..<500 { _ = try client.begin(name) }
        while let task = try lister.receive(Tasks.List.self).output.task { listed.append(task.id) }
        #expect(listed == Array(ids.dropLast()))
    }
}
