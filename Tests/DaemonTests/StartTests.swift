import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("How a daemon starts, or says why it does not")
struct StartTests {
    /// Runs the program to its end.
    private func run(
        _ arguments: [String], in folder: TemporaryFolder,
        environment: [String] = ["PATH=/usr/bin:/bin", "HOME=/"]
    ) throws -> (ending: Child.Ending, output: String, error: String) {
        let (output, error) = (folder.path + "/stdout", folder.path + "/stderr")
        for file in [output, error] { unlink(file) }
        let child = try Child(
            DaemonProcess.program, arguments, environment: environment, output: output,
            error: error)
        return (try child.waitForEnd(), Files.text(output), Files.text(error))
    }

    private func places(of daemon: DaemonProcess) -> [String] {
        [
            "--config", daemon.settingsPath, "--socket", daemon.socketPath, "--state-dir",
            daemon.statePath,
        ]
    }

    private func isOneLine(_ text: String) -> Bool {
        text.hasSuffix("\n") && text.filter(\.isNewline).count == 1
    }

    @Test("the version is told")
    func version() throws {
        let told = try run(["--version"], in: TemporaryFolder())
        #expect(told.ending == .status(0))
        #expect(told.output == Version.current + "\n")
    }

    @Test(
        "a second daemon on the same state folder says so, and the first serves on",
        arguments: ContainmentMode.available)
    func sameState(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(["sleep", "1000"])
        let other = daemon.folder.path + "/other-socket"
        let second = try run(
            ["--config", daemon.settingsPath, "--socket", other, "--state-dir", daemon.statePath],
            in: TemporaryFolder())
        #expect(second.ending == .status(69))
        #expect(isOneLine(second.error))
        #expect(second.error.contains("in use by process \(daemon.processID)"))
        #expect(second.error.contains("--state-dir"))
        #expect(try client.show(id).state == .running)
        #expect(daemon.canConnect())
        #expect(!Files.exists(other))
    }

    @Test(
        "a second daemon on the same socket says so, and the first serves on",
        arguments: ContainmentMode.available)
    func sameSocket(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let folder = try TemporaryFolder()
        let second = try run(
            [
                "--config", daemon.settingsPath, "--socket", daemon.socketPath, "--state-dir",
                folder.path + "/state",
            ], in: folder)
        #expect(second.ending == .status(69))
        #expect(isOneLine(second.error))
        #expect(second.error.contains(daemon.socketPath))
        #expect(second.error.contains("already served"))
        try client.ask(SystemdService.Ping.self)
        #expect(daemon.canConnect())
        #expect(DaemonProcess.groupFolder(ofState: folder.path + "/state") == nil)
    }

    @Test("a socket file that nobody serves is replaced, another file is not")
    func staleSocket() throws {
        let daemon = try DaemonProcess(.supervisor)
        try daemon.kill()
        #expect(Files.exists(daemon.socketPath))
        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        #expect(try next.stop() == .status(0))
        try Files.write("precious", to: next.socketPath)
        let refused = try run(places(of: next), in: TemporaryFolder())
        #expect(refused.ending == .status(69))
        #expect(isOneLine(refused.error))
        #expect(Files.text(next.socketPath) == "precious")
    }

