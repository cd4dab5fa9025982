import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// A way in which a service or a container confines its processes.
enum Confinement: String, CaseIterable {
    case noNewPrivileges, filter, capabilities, user, mount, network, process

    /// What the refusal calls it.
    var words: String {
        switch self {
        case .noNewPrivileges: "NoNewPrivileges"
        case .filter: "a seccomp filter"
        case .capabilities: "a smaller capability bounding set"
        default: "another \(rawValue) namespace"
        }
    }

    /// A command that runs the command behind it as a user, confined.
    func wrapper(_ user: TestUser) -> [String] {
        let become = ["/usr/bin/setpriv"] + user.privileges
        return switch self {
        case .noNewPrivileges: become + ["--no-new-privs"]
        case .filter: ["/usr/bin/python3", "-c", Self.filtering] + become
        case .capabilities: become + ["--bounding-set=-all"]
        case .user: become + ["unshare", "--user"]
        case .mount: ["/usr/bin/unshare", "--mount"] + become
        case .network: ["/usr/bin/unshare", "--net"] + become
        case .process: ["/usr/bin/unshare", "--pid", "--fork"] + become
        }
    }

    /// Loads a filter that lets all pass, by root's right and so without NoNewPrivileges.
    private static let filtering = """
        import ctypes, os, struct, sys
        code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
        program = ctypes.create_string_buffer(
            struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(22, ctypes.c_ulong(2), program, 0, 0) != 0:
            sys.exit("prctl: %d" % ctypes.get_errno())
        os.execv(sys.argv[1], sys.argv[1:])
        """
}

/// A run of bgtaskctl in surroundings of its own.
struct CommandLineRun {
    let ending: Child.Ending
    let output: String
    let errors: String

    init(
        _ daemon: DaemonProcess, within wrapper: [String], _ arguments: String...
    ) throws {
        let folder = try TemporaryFolder()
        let words =
            wrapper + [Programs.path("bgtaskctl"), "--socket", daemon.socketPath]
            + arguments
        let child = try Child(
            words[0], Array(words.dropFirst()),
            environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
            output: folder.path + "/output", error: folder.path + "/errors")
        ending = try child.waitForEnd()
        output = Files.text(folder.path + "/output")
        errors = Files.text(folder.path + "/errors")
    }
}

@Suite(
    "Who is confined has nothing run that is not",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"),
    .enabled("the build folder must be open to other users") { try isBuildFolderOpen() })
struct ConfinedPeerTests {
    private static func look(
        _ daemon: DaemonProcess, _ confinement: Confinement, _ user: TestUser = .games
    ) throws -> CommandLineRun {
        try CommandLineRun(
            daemon, within: confinement.wrapper(user), "run", "--follow", "--", "sh", "-c",
            "grep NoNewPrivs: /proc/self/status; echo escaped")
    }

