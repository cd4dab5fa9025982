import Glibc
import TaskAPI
import Testing
import Varlink

/// Whether other users may run the programs of this build.
func isBuildFolderOpen() throws -> Bool {
    let child = try Child(
        "/usr/bin/setpriv", TestUser.backup.privileges + ["test", "-x", DaemonProcess.program])
    return try child.waitForEnd() == .status(0)
}

@Suite(
    "A daemon that is not root serves its own user alone",
    .enabled(if: geteuid() == 0, "only root can start it as another user"),
    .enabled("the build folder must be open to other users") { try isBuildFolderOpen() })
struct UnprivilegedTests {
    private static let user = TestUser.backup

    private static func start(scope: String) throws -> DaemonProcess {
        let folder = try TemporaryFolder.passable()
        return try DaemonProcess(.supervisor, in: folder, arguments: [scope], as: user)
    }

    @Test("its own user is served, and the commands run as that user")
    func own() throws {
        let daemon = try Self.start(scope: "--system")
        let client = try daemon.connect(as: Self.user)
        let id = try client.submit(["id", "-u"])
        #expect(try client.ended(id).outcome == .completed)
        #expect(try daemon.text(of: id, as: Self.user) == "34\n")
        let held = try client.begin()
        #expect(try client.ask(Tasks.End.self) { $0.id = held }.outcome == .completed)
        try client.ask(Manager.Reload.self)
        _ = try client.ask(Tasks.List.self) { $0.all = true }
    }

    @Test(
        "every method is refused to root and to any other user",
        arguments: [TestUser.root, .games, .nameless(20_101)])
    func others(stranger: TestUser) throws {
        let daemon = try Self.start(scope: "--system")
        let client = try daemon.connect(as: Self.user)
        let live = try client.begin()
        var told: Set<String> = []
        for method in AccessTable.rows.keys {
            for (id, all) in [(live, nil), (live, true), (888_888_888, nil), (nil, nil)] {
                let connection = try RawConnection(daemon, as: stranger)
                try connection.send(frame: AccessTable.call(method, id: id, all: all))
                let frame = try #require(try connection.nextFrame())
                told.insert(String(decoding: frame, as: UTF8.self))
            }
        }
        #expect(told.count == 1, "\(told)")
        #expect(told.first?.contains("org.varlink.service.PermissionDenied") == true)
        #expect(try client.show(live).state == .running)
    }

    @Test("the socket of the user scope is closed to others, and root is refused behind it")
    func userScope() throws {
        let daemon = try Self.start(scope: "--user")
        #expect(throws: TestUser.CannotConnect(user: "games", errno: EACCES)) {
            try TestUser.games.connect(to: daemon.socketPath)
        }
        let refusal = try daemon.connect(as: .root).refusal(of: SystemdService.Ping.self)
        #expect(ServiceError(refusal) == .permissionDenied)
        try daemon.connect(as: Self.user).ask(SystemdService.Ping.self)
    }
}
