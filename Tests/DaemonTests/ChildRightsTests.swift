import Glibc
import TaskAPI
import Testing
import Varlink

@Suite(
    "What a command of another user has of the daemon, and of others' commands",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct ChildRightsTests {
    /// Whether the kernel keeps account of logins here, and a child of ours may be given another.
    private static let hasLoginUser: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        let script = "echo 5 > /proc/self/loginuid && cat /proc/self/loginuid"
        guard
            let child = try? Child(
                "/bin/sh", ["-c", script], output: folder.path + "/output"),
            (try? child.waitForEnd()) == .status(0)
        else { return false }
        // The shell writes it of itself, and cat has it from there.
        return Files.text(folder.path + "/output").hasPrefix("5")
    }()

    @Test(
        "the kernel's audit counts it as its submitter's",
        .enabled(if: hasLoginUser, "the kernel keeps no login user, or it may not be set here"),
        arguments: ContainmentMode.available)
    func loginUser(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        var sessions: Set<String> = []
        for user in [TestUser.games, .backup, .root] {
            let client = try daemon.connect(as: user)
            let id = try client.submit(
                script: "cat /proc/self/loginuid; echo; cat /proc/self/sessionid")
            #expect(try client.ended(id).outcome == .completed)
            let lines = try daemon.text(of: id, as: user).split(separator: "\n")
            #expect(lines.first == "\(user.user)", "\(user): \(lines)")
            sessions.insert(String(lines.last ?? ""))
        }
        #expect(sessions.count == 3)
        #expect(
            Files.text("/proc/\(daemon.processID)/loginuid") == Files.text("/proc/self/loginuid"))
    }

    @Test(
        "its standard input is an open file of its own",
        arguments: ContainmentMode.available)
    func input(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let client = try daemon.connect(as: .games)
        // O_APPEND is a flag of the open file, not of the descriptor.
        let set = """
            import fcntl, signal
            fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | 0o2000)
            fcntl.flock(0, fcntl.LOCK_EX)
            print("set", flush=True)
            signal.pause()
            """
        let first = try client.submit(["python3", "-c", set])
        try daemon.waitForOutput("set\n", of: first, as: .games)
        let other = try daemon.connect(as: .backup)
        let look = """
            import fcntl
            print(fcntl.fcntl(0, fcntl.F_GETFL) & 0o2000)
            fcntl.flock(0, fcntl.LOCK_SH | fcntl.LOCK_NB)
            """
        let second = try other.submit(["python3", "-c", look])
        let task = try other.ended(second)
        #expect(try daemon.text(of: second, as: .backup) == "0\n", "\(task)")
    }

    /// The settings of the kernel by which a core dump is made of a process that has changed its user; given back
    /// with the value. There is one at a time.
    private final class CoreDumps {
        let folder: TemporaryFolder
        private static let paths = [
            "/proc/sys/fs/suid_dumpable", "/proc/sys/kernel/core_pattern",
        ]
        private let before = CoreDumps.paths.map(Files.text)

        static let canBeMade = paths.allSatisfy { access($0, W_OK) == 0 }

        init() throws {
            folder = try .passable()
            try Files.write("2", to: Self.paths[0])
            try Files.write(folder.path + "/core.%p", to: Self.paths[1])
        }

        deinit {
            for (path, text) in zip(Self.paths, before) { try? Files.write(text, to: path) }
        }

        var names: [String] { Files.names(folder.path).filter { $0.hasPrefix("core") } }
    }

    /// fcntl(2)'s, which the library's module does not show.
    private enum Lease {
        static let setSignal: Int32 = 10
        static let set: Int32 = 1024
    }

    @Test(
        "a child that has not executed its program yet leaves no core dump of the daemon's memory",
        .serialized,
        .enabled(if: CoreDumps.canBeMade, "the settings of the kernel are not ours here"),
        arguments: ContainmentMode.available, [SIGQUIT, SIGSEGV])
    func coreDump(mode: ContainmentMode, signal: Int32) throws {
        let dumps = try CoreDumps()
        let folder = try TemporaryFolder.passable()
        let daemon = try DaemonProcess(
            mode, in: folder, arguments: ["--system"],
            within: ["/bin/sh", "-c", "ulimit -c unlimited; exec \"$0\" \"$@\""])
        // A program whose execve(2) waits for whoever has a lease on it (fcntl(2)), for 45 s at most.
        let program = folder.path + "/program"
        let copied = try Child("/bin/cp", ["/bin/true", program])
        #expect(try copied.waitForEnd() == .status(0))
        chmod(program, 0o755)
        let file = open(program, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(fcntl(file, Lease.setSignal, SIGURG) == 0)
        try #require(fcntl(file, Lease.set, F_WRLCK) == 0)

        let client = try daemon.connect(as: .games)
        let id = try client.submit([program])
        var child: pid_t = 0
        try eventually("a child of the executor, or of its supervisor, is another user's") {
            let children = daemon.executorID.map(Processes.children(of:)) ?? []
            let all = children + children.flatMap(Processes.children(of:))
            child = all.first { Processes.status("Uid", of: $0) == 5 } ?? 0
            return child != 0
        }
        kill(child, signal)
        try eventually("it has ended") { kill(child, 0) != 0 || Self.isZombie(child) }
        try #require(fcntl(file, Lease.set, F_UNLCK) == 0)
        #expect(try client.ended(id).outcome == .failed)
        #expect(dumps.names == [])
        // A program that runs makes its own.
        let own = try client.submit(["sh", "-c", "kill -SEGV $$"])
        #expect(try client.ended(own).outcome == .failed)
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
    }

    private static func isZombie(_ process: pid_t) -> Bool {
        Processes.state(process) == "Z"
    }
}
