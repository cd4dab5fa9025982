import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("Every call is answered, whatever its neighbours do")
struct AnswerTests {
    @Test("a wait is answered in the turn in which the holder of its task goes away")
    func waitAnsweredInClosingTurn() throws {
        let daemon = try DaemonProcess(.supervisor)
        let waiter = try daemon.connect()
        let holder = try RawConnection(daemon)
        try holder.send(frame: #"{"method":"org.bgtaskd.Tasks.Begin","parameters":{"name":"a"}}"#)
        let begun = try #require(try holder.nextReply())
        guard case .integer(let id)? = begun["parameters"]?["id"] else {
            Issue.record("no id in \(begun)")
            return
        }
        // Both come to the daemon in one turn, the wait first.
        daemon.child.signal(SIGSTOP)
        try waiter.send(Tasks.Wait.self, with { $0.id = Int(id) })
        holder.endInput()
        daemon.child.signal(SIGCONT)
        let answer = try waiter.receive(Tasks.Wait.self)
        #expect(answer.output.task?.outcome == .abandoned)
    }

    @Test("a client that has sent all that it will still gets the answer of its wait")
    func waitOfHalfClosed() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.begin()
        let waiter = try RawConnection(daemon)
        try waiter.send(
            frame: #"{"method":"org.bgtaskd.Tasks.Wait","parameters":{"id":\#(id)}}"#)
        waiter.endInput()
        try client.ask(SystemdService.Ping.self)
        _ = try client.ask(Tasks.End.self) { $0.id = id }
        let replies = try waiter.readToEnd()
        #expect(replies.count == 1)
    }

    @Test("calls before garbage are answered before the connection is closed")
    func answerBeforeGarbage() throws {
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        let ping = #"{"method":"io.systemd.service.Ping"}"#
        try connection.send(Array("\(ping)\0\(ping)\0garbage\0".utf8))
        #expect(try connection.readToEnd().count == 2)
    }

    @Test("a watch with output keeps up with a task that prints much at once")
    func fastWatcher() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let watcher = try daemon.connect()
        // The script prints nothing until it is watched.
        let signal = daemon.folder.path + "/go"
        let id = try client.submit(
            script: "until [ -e \(signal) ]; do sleep 0.05; done; seq 1 30000")
        try watcher.send(
            Tasks.Watch.self,
            with {
                $0.id = id
                $0.output = true
            }, more: true)
        #expect(try watcher.receive(Tasks.Watch.self).output.event.kind == .present)
        try Files.write("", to: signal)
        var lines = 0
        while true {
            let (reply, continues) = try watcher.receive(Tasks.Watch.self)
            if reply.event.kind == .output {
                lines += reply.event.text?.split(separator: "\n").count ?? 0
            }
            guard continues else {
                #expect(reply.event.kind == .ended)
                break
            }
        }
        #expect(lines == 30_000)
    }

    @Test("a reader that leaves its answers unread gets no more of them made")
    func unreadAnswers() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        for _ in 0..<200 { _ = try client.begin("a task with a name of some length") }
        let before = Processes.status("VmRSS", of: daemon.processID)
        let greedy = try RawConnection(daemon)
        let list = #"{"method":"org.bgtaskd.Tasks.List"}"# + "\0"
        try greedy.send(String(repeating: list, count: 2000))
        for _ in 0..<20 { try client.ask(SystemdService.Ping.self) }
        let grown = Processes.status("VmRSS", of: daemon.processID) - before
        #expect(grown < 40 << 10, "\(grown) KiB")
    }

    @Test("half messages over the owner's share do not wait for each other for ever")
    func halfMessages() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "limits.bufferBytesPerOwnerMax = 250000")
        let filler = String(repeating: "x", count: 170_000)
        let frame = #"{"method":"org.bgtaskd.Tasks.Begin","parameters":{"name":"\#(filler)"}}"#
        // What the daemon does not read fits into the sockets, so that no send waits.
        let connections = try (0..<3).map { _ in try RawConnection(daemon) }
        for connection in connections { try connection.send(String(frame.prefix(70_000))) }
        for connection in connections {
            try connection.send(String(frame.dropFirst(70_000)) + "\0")
        }
        let replies = try connections.map { try $0.nextReply() }
        let answered = replies.compactMap { $0?["error"] }
        #expect(answered.allSatisfy { $0 == .string(Tasks.LimitReached.name) })
        #expect((1...2).contains(answered.count))
        try daemon.waitForLog("bufferBytesPerOwnerMax (250000)")
    }

    @Test(
        "a call that came while there were no descriptors is answered when there are, with nobody closing"
    )
    func answeredAfterExhaustion() throws {
        let daemon = try DaemonProcess(.supervisor)
        func limitDescriptors(to soft: String) throws {
            let arguments = ["--pid", "\(daemon.processID)", "--nofile=\(soft):"]
            #expect(try Child("/usr/bin/prlimit", arguments).waitForEnd() == .status(0))
        }
        try limitDescriptors(to: "3")
        let client = try daemon.connect()
        try daemon.waitForLog("connections are not accepted for now")
        try limitDescriptors(to: "1000")
        try client.ask(SystemdService.Ping.self)
    }

    @Test("work that no execve could take is refused with the limit named")
    func hugeWork() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "limits.frameBytesMax = 16777216")
        let client = try daemon.connect()
        let huge = String(repeating: "x", count: 2_200_000)
        for size in [1, 3] {
            let refusal = try client.refusal(of: Tasks.Submit.self) { input in
                input.work.name = "huge"
                input.work.command = ["true"] + Array(repeating: huge, count: size)
            }
            let limit = try refusal.decode(Tasks.LimitReached.self)
            #expect(limit.limit == "workBytesMax")
        }
        let long = String(repeating: "a", count: 300)
        let refusal = try client.refusal(of: Tasks.Begin.self) {
            $0.name = "a"
            $0.application = long
        }
        #expect(refusal.name == Tasks.LimitReached.name)
    }
}