    @Test(
        "its commands are refused, with what confines it and how to allow it",
        arguments: ContainmentMode.available, Confinement.allCases)
    func refused(mode: ContainmentMode, confinement: Confinement) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let run = try Self.look(daemon, confinement)
        #expect(!run.output.contains("escaped"), "\(confinement): \(run.output)")
        #expect(run.ending == .status(125), "\(run.errors)")
        #expect(run.errors.contains(confinement.words), "\(run.errors)")
        #expect(run.errors.contains("access.confinedUsers"), "\(run.errors)")
        let client = try daemon.connect(as: .games)
        #expect(try client.ask(Tasks.History.self).tasks?.isEmpty != false)
        // The same user has it run from elsewhere.
        let free = try CommandLineRun(
            daemon, within: ["/usr/bin/setpriv"] + TestUser.games.privileges, "run", "--follow",
            "--", "echo", "fine")
        #expect(free.output.contains("fine"), "\(free)")
    }

    @Test("root is no exception", arguments: Confinement.allCases)
    func root(confinement: Confinement) throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let run = try Self.look(daemon, confinement, .root)
        #expect(run.errors.contains(confinement.words), "\(run)")
    }

    @Test(
        "where the settings name its user they run, and are confined as far as it can be handed on",
        arguments: ContainmentMode.available, Confinement.allCases)
    func named(mode: ContainmentMode, confinement: Confinement) throws {
        let daemon = try DaemonProcess.forEverybody(
            mode, settings: "access.confinedUsers = [\"games\"]")
        let run = try Self.look(daemon, confinement)
        #expect(run.output.contains("escaped"), "\(run.errors)")
        let isHandedOn = confinement == .noNewPrivileges
        #expect(run.output.contains("NoNewPrivs:\t\(isHandedOn ? 1 : 0)"), "\(run.output)")
        let other = try Self.look(daemon, confinement, .backup)
        #expect(other.ending == .status(125))
    }

    @Test(
        "what is queued without new privileges has none after a restart either",
        arguments: ContainmentMode.available)
    func restart(mode: ContainmentMode) throws {
        let settings = "queue.slots = 1\naccess.confinedUsers = [\"games\"]"
        let daemon = try DaemonProcess.forEverybody(mode, settings: settings)
        let root = try daemon.connect(as: .root)
        try root.waitForBegin(of: root.submit(["sleep", "1000"]))
        let queued = try CommandLineRun(
            daemon, within: Confinement.noNewPrivileges.wrapper(.games), "run", "--", "grep",
            "NoNewPrivs:", "/proc/self/status")
        let id = try #require(Int(queued.output.prefix { $0.isNumber }))
        try daemon.kill()
        let next = try DaemonProcess(
            mode, settings: settings, in: daemon.folder, arguments: ["--system"])
        #expect(try next.connect(as: .games).ended(id).outcome == .completed)
        #expect(try next.text(of: id, as: .games) == "NoNewPrivs:\t1\n")
    }

    @Test("it may hold tasks, which start nothing")
    func held() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        for confinement in Confinement.allCases {
            let run = try CommandLineRun(
                daemon, within: confinement.wrapper(.games), "hold", "--", "true")
            #expect(run.ending == .status(0), "\(confinement): \(run.errors)")
        }
    }

    @Test("it registers no command of an application, and launches none")
    func applications() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let wrapper = Confinement.noNewPrivileges.wrapper(.games)
        let client = try daemon.connect(as: .games)
        try client.register("known")
        for words in [["register", "other", "--", "sleep", "1"], ["launch", "known"]] {
            let all =
                wrapper + [
                    Programs.path("bgtaskctl"), "--socket", daemon.socketPath, "app",
                ]
            let folder = try TemporaryFolder()
            let child = try Child(
                all[0], Array(all.dropFirst()) + words, error: folder.path + "/errors")
            #expect(try child.waitForEnd() != .status(0))
            #expect(Files.text(folder.path + "/errors").contains("NoNewPrivileges"), "\(words)")
        }
        let activated = try CommandLineRun(daemon, within: wrapper, "app", "activate", "known")
        #expect(activated.errors.contains("NoNewPrivileges"), "\(activated)")
        #expect(try client.application("known").state == .notRunning)
        let refusal = try client.refusal(of: Applications.Show.self) { $0.id = "other" }
        #expect(refusal == .noSuchApplication("other"))
    }

    /// Has a command registered as a user, then confines itself, and waits until none is taken any more.
    private static func confineLater(
        _ daemon: DaemonProcess, _ lines: String, _ words: String, _ user: TestUser = .games
    ) throws {
        let script = """
            import ctypes, json, os, socket, sys, time
            user, group, folder = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
            os.setgroups([group])
            os.setresgid(group, group, group)
            os.setresuid(user, user, 0)
            server = socket.socket(socket.AF_UNIX)
            server.connect(sys.argv[1])
            def submit():
                work = {"name": "later", "command": ["true"]}
                call = {"method": "org.bgtaskd.Tasks.Submit", "parameters": {"work": work}}
                server.sendall(json.dumps(call).encode() + bytes(1))
                answer = b""
                while not answer.endswith(bytes(1)): answer += server.recv(65536)
                return answer
            if b"error" in submit(): sys.exit(2)
            os.seteuid(0)
            \(lines)
            os.setresuid(user, user, user)
            until = time.monotonic() + 60
            while time.monotonic() < until:
                answer = submit()
                if b"org.bgtaskd.Tasks.Confined" in answer: sys.exit(0 if sys.argv[5].encode() in answer else 4)
            sys.exit(3)
            """
        let folder = try TemporaryFolder()
        let child = try Child(
            "/usr/bin/python3",
            [
                "-c", script, daemon.socketPath, "\(user.user)", "\(user.group)", folder.path,
                words,
            ])
        #expect(try child.waitForEnd() == .status(0))
    }

    @Test("one that is confined after it has connected has none run before long")
    func later() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        try Self.confineLater(
            daemon, "ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)", "NoNewPrivileges")
    }

    @Test("one that has changed its root folder has none run outside of it")
    func rootFolder() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        try Self.confineLater(daemon, "os.chroot(folder)", "another root folder")
    }

    @Test("so it is with a daemon that may not look at the root folders of others")
    func hiddenRootFolder() throws {
        let daemon = try DaemonProcess(
            .supervisor, in: .passable(), arguments: ["--system"],
            within: ["/usr/bin/setpriv", "--bounding-set=-sys_ptrace"])
        try Self.confineLater(daemon, "os.chroot(folder)", "another root folder")
    }

    @Test("so it is with the daemon of one user")
    func ownDaemon() throws {
        let folder = try TemporaryFolder.passable()
        let daemon = try DaemonProcess(
            .supervisor, in: folder, arguments: ["--user"], as: .backup)
        let run = try Self.look(daemon, .noNewPrivileges, .backup)
        #expect(run.errors.contains("NoNewPrivileges"), "\(run)")
        #expect(!run.output.contains("escaped"))
    }

    @Test(
        "a daemon that is confined itself serves those who are confined alike",
        arguments: [Confinement.noNewPrivileges, .filter, .capabilities])
    func alike(confinement: Confinement) throws {
        // The test's own process starts both, so that a filter is not of the daemon's alone only where its
        // parent has it too.
        let daemon = try DaemonProcess(
            .supervisor, in: .passable(), arguments: ["--user"],
            within: confinement.wrapper(.root) + ["/bin/sh", "-c", "\"$0\" \"$@\"; exit"])
        defer { for child in Processes.children(of: daemon.processID) { kill(child, SIGKILL) } }
        let run = try CommandLineRun(
            daemon, within: confinement.wrapper(.root), "run", "--follow", "--", "echo", "fine")
        #expect(run.output.contains("fine"), "\(run.errors)")
    }

    @Test("a filter that the daemon alone has excuses nobody who has as many")
    func ownFilter() throws {
        let daemon = try DaemonProcess(
            .supervisor, in: .passable(), arguments: ["--system"],
            within: Confinement.filter.wrapper(.root))
        let run = try Self.look(daemon, .filter)
        #expect(run.errors.contains("a seccomp filter"), "\(run)")
        let free = try daemon.connect(as: .games)
        #expect(try free.ended(free.submit(["true"])).outcome == .completed)
    }
}