    @Test("settings that are wrong are named with file and key, one line each")
    func badSettings() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/bad.toml"
        let wrong = [
            ("limits.clientsMax = \"many\"", "limits.clientsMax"),
            ("limits.clientMax = 5", "limits.clientMax"),
            ("profiles.p.duration = \"5s\"\nprofiles.p.grace = \"5s\"", "profiles.p.grace"),
            ("queue.slots = ", ":1:"), ("budget.warnAfter = \"soon\"", "budget.warnAfter"),
        ]
        for (text, key) in wrong {
            try Files.write(text + "\n", to: file)
            for extra in [[], ["--check-config"]] {
                let told = try run(["--config", file] + extra, in: folder)
                #expect(told.ending == .status(78), "\(text)")
                #expect(isOneLine(told.error), "\(told.error)")
                #expect(told.error.hasPrefix("bgtaskd: "))
                #expect(told.error.contains(file), "\(told.error)")
                #expect(told.error.contains(key), "\(told.error)")
            }
        }
        try Files.write("limits.clientMax = 5\nqueue.slot = 3\n", to: file)
        let both = try run(["--config", file], in: folder)
        #expect(both.error.split(separator: "\n").count == 2)
    }

    @Test("--check-config says that settings are fine, and does not start")
    func checkConfig() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/good.toml"
        try Files.write("queue.slots = 3\n", to: file)
        let told = try run(["--config", file, "--check-config"], in: folder)
        #expect(told.ending == .status(0))
        #expect(told.output.contains(file))
        #expect(told.error == "")
        let missing = try run(["--config", folder.path + "/none.toml"], in: folder)
        #expect(missing.ending == .status(78))
        #expect(isOneLine(missing.error))
        #expect(missing.error.contains("none.toml"))
    }

    @Test("what the command line lacks or does not know is one plain line")
    func commandLine() throws {
        let folder = try TemporaryFolder()
        let unknown = try run(["--no-such-option"], in: folder)
        #expect(unknown.ending == .status(64))
        let user = try run(["--user"], in: folder)
        #expect(user.ending == .status(78))
        #expect(isOneLine(user.error))
        #expect(user.error.contains("--socket"))
    }

    @Test("a state folder that cannot be made, and a store that is none, are plain lines")
    func badState() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/settings.toml"
        try Files.write("daemon.containment = \"supervisor\"\n", to: file)
        let arguments = ["--config", file, "--socket", folder.path + "/socket", "--state-dir"]
        let notFolder = try run(arguments + [file + "/state"], in: folder)
        #expect(notFolder.ending == .status(73))
        #expect(isOneLine(notFolder.error))
        let state = folder.path + "/state"
        mkdir(state, 0o700)
        for garbage in ["twelve\n", String(repeating: "garbage ", count: 4096)] {
            try Files.write(garbage, to: state + "/tasks.db")
            let told = try run(arguments + [state], in: folder)
            #expect(told.ending == .status(73), "\(garbage)")
            #expect(isOneLine(told.error), "\(told.error)")
            #expect(told.error.contains(state + "/tasks.db"))
            #expect(Files.text(state + "/tasks.db") == garbage)
        }
        #expect(!Files.exists(folder.path + "/socket"))
    }

    @Test("a reload takes what is good", arguments: ["Reload", "SIGHUP", "io.systemd.service"])
    func reload(how: String) throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.tasksPerOwnerMax = 1")
        let client = try daemon.connect()
        _ = try client.begin()
        _ = try client.refusal(of: Tasks.Begin.self) { $0.name = "second" }
        let waiting = try client.submit(["true"])
        try daemon.rewrite(
            settings: """
                limits.tasksPerOwnerMax = 3
                daemon.logLevel = "debug"
                profiles.quick.duration = "7s"
                """)
        switch how {
        case "Reload":
            let answer = try client.ask(Manager.Reload.self)
            #expect(answer.changed.contains("limits.tasksPerOwnerMax"))
            #expect(answer.changed.contains("daemon.logLevel"))
            #expect(answer.needRestart == [])
        case "SIGHUP": daemon.child.signal(SIGHUP)
        default: try client.ask(SystemdService.Reload.self)
        }
        // What waited for the limit starts by itself.
        #expect(try client.ended(waiting).outcome == .completed)
        _ = try client.begin("at debug level") { $0.profile = "quick" }
        try daemon.waitForLog("at debug level")
        let told = try client.ask(Manager.Describe.self)
        #expect(told.limits.first { $0.name == "tasksPerOwnerMax" }?.value == 3)
        #expect(told.profiles.first { $0.name == "quick" }?.durationMs == 7000)
    }

    @Test("a setting that needs a restart is said to, and stays as it was")
    func needsRestart() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        try Files.write(
            "daemon.containment = \"cgroup\"\nqueue.slots = 9\n", to: daemon.settingsPath)
        let answer = try client.ask(Manager.Reload.self)
        #expect(answer.needRestart == ["daemon.containment"])
        #expect(answer.changed.contains("queue.slots"))
        #expect(try client.ask(Manager.Describe.self).containment == "supervisor")
    }

    @Test("a bad reload leaves everything as it was", arguments: ["Reload", "SIGHUP"])
    func badReload(how: String) throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.tasksPerOwnerMax = 1")
        let client = try daemon.connect()
        let before = try client.ask(Manager.Describe.self)
        try daemon.rewrite(settings: "limits.tasksPerOwnerMax = 5\nqueue.slots = \"two\"")
        if how == "SIGHUP" {
            daemon.child.signal(SIGHUP)
            try daemon.waitForLog("settings refused")
        } else {
            let refusal = try client.refusal(of: Manager.Reload.self)
            #expect(refusal.name == Manager.BadSettings.name)
            let error = try refusal.decode(Manager.BadSettings.self)
            #expect(error.file == daemon.settingsPath)
            #expect(error.text.contains("queue.slots"))
            let other = try client.refusal(of: SystemdService.Reload.self)
            #expect(other.name == Manager.BadSettings.name)
        }
        try daemon.waitForLog("queue.slots")
        let after = try client.ask(Manager.Describe.self)
        #expect(after.limits.map(\.value) == before.limits.map(\.value))
        #expect(after.settings.map(\.value) == before.settings.map(\.value))
        try daemon.rewrite(settings: "queue.slots = 2")
        #expect(try client.ask(Manager.Reload.self).changed.contains("queue.slots"))
    }
}
