import Glibc
import TaskAPI
import Testing
import Varlink

@Suite(
    "Many tasks of many users", .serialized,
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct ManyUsersTests {
    /// Ten users whom no database knows.
    private static let users = (20_001...20_010).map { TestUser.nameless($0) }

    @Test(
        "10,000 tasks of 10 users leave no descriptor, thread, group or process, and no memory",
        arguments: ContainmentMode.available)
    func manyTasks(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode, settings: LeakTests.settings)
        let client = try daemon.connect()
        // Pools and buffers have their size after the first of each kind; so has what is kept of users.
        for user in Self.users { try Self.work(held: 200, run: 50, as: user, daemon) }
        try Self.waitUntilAlone(daemon, client)
        try eventually("all is cleared away") { DaemonUse(daemon).children == 0 }
        let before = DaemonUse(daemon)
        let memory = Processes.status("VmRSS", of: daemon.processID)

        for _ in 0..<4 {
            for user in Self.users { try Self.work(held: 200, run: 50, as: user, daemon) }
        }
        try Self.waitUntilAlone(daemon, client)
        try eventually("all is cleared away: \(before), \(DaemonUse(daemon))") {
            DaemonUse(daemon).isAtMost(before, idleMax: 16)
        }
        let growth = Processes.status("VmRSS", of: daemon.processID) - memory
        #expect(growth < 3 << 10, "grown by \(growth) KiB")
        #expect(daemon.taskProcesses() == [])
        #expect(Self.processes(of: Self.users) == [])
        #expect(try client.counter("tasks_live") == 0)
        #expect(try client.counter("tasks_queued") == 0)
    }

    /// One user's share: tasks that are ended, abandoned, run, not found and cancelled.
    private static func work(
        held: Int, run: Int, as user: TestUser, _ daemon: DaemonProcess
    ) throws {
        let client = try daemon.connect(as: user)
        try FloodTests.beginAndEnd(held / 2, on: client)
        for _ in 0..<held / 2 { try client.send(Tasks.Begin.self, with { $0.name = "left" }) }
        for _ in 0..<held / 2 { _ = try client.receive(Tasks.Begin.self) }
        let commands = [
            ["true"], ["id"], ["no-such-program"], ["sh", "-c", "sleep 1000 & exit 3"],
            ["sleep", "1000"],
        ]
        let ids = try (0..<run).map { try client.submit(commands[$0 % commands.count]) }
        for (number, id) in ids.enumerated() {
            if number % commands.count == 4 { _ = try client.ask(Tasks.Cancel.self) { $0.id = id } }
            try LeakTests.waitForEnd(of: id, on: client)
        }
    }

    private static func waitUntilAlone(_ daemon: DaemonProcess, _ client: VarlinkClient) throws {
        try eventually("one connection is left") { try client.counter("connections") == 1 }
        try eventually("all are abandoned") { try client.counter("tasks_live") == 0 }
    }

    /// The processes of users who have none but those of the tests; what has ended and is init's to
    /// reap is not counted.
    private static func processes(of users: [TestUser]) -> [pid_t] {
        let numbers = Set(users.map { Int($0.user) })
        return Files.names("/proc").compactMap { pid_t($0) }.filter {
            numbers.contains(Processes.status("Uid", of: $0))
                && Processes.isAlive($0)
        }
    }
}
