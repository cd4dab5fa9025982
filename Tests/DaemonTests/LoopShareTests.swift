import Glibc
import JSON
import TaskAPI
import TestKit
import Testing
import Varlink

/// What one user can have the daemon's one loop do, with all that may be registered: counted in system calls, parts
/// and order, and not in time.
@Suite("What one user's work takes of the loop", .serialized)
struct LoopShareTests {
    /// Reads that the daemon has made since its start.
    private static func readCount(_ daemon: DaemonProcess) throws -> Int {
        try #require(ProcessStat.readCount(Files.text("/proc/\(daemon.processID)/io")))
    }

    @Test(
        "whose process a connection is costs no look at all applications for each reader",
        arguments: ContainmentMode.available)
    func frozenApplications(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(
            mode,
            settings: """
                applications.suspendAfter = "0s"
                applications.foreground = "multiple"
                """)
        let client = try daemon.connect()
        let applications = 20
        for number in 0..<applications {
            try client.launch("frozen\(number)")
            try client.order(Applications.EnterBackground.self, "frozen\(number)")
        }
        for number in 0..<applications {
            try client.waitForState(.suspended, of: "frozen\(number)")
        }
        try client.launch("talker")
        let watch = callText(
            Applications.Watch.name, .object([("id", .string("talker"))]), flags: ",\"more\":true")
        let idle = try (0..<20).map { _ in try RawConnection(daemon) }
        for reader in idle { try reader.send(frame: watch) }
        let payload = JSONValue.object([("text", .string(String(repeating: "x", count: 4000)))])
        // More than their sockets take, and less than what cuts them off.
        for _ in 0..<120 {
            _ = try client.push(.alert, to: "talker") { $0.payload = payload }
        }
        for turn in 0..<3 {
            try client.register("new\(turn)")
            try client.order(Applications.Launch.self, "new\(turn)")
            let before = try Self.readCount(daemon)
            _ = try client.push(.alert, to: "talker") { $0.payload = payload }
            try client.ask(SystemdService.Ping.self)
            let reads = try Self.readCount(daemon) - before
            #expect(reads < 2 * idle.count, "one event for 20 readers")
        }
        #expect(try client.counter("slow_readers_total") == 0)
        withExtendedLifetime(idle) {}
    }

    @Test(
        "an adoption looks at all processes once, whatever it names, and 16 units at most",
        .enabled(if: geteuid() == 0 && ContainmentMode.whyNoCgroup == nil))
    func adoption() throws {
        let daemon = try DaemonProcess(.cgroup)
        let client = try daemon.connect()
        let units = try ScratchUnits(count: 17)
        let crowd = try (0..<200).map { _ in try Child("/bin/sleep", ["1000"]) }
        defer { for child in crowd { child.signal(SIGKILL) } }
        let given = try units.startOneEach()
        let processCount = Files.names("/proc").count { Int($0) != nil }
        let before = try Self.readCount(daemon)
        // Who has made no unit is not asked about one, and so it ends there.
        let refused = try client.refusal(of: Applications.Adopt.self) {
            $0.id = "app"
            $0.pids = Array(given.prefix(16))
        }
        #expect(refused.name == Applications.CannotContain.name, "\(refused)")
        let reads = try Self.readCount(daemon) - before
        #expect(reads < 3 * processCount + 500, "of \(processCount) processes: \(refused)")
        let many = try client.refusal(of: Applications.Adopt.self) {
            $0.id = "app"
            $0.pids = given
        }
        #expect("\(many)".contains("16 units at most"), "\(many)")
    }

    @Test(
        "adoptions that come together are answered one after the other, and those who left are not",
        .enabled(if: geteuid() == 0 && ContainmentMode.whyNoCgroup == nil))
    func manyAdoptions() throws {
        let daemon = try DaemonProcess.forEverybody(.cgroup)
        let client = try daemon.connect()
        let call = { (id: String) in
            callText(
                Applications.Adopt.name,
                .object([("id", .string(id)), ("pids", .array([.integer(Int(getpid()))]))]))
        }
        var left = try (0..<50).map { _ in try RawConnection(daemon, as: .games) }
        for (number, connection) in left.enumerated() {
            try connection.send(frame: call("left\(number)"))
        }
        left = []
        let staying = try (0..<50).map { _ in try RawConnection(daemon, as: .games) }
        for (number, connection) in staying.enumerated() {
            try connection.send(frame: call("app\(number)"))
        }
        for connection in staying {
            let reply = try connection.nextReply()
            #expect("\(try #require(reply))".contains("has no such process"))
        }
        try eventually("they are gone") { try client.counter("connections") == 51 }
        let again = try client.refusal(of: Applications.Adopt.self) {
            $0.id = "app"
            $0.pids = [Int(getpid())]
        }
        #expect(again.name == Applications.CannotContain.name)
    }

