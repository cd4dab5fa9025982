import Glibc
import TaskAPI
import Testing
import Varlink

@Suite(
    "A task runs as its submitter",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct ForeignTaskTests {
    /// What a command prints that a user has had run.
    private static func printed(
        _ command: [String], as user: TestUser, _ daemon: DaemonProcess,
        _ fill: (inout Tasks.Work) -> Void = { _ in }
    ) throws -> String {
        let client = try daemon.connect(as: user)
        let id = try client.submit(command, fill)
        let task = try client.ended(id)
        #expect(task.outcome == .completed, "\(command): \(task.reason ?? "")")
        return try daemon.text(of: id, as: user)
    }

    /// What a command prints that runuser(1) starts; setpriv(1) where PAM would set limits. Both keep their
    /// caller's umask.
    private static func printedByRunuser(
        _ command: [String], as user: TestUser, limited: Bool = true
    ) throws -> String {
        let folder = try TemporaryFolder()
        let program =
            limited
            ? ["runuser", "-u", user.name, "--"]
            : ["setpriv", "--reuid=\(user.user)", "--regid=\(user.group)", "--init-groups"]
        let child = try Child(
            "/bin/sh", ["-c", "umask 022; exec \"$@\"", "sh"] + program + command,
            environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
            output: folder.path + "/output")
        #expect(try child.waitForEnd() == .status(0))
        return Files.text(folder.path + "/output")
    }

    private static let users: [TestUser] = [.games, .backup, .staff]

    @Test("id says what it says by runuser", arguments: ContainmentMode.available, users)
    func identity(mode: ContainmentMode, user: TestUser) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let told = try Self.printed(["id"], as: user, daemon)
        #expect(told == (try Self.printedByRunuser(["id"], as: user)))
        #expect(told.hasPrefix("uid=\(user.user)(\(user.name)) gid=\(user.group)"))
    }

    /// Lines of /proc/PID/status that may differ from a command of runuser, and why.
    private static let differing: [String: String] = {
        let reasons: [(String, [String])] = [
            (
                "another process, in a session of its own",
                ["Tgid", "Pid", "PPid", "NStgid", "NSpid", "NSpgid", "NSsid"]
            ),
            (
                "measured",
                [
                    "VmPeak", "VmSize", "VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem",
                    "VmData",
                    "VmStk", "VmExe", "VmLib", "VmPTE", "VmSwap", "voluntary_ctxt_switches",
                    "nonvoluntary_ctxt_switches",
                ]
            ),
            (
                "runuser keeps its caller's; here no signal is ignored or blocked",
                ["SigBlk", "SigIgn"]
            ),
            ("room for descriptors, as many as there were before the exec", ["FDSize"]),
            ("what is queued for all processes of the user; the limit is compared", ["SigQ"]),
        ]
        let pairs = reasons.flatMap { reason, keys in keys.map { ($0, reason) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    @Test(
        "the kernel's account of it is that of a command of runuser",
        arguments: ContainmentMode.available, users)
    func status(mode: ContainmentMode, user: TestUser) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        func lines(_ text: String) -> [String] {
            text.split(separator: "\n").map(String.init).filter { line in
                Self.differing[String(line.prefix { $0 != ":" })] == nil
            }
        }
        let status = ["cat", "/proc/self/status"]
        let text = try Self.printed(status, as: user, daemon)
        #expect(text.contains("SigBlk:\t0000000000000000"))
        #expect(text.contains("SigIgn:\t0000000000000000"))
        let told = lines(text)
        let other = lines(try Self.printedByRunuser(status, as: user))
        #expect(told.filter { !other.contains($0) } == [])
        #expect(other.filter { !told.contains($0) } == [])
        #expect(told.contains("CapEff:\t0000000000000000"))
        #expect(told.contains("Umask:\t0022"))
        // Limits are those of the daemon's service; those that PAM sets are for sessions.
        for file in ["limits", "oom_score_adj"] {
            let command = ["cat", "/proc/self/" + file]
            let told = try Self.printed(command, as: user, daemon)
            let other = try Self.printedByRunuser(command, as: user, limited: false)
            #expect(told == other, "\(file)")
        }
        let nice = try Self.printed(["nice"], as: user, daemon)
        #expect(nice == (try Self.printedByRunuser(["nice"], as: user)))
    }

    @Test(
        "the environment is the submitter's, and has nothing of the daemon's",
        arguments: ContainmentMode.available)
    func environment(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        func variables(_ text: String) -> [String] {
            text.split(separator: "\0").map(String.init).sorted()
        }
        let command = ["cat", "/proc/self/environ"]
        let told = variables(try Self.printed(command, as: .games, daemon))
        let own = told.filter {
            !$0.hasPrefix("BGTASK_") && !$0.hasPrefix("NOTIFY_SOCKET=\(daemon.socketPath).notify/")
        }
        #expect(
            own == [
                "HOME=/usr/games", "LANG=C.UTF-8", "LOGNAME=games",
                "PATH=/usr/local/bin:/usr/bin:/bin",
                "SHELL=/usr/sbin/nologin", "USER=games",
            ])
        #expect(told.count - own.count == 7)
        // The path and the shell are runuser's caller's, and the last command is the shell's note.
        let other = variables(try Self.printedByRunuser(command, as: .games)).filter {
            !["PATH=", "SHELL=", "_=", "PWD=", "OLDPWD="].contains(where: $0.hasPrefix)
        }
        #expect(other == own.filter { !$0.hasPrefix("PATH=") && !$0.hasPrefix("SHELL=") })

        let nameless = variables(try Self.printed(command, as: .nameless(20_101), daemon))
        #expect(nameless.contains("USER=20101"))
        #expect(nameless.contains("HOME=/"))
    }

    @Test(
        "it has three descriptors, no terminal, a session of its own and its home as directory",
        arguments: ContainmentMode.available)
    func surroundings(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        // What ls itself reads the folder with comes next after the three.
        let descriptors = try Self.printed(["ls", "/proc/self/fd"], as: .games, daemon)
        #expect(descriptors == "0\n1\n2\n3\n")
        let opened = try Self.printed(
            ["sh", "-c", "readlink /proc/self/fd/0; stat -Lc %F /proc/self/fd/1"],
            as: .games, daemon)
        #expect(opened == "/dev/null\nsocket\n")
        // After the name: state, parent, group, session, terminal (proc(5)).
        let script = "read line < /proc/$$/stat; echo $$ ${line##*)}"
        let fields = try Self.printed(["sh", "-c", script], as: .games, daemon).split(
            separator: " ")
        #expect(fields.count > 5)
        #expect(Set([fields[0], fields[3], fields[4]]).count == 1)
        #expect(fields[5] == "0")
        for user in [TestUser.games, .backup, .staff, .nameless(20_101)] {
            let home = getpwuid(user.user).map { String(cString: $0.pointee.pw_dir) } ?? "/"
            let directory = try Self.printed(["pwd"], as: user, daemon)
            #expect(directory == (Files.exists(home) ? home : "/") + "\n")
        }
    }

    @Test(
        "the command of its expiration handler runs as its submitter too",
        arguments: ContainmentMode.available)
    func handler(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let client = try daemon.connect(as: .staff)
        let id = try client.submit(["sleep", "1000"]) {
            $0.expiration = Tasks.ExpirationHandler(
                signal: "", command: ["sh", "-c", "echo handler $(id -u) $(id -g) $(id -G)"])
        }
        try eventually("it runs") { try client.show(id).pid != nil }
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        try daemon.waitForOutput("handler 33 33 33\n", of: id, as: .staff)
    }

    @Test(
        "it is stopped with all that it started, and cannot stop what watches over it",
        arguments: ContainmentMode.available)
    func stopping(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let client = try daemon.connect(as: .games)
        let script = """
            trap '' TERM
            kill -9 $PPID && echo killed
            setsid sh -c "trap '' TERM; sleep 1000 & sleep 1000" &
            echo ready
            sleep 1000
            """
        let cancelled = try client.submit(script: script) {
            $0.budget = Tasks.Budget(ms: 60_000, grace: 100)
        }
        try daemon.waitForOutput("ready\n", of: cancelled, as: .games)
        try eventually("all its processes are there") {
            daemon.taskProcesses(of: cancelled).count >= 4
        }
        let pid = try #require(try client.show(cancelled).pid)
        #expect(Processes.status("Uid", of: pid_t(pid)) == 5)
        _ = try client.ask(Tasks.Cancel.self) { $0.id = cancelled }
        #expect(try client.ended(cancelled).outcome == .cancelled)
        let overrun = try client.submit(script: script) {
            $0.budget = Tasks.Budget(ms: 60_000, grace: 100)
        }
        try daemon.waitForOutput("ready\n", of: overrun, as: .games)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = overrun }
        #expect(try client.ended(overrun).outcome == .overrun)
        #expect(daemon.taskProcesses() == [])
        for id in [cancelled, overrun] {
            #expect(try !daemon.text(of: id, as: .games).contains("killed"))
        }
    }
}
