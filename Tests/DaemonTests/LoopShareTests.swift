import Glibc
import TaskAPI
import Testing
import Varlink

/// What one user can have the daemon's one loop do, with all that may be registered: counted in system calls, parts
/// and order, and not in time.
@Suite("What one user's work takes of the loop", .serialized)
struct LoopShareTests {
    /// Reads that the daemon has made since its start (proc_pid_io(5)).
    private static func readCount(_ daemon: DaemonProcess) throws -> Int {
        let lines = Files.text("/proc/\(daemon.processID)/io").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("syscr:") })
        return try #require(Int(line.split(separator: " ").last ?? ""))
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
            #expect("\(try #require(reply))".contains("it belongs to user 0"))
        }
        try eventually("they are gone") { try client.counter("connections") == 51 }
        let again = try client.refusal(of: Applications.Adopt.self) {
            $0.id = "app"
            $0.pids = [Int(getpid())]
        }
        #expect(again.name == Applications.CannotContain.name)
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