    @Test(
        "what a task prints is told to 200 watchers alike, a part in a turn",
        arguments: ContainmentMode.available)
    func outputForMany(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(
            mode, settings: "limits.bufferBytesPerOwnerMax = 268435456")
        let client = try daemon.connect(as: .games)
        let fifo = daemon.folder.path + "/go"
        mkfifo(fifo, 0o666)
        chmod(fifo, 0o666)
        // Each of these bytes is six in JSON.
        let id = try client.submit(
            script: "read line < \(fifo); for i in 1 2 3; do head -c 20000 /dev/zero |"
                + " tr '\\0' '\\1'; echo $i; done")
        let watch = callText(
            Tasks.Watch.name, .object([("id", .integer(id)), ("output", .bool(true))]),
            flags: ",\"more\":true")
        let watchers = try (0..<200).map { _ in try RawConnection(daemon, as: .games) }
        for watcher in watchers { try watcher.send(frame: watch) }
        for watcher in watchers { #expect(try watcher.nextFrame() != nil) }
        try Files.write("\n", to: fifo)
        let frames = try Self.frames(of: watchers[0])
        for watcher in watchers.dropFirst() {
            #expect(try Self.frames(of: watcher) == frames, "one has other events than the first")
        }
        let first = try frames.map(Self.event)
        #expect(first.map(\.number) == Array(2..<2 + first.count))
        #expect(first.last?.kind == .ended)
        let text = first.compactMap(\.text).joined()
        #expect(text.filter { $0 == "\u{1}" }.count == 60_000)
        #expect(text.filter { $0 != "\u{1}" && $0 != "\n" } == "123")
        let root = try daemon.connect()
        #expect(try root.counter("slow_readers_total") == 0)
        #expect(try #require(try root.counter("events_waited_total")) > 0)
    }

    /// All replies to a watch behind the first.
    private static func frames(of watcher: RawConnection) throws -> [[UInt8]] {
        let more = Array(#","continues":true}"#.utf8)
        var frames: [[UInt8]] = []
        repeat {
            frames.append(try #require(try watcher.nextFrame()))
        } while frames.suffix(1)
            .contains { $0.suffix(more.count) == more[...] }
        return frames
    }

    private static func event(in frame: [UInt8]) throws -> Tasks.Event {
        let parameters = try JSONDocument(parsing: frame).value(at: 0)["parameters"]
        return try RemoteError(name: "", parameters: try #require(parameters))
            .decode(Tasks.Watch.Output.self).event
    }

    @Test("events of many tasks reach 300 watchers in order, and the owner's calls wait for them")
    func eventsForMany() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "limits.bufferBytesPerOwnerMax = 268435456")
        let watch = callText(Tasks.Watch.name, .object([]), flags: ",\"more\":true")
        let watchers = try (0..<300).map { _ in try RawConnection(daemon, as: .games) }
        for watcher in watchers { try watcher.send(frame: watch) }
        let client = try daemon.connect(as: .games)
        try eventually("all watch") {
            let id = try client.begin("probe")
            try client.ask(Tasks.End.self) { $0.id = id }
            return try watchers.allSatisfy { try $0.hasFrame() }
        }
        let count = 100
        for _ in 0..<count {
            try client.send(Tasks.Begin.self, with { $0.name = "task" })
        }
        let ids = try (0..<count).map { _ in try client.receive(Tasks.Begin.self).output.id }
        for id in ids { try client.ask(Tasks.End.self) { $0.id = id } }
        for watcher in watchers {
            var seen: [Int] = []
            var numberLast = 0
            while seen.count < count {
                let event = try Self.event(in: try #require(try watcher.nextFrame()))
                if numberLast > 0 { #expect(event.number == numberLast + 1) }
                numberLast = event.number
                if event.kind == .ended, event.task.name == "task" { seen.append(event.task.id) }
            }
            #expect(seen == ids)
        }
        #expect(try #require(try daemon.connect().counter("events_waited_total")) > 0)
    }

    @Test("a list of applications is whole, though it is made piece by piece")
    func applications() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let ids = (100..<200).map { "app\($0)" }
        for id in ids { try client.register(id, nil) }
        let lists = try (0..<10).map { _ in try daemon.connect() }
        for other in lists { try other.send(Applications.List.self, Applications.List.Input()) }
        for other in lists {
            let listed = try other.receive(Applications.List.self).output.applications
            #expect(listed.map(\.id) == ids)
        }
        let watch = try daemon.connect()
        try watch.send(Applications.Watch.self, Applications.Watch.Input(), more: true)
        for (number, id) in ids.enumerated() {
            let event = try watch.receive(Applications.Watch.self).output.event
            #expect(event.application == id)
            #expect(event.number == number + 1)
        }
    }
}

/// Groups at the top of the hierarchy, named as a service manager names those of its units.
private final class ScratchUnits {
    private let folder: String
    private let count: Int
    private var children: [Child] = []

    init(count: Int) throws {
        let lines = Files.text("/proc/mounts").split(separator: "\n")
        let mount = lines.map { $0.split(separator: " ") }.first {
            $0.count > 2 && $0[2] == "cgroup2"
        }
        folder = "\(try #require(mount)[1])/loopshare\(getpid()).slice"
        self.count = count
        mkdir(folder, 0o755)
        for number in 0..<count { mkdir(unit(number), 0o755) }
    }

    deinit {
        try? Files.write("1", to: folder + "/cgroup.kill")
        try? eventually("nobody is left") {
            Files.text(folder + "/cgroup.events").contains("populated 0")
        }
        for number in 0..<count { rmdir(unit(number)) }
        rmdir(folder)
    }

    private func unit(_ number: Int) -> String { "\(folder)/u\(number).scope" }

    func move(_ processID: pid_t, _ number: Int) throws {
        try Files.write("\(processID)", to: unit(number) + "/cgroup.procs")
    }

    /// Starts a process in each.
    func startOneEach() throws -> [Int] {
        for number in 0..<count {
            let child = try Child("/bin/sleep", ["1000"])
            children.append(child)
            try move(child.processID, number)
        }
        return children.map { Int($0.processID) }
    }
}
