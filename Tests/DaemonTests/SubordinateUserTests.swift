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
