import Glibc
import TaskAPI
import Testing
import Varlink

/// A daemon with a user database of its own, which a test changes under it.
final class DaemonWithAccounts {
    private(set) var daemon: DaemonProcess
    /// Those before it: with their values the groups go that they share with their successor.
    private var killed: [DaemonProcess] = []
    private let mode: ContainmentMode
    private let folder: TemporaryFolder

    static let dave = TestUser(name: "dave", user: 1500, group: 1500, groups: [1500, 1503])

    /// More than the daemon trusts an answer of the user database for.
    static let laterMs = 6_000

    init(_ mode: ContainmentMode) throws {
        self.mode = mode
        folder = try TemporaryFolder.passable()
        for name in ["passwd", "group", "shadow"] {
            try Files.write(Files.text("/etc/" + name), to: folder.path + "/" + name)
            chmod(folder.path + "/" + name, 0o644)
        }
        daemon = try Self.start(mode, folder)
        try set()
    }

    /// Writes the entries of the user 1500 anew.
    func set(
        name: String? = "dave", isInSecret: Bool = true, expiry: String = ""
    ) throws {
        func write(_ file: String, _ entries: [String]) throws {
            let all = [Files.text("/etc/" + file)] + entries.map { $0 + "\n" }
            try Files.write(all.joined(), to: folder.path + "/" + file)
        }
        try write("passwd", name.map { ["\($0):x:1500:1500::/:/bin/sh"] } ?? [])
        try write("shadow", name.map { ["\($0):!:19000:0:99999:7::\(expiry):"] } ?? [])
        let member = isInSecret ? name ?? "" : ""
        try write("group", ["own1500:x:1500:", "secret1503:x:1503:\(member)"])
    }

    func connect(as user: TestUser = dave) throws -> VarlinkClient {
        try daemon.connect(as: user)
    }

    func text(of id: Int) throws -> String { try daemon.text(of: id, as: Self.dave) }

    /// Ends the daemon at once, and starts the next.
    func restart() throws {
        try daemon.kill()
        killed.append(daemon)
        daemon = try Self.start(mode, folder)
    }

    private static func start(
        _ mode: ContainmentMode, _ folder: TemporaryFolder
    ) throws -> DaemonProcess {
        let mounts = ["passwd", "group", "shadow"].map {
            "mount --bind \(folder.path)/\($0) /etc/\($0) && "
        }
        // The test's own process is in another mount namespace.
        return try DaemonProcess(
            mode, settings: "access.confinedUsers = [0, 1500, 1501]", in: folder,
            arguments: ["--system"],
            within: [
                "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                mounts.joined() + "exec \"$0\" \"$@\"",
            ])
    }
}

