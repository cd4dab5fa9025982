import CTestUsers
import Glibc
import TaskAPI
import Testing
import Varlink

extension DaemonProcess {
    /// Where the sockets are at which tasks speak to the daemon.
    var noticeFolder: String { socketPath + ".notify" }

    /// The sockets in it, without those that are on their way out.
    var noticeSockets: [String] {
        Files.names(noticeFolder).filter { !$0.contains(".removed-") }
    }

    /// Runs systemd-notify for a socket, as this user or as the tests' own.
    ///
    /// - Returns: whether the daemon has taken what it said.
    func notify(_ path: String, _ arguments: String..., as user: TestUser? = nil) throws -> Bool {
        let command = ["/usr/bin/systemd-notify"] + arguments
        let prefix = user.map { ["/usr/bin/setpriv"] + $0.privileges } ?? []
        let child = try Child(
            (prefix + command)[0], Array((prefix + command).dropFirst()),
            environment: ["PATH=/usr/bin:/bin", "NOTIFY_SOCKET=" + path])
        return try child.waitForEnd() == .status(0)
    }

    /// Waits until a task has printed where it speaks to the daemon.
    func noticePath(of id: Int, as user: TestUser? = nil) throws -> String {
        try waitForOutput("\n", of: id, as: user)
        return String(try text(of: id, as: user).prefix { $0 != "\n" })
    }
}

/// Messages to a task's socket that systemd-notify does not send.
enum Notice {
    /// Sends a message with copies of the end of a pipe, and waits until the daemon has closed them all.
    static func send(_ text: String, to path: String, copies: Int = 1) throws {
        let bytes = Array(text.utf8)
        let end = test_send_datagram(path, bytes, bytes.count, copies)
        guard end >= 0 else { throw NotSent(errno: errno) }
        defer { close(end) }
        try eventually("nobody has the pipe any more") {
            var wanted = pollfd(fd: end, events: 0, revents: 0)
            return poll(&wanted, 1, 0) > 0
        }
    }

    struct NotSent: Error {
        let errno: Int32
    }
}

@Suite("Run tasks that speak to the daemon with systemd-notify", .timeLimit(.minutes(10)))
struct NoticeTests {
    /// What a watcher is told of one task until its end, but for what it prints.
    private static func events(
        of id: Int, _ daemon: DaemonProcess, whileRunning act: () throws -> Void
    ) throws -> [Tasks.Event] {
        let watcher = try daemon.connect()
        try watcher.send(Tasks.Watch.self, with { $0.id = id }, more: true)
        var events = [try watcher.receive(Tasks.Watch.self).output.event]
        try act()
        while events.last?.kind != .ended {
            events.append(try watcher.receive(Tasks.Watch.self).output.event)
        }
        return events
    }

