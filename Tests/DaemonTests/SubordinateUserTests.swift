import Glibc
import TaskAPI
import Testing
import Varlink

@Suite(
    "Users with subordinate uids, and connections that are used up",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct SubordinateUserTests {
    private static let alice = TestUser.games
    private static let bob = TestUser.backup

    /// A subordinate uid of alice's.
    private static func subordinate(_ number: UInt32) -> TestUser { .nameless(200_000 + number) }

    private static let lines = "\(alice.name):200000:1000\n"

    private func daemon(
        _ settings: String, _ lines: String = SubordinateUserTests.lines
    ) throws -> DaemonProcess {
        let folder = try TemporaryFolder.passable()
        try Files.write(lines, to: folder.path + "/subuid")
        return try DaemonProcess(
            .supervisor, settings: settings, in: folder, arguments: ["--system"],
            environment: ["BGTASKD_SUBUID_FILE=\(folder.path)/subuid"])
    }

    /// Connects, and waits until that is answered.
    private func connect(_ user: TestUser, to daemon: DaemonProcess) throws -> VarlinkClient {
        let client = try daemon.connect(as: user)
        try client.ask(SystemdService.Ping.self)
        return client
    }

    @Test("subordinate uids have the connections of their user, and no more")
    func limit() throws {
        let daemon = try daemon("limits.clientsPerOwnerMax = 8")
        var clients = [try connect(Self.alice, to: daemon)]
        for number in UInt32(0)..<7 {
            clients.append(try connect(Self.subordinate(number), to: daemon))
        }
        #expect(throws: (any Error).self) { try connect(Self.subordinate(100), to: daemon) }
        #expect(throws: (any Error).self) { try connect(Self.alice, to: daemon) }
        try daemon.waitForLog("clientsPerOwnerMax (8)")
        clients.append(try connect(Self.bob, to: daemon))
        for client in clients { try client.ask(SystemdService.Ping.self) }
        // They see no more of each other than strangers do.
        let id = try clients[1].begin("mine")
        #expect(try clients[2].ask(Tasks.List.self).tasks?.count ?? 0 == 0)
        #expect(
            try clients[0].refusal(of: Tasks.Show.self) { $0.id = id }.name
                == Tasks.NoSuchTask.name)
    }

    @Test(
        "where all connections are used up another user's first one is let in, and who has most loses one"
    )
    func firstConnection() throws {
        let daemon = try daemon("limits.clientsMax = 8")
        let alices = try (0..<8).map { try connect(Self.subordinate($0), to: daemon) }
        let bobs = try connect(Self.bob, to: daemon)
        try daemon.waitForLog("clientsMax (8), and user 34 had none")
        let left = alices.filter { (try? $0.ask(SystemdService.Ping.self)) != nil }
        #expect(left.count == 7)
        #expect((try? alices[7].ask(SystemdService.Ping.self)) == nil)
        // Neither gets a second one.
        #expect(throws: (any Error).self) { try connect(Self.bob, to: daemon) }
        #expect(throws: (any Error).self) { try connect(Self.subordinate(500), to: daemon) }
        // Root has a reserve, for which nobody loses anything.
        let roots = try connect(.root, to: daemon)
        for client in left + [bobs, roots] { try client.ask(SystemdService.Ping.self) }
    }

    @Test("what their tasks print takes the room in the log that their user has")
    func outputInLog() throws {
        let daemon = try daemon("limits.logRatePerOwnerMax = 10\nqueue.slots = 30")
        let clients = try (0..<20).map { try connect(Self.subordinate($0), to: daemon) }
        // Together, so that some fall into one second however slow the machine is.
        let go = Go(daemon)
        let tasks = try clients.map { try $0.submit(go.command("seq 1001 1010")) }
        try go.give()
        for (client, id) in zip(clients, tasks) { _ = try client.ended(id) }
        var logged = 0
        try eventually("all are logged or counted; the log says:\n\(daemon.log)") {
            let lines = daemon.log.split(separator: "\n")
            logged = lines.count { $0.contains("info 10") }
            return logged + daemon.leftOut("output were not logged") == 200
        }
        #expect(logged < 200)
    }

    @Test("entries about their tasks count among those about their user's")
    func entries() throws {
        let daemon = try daemon("limits.auditRatePerOwnerMax = 5")
        let clients = try (0..<20).map { try connect(Self.subordinate($0), to: daemon) }
        for client in clients {
            for _ in 0..<5 { _ = try client.call(Tasks.End.self, Tasks.End.Input()) }
        }
        var logged = 0
        try eventually("all are logged or counted; the log says:\n\(daemon.log)") {
            let lines = daemon.log.split(separator: "\n")
            logged = lines.count { $0.contains("The invalid task 0 was ended") }
            let missed = lines.filter { $0.contains("were not logged") }
            #expect(missed.allSatisfy { $0.contains("BGTASK_OWNER=\(Self.alice.user) ") })
            return logged + daemon.leftOut("were not logged") == 100
        }
        #expect(logged < 100)
    }

    @Test("what their ended tasks have printed makes room for their user's, not for another's")
    func keptOutput() throws {
        let daemon = try daemon("limits.outputTotalBytesMax = 20000\nstore.outputBytesMax = 0")
        func ended(_ user: TestUser, _ bytes: Int) throws -> Int {
            let client = try connect(user, to: daemon)
            let id = try client.submit(["head", "-c", "\(bytes)", "/dev/zero"])
            #expect(try client.ended(id).outcome == .completed)
            return id
        }
        let kept = try ended(Self.bob, 6000)
        let tasks = try (0..<10).map { try ended(Self.subordinate($0), 4000) }
        #expect(try daemon.text(of: kept, as: Self.bob).utf8.count == 6000)
        #expect(
            try daemon.output(of: tasks[0], as: Self.subordinate(0)).compactMap(\.dropped) == [4000]
        )
        #expect(try daemon.text(of: tasks[9], as: Self.subordinate(9)).utf8.count == 4000)
    }

    @Test("uids that are given to a user while the daemon runs count as that user's")
    func changed() throws {
        let daemon = try daemon("", "")
        let alice = try connect(Self.alice, to: daemon)
        #expect(try connect(Self.subordinate(1), to: daemon).counter("connections") == 1)
        try Files.write(Self.lines, to: daemon.folder.path + "/subuid")
        try eventually("the file is read") {
            try connect(Self.subordinate(2), to: daemon).counter("connections") == 2
        }
        try alice.ask(SystemdService.Ping.self)
    }
}