@Suite(
    "What is started has the rights that its submitter has now",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct AccountTests {
    private static func delayed(_ work: inout Tasks.Work) {
        work.earliestBeginMs = DaemonWithAccounts.laterMs
    }

    @Test(
        "a group that was taken away since is not given, after a restart either",
        arguments: ContainmentMode.available)
    func group(mode: ContainmentMode) throws {
        let accounts = try DaemonWithAccounts(mode)
        let client = try accounts.connect()
        let now = try client.submit(["id", "-G"])
        #expect(try client.ended(now).outcome == .completed)
        #expect(try accounts.text(of: now) == "1500 1503\n")
        let delayed = try client.submit(["id", "-G"], Self.delayed)
        try accounts.set(isInSecret: false)
        #expect(try client.ended(delayed).outcome == .completed)
        #expect(try accounts.text(of: delayed) == "1500\n")

        try accounts.set()
        let kept = try client.submit(["id", "-G"], Self.delayed)
        try accounts.restart()
        try accounts.set(isInSecret: false)
        let next = try accounts.connect()
        #expect(try next.ended(kept).outcome == .completed)
        #expect(try accounts.text(of: kept) == "1500\n")
    }

    @Test("what the account before it submitted is not for an account that has its uid now")
    func reused() throws {
        let accounts = try DaemonWithAccounts(.supervisor)
        let client = try accounts.connect()
        func fill(_ work: inout Tasks.Work) {
            work.environment = ["TOKEN": "secret"]
            work.input = "aGVsbG8="
        }
        let ended = try client.submit(["cat"], fill)
        #expect(try client.ended(ended).outcome == .completed)
        let live = try client.submit(["cat"]) {
            fill(&$0)
            $0.paused = true
        }
        #expect(
            try client.ask(Tasks.ShowSubmission.self) { $0.id = ended }.work.environment?["TOKEN"]
                == "secret")
        try accounts.set(name: "erin")
        try accounts.restart()
        let next = try accounts.connect()
        for id in [ended, live] {
            let shown = try next.refusal(of: Tasks.ShowSubmission.self) { $0.id = id }
            #expect(shown == .noSuchTask(id))
        }
        let again = try next.refusal(of: Tasks.Restart.self) { $0.id = ended }
        #expect(again == .noSuchTask(ended))
        // The account that it was has it again.
        try accounts.set()
        try accounts.restart()
        let back = try accounts.connect()
        let restarted = try back.ask(Tasks.Restart.self) { $0.id = ended }.id
        #expect(try back.ended(restarted).outcome == .completed)
    }

    @Test("the command of a handler has no other groups", arguments: ContainmentMode.available)
    func handler(mode: ContainmentMode) throws {
        let accounts = try DaemonWithAccounts(mode)
        try accounts.set(isInSecret: false)
        let client = try accounts.connect()
        let id = try client.submit(["sleep", "1000"]) {
            $0.expiration = Tasks.ExpirationHandler(
                signal: "", command: ["sh", "-c", "echo $(id -G)."])
        }
        try eventually("it runs") { try client.show(id).pid != nil }
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        try accounts.daemon.waitForOutput("1500.\n", of: id, as: DaemonWithAccounts.dave)
    }

    @Test("a group that one was logged in with and never was a member of is not given")
    func foreignGroup() throws {
        let accounts = try DaemonWithAccounts(.supervisor)
        let client = try accounts.connect(
            as: TestUser(name: "dave", user: 1500, group: 1503, groups: [6, 1500]))
        try accounts.set(isInSecret: false)
        let id = try client.submit(["sh", "-c", "id -g; id -G"])
        #expect(try client.ended(id).outcome == .completed)
        #expect(try accounts.text(of: id) == "1500\n1500\n")
    }

    @Test("a uid that is another's by now runs nothing", arguments: [true, false])
    func reused(restarts: Bool) throws {
        let accounts = try DaemonWithAccounts(.supervisor)
        let client = try accounts.connect()
        let id = try client.submit(["id"], Self.delayed)
        try accounts.set(name: "eve")
        if restarts { try accounts.restart() }
        let task = try accounts.connect().ended(id)
        #expect(task.outcome == .failed)
        #expect(
            task.reason?.contains(
                "uid 1500 belonged to dave when it was submitted and belongs to eve now") == true,
            "\(task)")
        // What is eve's own runs.
        let own = try accounts.connect().submit(["id", "-un"])
        #expect(try accounts.connect().ended(own).outcome == .completed)
        #expect(try accounts.text(of: own) == "eve\n")
    }

    @Test("an account that is gone or has expired runs nothing")
    func closed() throws {
        let accounts = try DaemonWithAccounts(.supervisor)
        let client = try accounts.connect()
        let gone = try client.submit(["id"], Self.delayed)
        try accounts.set(name: nil)
        let task = try client.ended(gone)
        #expect(task.outcome == .failed)
        #expect(task.reason?.contains("the account dave of uid 1500 is gone") == true, "\(task)")
        // Since 1970-01-02; a password that is locked, as it is here all the time, closes nothing.
        for expiry in ["1", "0"] {
            try accounts.set(expiry: expiry)
            try accounts.restart()
            let expired = try accounts.connect()
            let ended = try expired.ended(expired.submit(["id"]))
            #expect(ended.outcome == .failed)
            #expect(
                ended.reason?.contains("the account dave has expired") == true, "\(ended)")
        }
        try accounts.set(expiry: "99999")
        try accounts.restart()
        let open = try accounts.connect()
        #expect(try open.ended(open.submit(["id"])).outcome == .completed)
    }

    @Test(
        "a uid without a name keeps no group that it connected with",
        arguments: ContainmentMode.available)
    func namelessGroup(mode: ContainmentMode) throws {
        let accounts = try DaemonWithAccounts(mode)
        // What a set-user-id program of a subordinate uid is, started by a member of the group.
        let borrower = TestUser(name: "1501", user: 1501, group: 1503, groups: [1503, 1500])
        let client = try accounts.connect(as: borrower)
        let id = try client.submit(["id", "-G"])
        #expect(try client.ended(id).outcome == .completed)
        #expect(try accounts.daemon.text(of: id, as: borrower) == "65534\n")
    }

    @Test("a uid that never had a name runs what it submits, until it gets one")
    func nameless() throws {
        let accounts = try DaemonWithAccounts(.supervisor)
        try accounts.set(name: nil)
        let client = try accounts.connect()
        let id = try client.submit(["id", "-G"])
        #expect(try client.ended(id).outcome == .completed)
        #expect(try accounts.text(of: id) == "65534\n")
        let delayed = try client.submit(["id"], Self.delayed)
        try accounts.set(name: "eve")
        let task = try client.ended(delayed)
        #expect(task.outcome == .failed)
        #expect(task.reason?.contains("belonged to nobody") == true, "\(task)")
    }

    @Test(
        "an application has the groups of who launches it, cut to those of now",
        arguments: ContainmentMode.available)
    func launch(mode: ContainmentMode) throws {
        let accounts = try DaemonWithAccounts(mode)
        let client = try accounts.connect()
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o777)
        let file = folder.path + "/groups"
        let script = "id -G > \(file).new; mv \(file).new \(file); exec sleep 1000"
        try client.register("app", ["sh", "-c", script])
        func groups(_ start: (VarlinkClient) throws -> Void, _ user: TestUser) throws -> String {
            unlink(file)
            let client = try accounts.connect(as: user)
            try start(client)
            try eventually("it has told its groups") { Files.exists(file) }
            try client.order(Applications.Terminate.self, "app")
            return Files.text(file)
        }
        let bare = TestUser(name: "dave", user: 1500, group: 1500, groups: [1500])
        func launches(_ client: VarlinkClient) throws {
            try client.order(Applications.Launch.self, "app")
        }
        func activates(_ client: VarlinkClient) throws {
            try client.order(Applications.Activate.self, "app")
        }
        #expect(try groups(launches, DaemonWithAccounts.dave) == "1500 1503\n")
        #expect(try groups(launches, bare) == "1500\n")
        #expect(try groups(activates, bare) == "1500\n")
        // A message launches it as it was registered.
        let pushed = try groups(
            { _ = try $0.push(.alert, .tapped, to: "app") }, bare)
        #expect(pushed == "1500 1503\n")
        try accounts.set(isInSecret: false)
        try accounts.restart()
        #expect(try groups(launches, DaemonWithAccounts.dave) == "1500\n")
        #expect(try groups({ _ = try $0.push(.alert, .tapped, to: "app") }, bare) == "1500\n")
        try accounts.set(name: "eve")
        try accounts.restart()
        let refusal = try accounts.connect().refusal(of: Applications.Launch.self) { $0.id = "app" }
        #expect("\(refusal)".contains("belonged to dave"), "\(refusal)")
    }
}
