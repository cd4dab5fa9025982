import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite(
    "Applications of several users",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct ApplicationPrivacyTests {
    private static let users: [TestUser] = [.games, .backup, .staff, .root]

    private static func daemon(_ settings: String = "") throws -> DaemonProcess {
        try .forEverybody(.supervisor, settings: DaemonProcess.staffOperates + settings)
    }

    private func reply(
        to call: String, of user: TestUser, _ daemon: DaemonProcess
    ) throws -> String {
        let connection = try RawConnection(daemon, as: user)
        try connection.send(frame: call)
        return String(decoding: try #require(try connection.nextFrame()), as: UTF8.self)
    }

    @Test("an application of another looks like one that never was, to operators too")
    func foreign() throws {
        let daemon = try Self.daemon()
        let games = try daemon.connect(as: .games)
        try games.register("mine-1")
        try games.order(Applications.Launch.self, "mine-1")
        let before = try games.application("mine-1")
        for (method, _) in UserTests.applicationMethods {
            for user in Self.users where user != .games {
                let told = try reply(
                    to: AccessTable.call(method, application: "mine-1"), of: user, daemon)
                let never = try reply(
                    to: AccessTable.call(method, application: "never1"), of: user, daemon)
                #expect(told == never.replacing("never1", with: "mine-1"), "\(method) by \(user)")
                #expect(told.contains("\"error\""), "\(method) by \(user)")
            }
        }
        let after = try games.application("mine-1")
        #expect(after.state == .active && after.pids == before.pids && after.badge == 0)
        #expect(try daemon.connect(as: .backup).ask(Applications.List.self).applications.isEmpty)
    }

    @Test("every method does its work for who owns the application", arguments: users)
    func own(owner: TestUser) throws {
        let daemon = try Self.daemon()
        let client = try daemon.connect(as: owner)
        for (number, (method, answer)) in UserTests.applicationMethods.enumerated() {
            let id = "own-\(number)"
            try client.register(id)
            let told = try reply(
                to: AccessTable.call(method, application: id), of: owner, daemon)
            let answered = Answer(try JSONDocument(parsing: Array(told.utf8)).value(at: 0))
            #expect(answered == answer, "\(method) by \(owner): \(told)")
        }
    }

    @Test("operators see and watch those of all where they ask for all; others may not")
    func all() throws {
        let daemon = try Self.daemon()
        let games = try daemon.connect(as: .games)
        try games.launch("app")
        let backup = try daemon.connect(as: .backup)
        try backup.launch("app")
        for user in [TestUser.staff, .root] {
            let client = try daemon.connect(as: user)
            #expect(try client.ask(Applications.List.self).applications.isEmpty)
            let all = try client.ask(Applications.List.self) { $0.all = true }.applications
            #expect(all.map(\.id) == ["app", "app"])
            #expect(Set(all.map(\.owner)) == [5, 34])
            try client.send(Applications.Watch.self, with { $0.all = true }, more: true)
            for _ in 0..<2 {
                #expect(try client.receive(Applications.Watch.self).output.event.state == .active)
            }
            try games.setBadge(Int(user.user) + 1, of: "app")
            let event = try client.receive(Applications.Watch.self).output.event
            #expect(event.badge == Int(user.user) + 1)
        }
        for name in [Applications.List.name, Applications.Watch.name] {
            let told = try reply(
                to: AccessTable.call(name, application: nil, all: true), of: .games, daemon)
            #expect(told.contains("PermissionDenied"))
        }
        // Each has one of that name in front, and neither sent the other away.
        #expect(try games.application("app").state == .active)
        #expect(try backup.application("app").state == .active)
    }

    @Test("an application runs as its owner, and memory pressure by a user is for their own alone")
    func runsAsOwner() throws {
        let daemon = try Self.daemon("applications.suspendAfter = \"20ms\"\n")
        let users: [TestUser] = [.games, .backup]
        for user in users {
            let client = try daemon.connect(as: user)
            let application = try client.launch("app")
            #expect(application.owner == Int(user.user))
            let main = pid_t(try #require(application.pids.first))
            #expect(Processes.status("Uid", of: main) == Int(user.user))
            #expect(Processes.status("Gid", of: main) == Int(user.group))
            try client.suspend("app")
        }
        let games = try daemon.connect(as: .games)
        let own = try games.ask(Applications.SimulateMemoryPressure.self) { $0.count = 9 }
        #expect(own.terminated == ["app"])
        #expect(try daemon.connect(as: .backup).application("app").state == .suspended)
        let root = try daemon.connect(as: .root)
        let rest = try root.ask(Applications.SimulateMemoryPressure.self) { $0.count = 9 }
        #expect(rest.terminated == ["app"])
        try daemon.connect(as: .backup).waitForState(.notRunning, of: "app")
    }
}
