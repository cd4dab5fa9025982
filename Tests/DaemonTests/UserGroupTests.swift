import Glibc
import TaskAPI
import Testing
import Varlink

@Suite(
    "access.users",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct UserGroupTests {
    @Test("whoever is neither in the group nor an operator nor root is refused every method")
    func denied() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "access.users = \"staff\"\naccess.operators = \"games\"")
        // In the group by a supplementary one and by their own, an operator, and root.
        for user in [TestUser.staff, .sysStaff, .games, .root] {
            let client = try daemon.connect(as: user)
            #expect(try client.ended(client.submit(["true"])).outcome == .completed, "\(user)")
        }
        for user in [TestUser.backup, .nameless(20_101)] {
            var told: Set<String> = []
            for method in AccessTable.rows.keys {
                let connection = try RawConnection(daemon, as: user)
                try connection.send(frame: AccessTable.call(method, id: 1))
                let frame = try #require(try connection.nextFrame())
                told.insert(String(decoding: frame, as: UTF8.self))
            }
            #expect(told.count == 1, "\(told)")
            #expect(told.first?.contains("org.varlink.service.PermissionDenied") == true)
        }
        try daemon.waitForLog("a call of a user who may not use bgtaskd was refused")
        // Ten a second at most for each user, and the rest as a number.
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("may not use bgtaskd") }
        #expect(lines.count <= 2 * AccessTable.rows.count)
    }

    @Test("a group or a user that there is not keeps the daemon from starting")
    func unknown() throws {
        for settings in [
            "access.users = \"no-such-group\"", "access.confinedUsers = [\"no-such-user\"]",
            "access.unlimitedUsers = [\"no-such-user\"]",
        ] {
            let error = #expect(throws: DaemonProcess.DoesNotServe.self) {
                try DaemonProcess.forEverybody(.supervisor, settings: settings)
            }
            let key = settings.prefix { $0 != " " }
            #expect(error?.log.contains("\(key): look up") == true, "\(String(describing: error))")
        }
    }
}