    @Test(
        "a script says how far it is and extends itself up to its lifetime limit, seen in a watch",
        arguments: ContainmentMode.available)
    func script(mode: ContainmentMode) throws {
        let profile = """
            [profiles.steps]
            duration = "60s"
            grace = "30s"
            lifetimeMax = "110s"
            """
        let daemon = try DaemonProcess(mode, settings: profile)
        let client = try daemon.connect()
        let script = """
            trap 'exit 7' TERM
            while ! [ -e go ]; do sleep 0.05; done
            systemd-notify --status='step 1' EXTEND_TIMEOUT_USEC=70000000
            systemd-notify --ready --status='step 2' EXTEND_TIMEOUT_USEC=600000000
            systemd-notify --status='step 3' EXTEND_TIMEOUT_USEC=600000000
            sleep 1000 & wait
            """
        let id = try client.submit(script: script) {
            $0.profile = "steps"
            $0.directory = daemon.folder.path
        }
        let events = try Self.events(of: id, daemon) {
            try Files.write("", to: daemon.folder.path + "/go")
            try eventually("all steps are told") { try client.show(id).status == "step 3" }
            _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        }
        let told = events.drop { $0.kind != .status }
        try #require(
            told.map(\.kind) == [
                .status, .extended, .status, .extended, .status, .expiring, .ended,
            ])
        #expect(told.filter { $0.kind == .status }.map(\.text) == ["step 1", "step 2", "step 3"])
        let bounds = told.filter { $0.kind == .extended }.map(\.task.remaining?.bound)
        #expect(bounds == [.ownBudget, .lifetimeLimit])
        let task = try #require(told.last?.task)
        #expect(task.outcome == .expired)
        #expect(task.exit?.status == 7)
        #expect(task.status == "step 3")
        #expect(try client.show(id).status == "step 3")
        #expect(!daemon.log.contains("step 2"), "a status is no entry of the log")
    }

    @Test(
        "the last words of a task stay with it, and its handler's command speaks for it too",
        arguments: ContainmentMode.available)
    func lastWords(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        for round in 1...20 {
            let id = try client.submit([
                "systemd-notify", "--no-block", "--status=last words \(round)",
            ])
            #expect(try client.ended(id).status == "last words \(round)")
        }
        let id = try client.submit(script: "echo ready; exec sleep 1000") {
            $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000)
            $0.expiration = Tasks.ExpirationHandler(
                signal: "", command: ["systemd-notify", "--status=told to end"])
        }
        try daemon.waitForOutput("ready", of: id)
        #expect(try client.show(id).status == nil)
        try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        try eventually("the handler has spoken") { try client.show(id).status == "told to end" }
    }

    @Test("a task speaks to the daemon alone, not to the keeper of the daemon or of its submitter")
    func environment() throws {
        let folder = try TemporaryFolder()
        let manager = try NotifySocket(in: folder)
        let daemon = try DaemonProcess(
            .supervisor, in: folder, environment: ["NOTIFY_SOCKET=" + manager.path])
        let client = try daemon.connect()
        let id = try client.submit(script: "echo $NOTIFY_SOCKET") {
            $0.environment = ["NOTIFY_SOCKET": manager.path]
        }
        #expect(try daemon.noticePath(of: id) == daemon.noticeFolder + "/1")
    }

    @Test("a flood of 20,000 messages keeps nobody from anything, and its last word is known")
    func flood() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 8")
        let client = try daemon.connect()
        let flood = """
            use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0) or die;
            connect(S, sockaddr_un($ENV{NOTIFY_SOCKET})) or die;
            select(undef, undef, undef, 0.01) until -e "go";
            until ($i >= 20000 && -e "stop") { send(S, "STATUS=" . ++$i, 0) or die }
            print $i;
            """
        let id = try client.submit(["perl", "-e", flood]) { $0.directory = daemon.folder.path }
        let events = try Self.events(of: id, daemon) {
            try Files.write("", to: daemon.folder.path + "/go")
            try eventually("the flood has begun") { try client.show(id).status != nil }
            for round in 1...20 {
                let held = try client.begin()
                try client.ask(Tasks.End.self) { $0.id = held }
                let other = try client.submit(["systemd-notify", "--status=\(round)"])
                #expect(try client.ended(other).status == "\(round)")
            }
            try Files.write("", to: daemon.folder.path + "/stop")
        }
        let sent = try #require(Int(daemon.text(of: id)))
        let ended = try #require(events.last?.task)
        #expect(ended.outcome == .completed)
        #expect(ended.status == "\(sent)")
        let told = events.filter { $0.kind == .status }
        #expect(told.count < sent, "of several messages in a turn the newest is told")
        let numbers = told.compactMap { $0.text.flatMap { Int($0) } }
        #expect(numbers == numbers.sorted() && numbers.last == sent)
    }

    @Test("descriptors that come along are closed, however many, and too long a message is dropped")
    func descriptors() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(script: "echo $NOTIFY_SOCKET; exec sleep 1000")
        let path = try daemon.noticePath(of: id)
        try eventually("one connection is left") { try client.counter("connections") == 1 }
        let before = try daemon.settledDescriptorCount()
        for copies in [1, 2, 253] {
            try Notice.send("STATUS=\(copies)", to: path, copies: copies)
            #expect(try client.show(id).status == "\(copies)")
        }
        let long = "STATUS=" + String(repeating: "x", count: 4090)
        try Notice.send(long, to: path)
        #expect(try client.show(id).status == "253")
        try daemon.waitForLog("it is longer than 4096 bytes")
        try Notice.send(String(long.dropLast()), to: path)
        #expect(try client.show(id).status?.utf8.count ?? 0 > 1000)
        try eventually("no descriptor more is open than before") {
            Processes.descriptorCount(of: daemon.processID) <= before
        }
    }
}
