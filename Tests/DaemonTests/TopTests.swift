import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("bgtaskctl top, at a terminal")
struct TopTests {
    private let daemon: DaemonProcess
    private let client: VarlinkClient

    init() throws {
        daemon = try DaemonProcess(
            .supervisor,
            settings: "[queue]\nslots = 2\n[queue.groups.uploads]\nslots = 2\n")
        client = try daemon.connect()
    }

    /// Shows how it ended, and how it left the terminal.
    private static let script: String = {
        // In a loop bash would leave that when it is stopped.
        let again = """
            if [ $status = 148 ]; then
                echo "[stopped]"; stty -a
                read line
                fg >/dev/null
                status=$?
            fi

            """
        return "$TOP\nstatus=$?\n" + again + again
            + "echo \"[ended $status]\"; stty -a; read line"
    }()

    /// The same without jobs: bash gives up all that it does where its job died of Ctrl-C.
    private static let oneJob =
        "dash -c 'trap : INT; $TOP; echo \"[ended $?]\"; stty -a; read line'"

    private func start(
        _ arguments: String = "", script: String = Self.script
    ) throws -> TerminalSession {
        try TerminalSession(
            script,
            environment: [
                "TOP=\(Programs.path("bgtaskctl")) top \(arguments)", "TERM=vt100",
                "BGTASK_SOCKET=\(daemon.socketPath)", "PATH=/usr/bin:/bin", "HOME=/",
            ])
    }

    private func submit(_ name: String, seconds: Int, priority: Int = 0) throws -> Int {
        try client.submit(["sh", "-c", "echo this is \(name); sleep 1000"]) { work in
            work.name = name
            work.group = "uploads"
            work.priority = priority
            work.budget = Tasks.Budget(ms: seconds * 1000, grace: 1000)
        }
    }

    /// Whether the terminal is as it was: lines are read, and keys are shown.
    private func isRestored(_ terminal: TerminalSession) -> Bool {
        let text = terminal.screen.lines.joined(separator: " ")
        return text.contains(" icanon") && text.contains(" echo ") && !text.contains("-icanon")
    }

    @Test(
        "shows tasks as they come and go, moves, filters, explains and cancels, at any size, and leaves the terminal as it was"
    )
    func use() throws {
        let first = try submit("alpha", seconds: 300, priority: 2)
        _ = try submit("beta", seconds: 400, priority: 1)
        try client.waitForBegin(of: first)
        let queued = try submit("gamma", seconds: 500)
        let top = try start()
        try top.wait(for: "2 running  1 queued")
        try top.wait(for: "2 of 2 used by you  uploads 2 of 2, 1 queued")
        try top.wait(for: "the first") { $0.line(with: ">")?.contains("alpha") == true }
        try top.wait(for: "what alpha printed") { $0.screen.lines.contains("this is alpha") }
        top.press("j")
        try top.wait(for: "what beta printed") { $0.screen.lines.contains("this is beta") }
        try top.wait(for: "the second") { $0.line(with: ">")?.contains("beta") == true }
        top.press("\u{1B}OB")
        try top.wait(for: "the third") { $0.line(with: ">")?.contains("gamma") == true }
        top.press("e")
        try top.wait(for: "all slots are taken")

        // It comes and goes by events.
        let other = try submit("delta", seconds: 550)
        try top.wait(for: "delta")
        try client.ask(Tasks.Cancel.self) { $0.id = other }
        // What is read may end in the middle of a screen.
        try top.wait(for: "its end") {
            $0.line(with: "1 cancelled") != nil && $0.line(with: "delta") == nil
        }

        top.press("/gam\r")
        try top.wait(for: "the filter") {
            $0.line(with: "1 with \"gam\"") != nil && $0.line(with: "alpha") == nil
        }
        top.press("cn")
        top.press("c")
        try top.wait(for: "cancel gamma (\(queued))?")
        #expect(try client.show(queued).state == .queued)
        top.press("y")
        #expect(try client.ended(queued).outcome == .cancelled)
        try top.wait(for: "2 cancelled")
        // What is explained goes first, then the filter.
        top.press("\u{1B}")
        try top.wait(for: "no explanation") { $0.line(with: "-- why") == nil }
        top.press("\u{1B}")
        try top.wait(for: "alpha")

        top.resize(rows: 40, columns: 132)
        try top.wait(for: "the whole of the other size") {
            $0.screen.lines[39].hasPrefix("q quit") && $0.line(with: "GROUP") != nil
        }
        top.resize(rows: 10, columns: 30)
        try top.wait(for: "a small one") { $0.screen.lines[9].hasPrefix("q quit") }
        top.resize(rows: 24, columns: 80)
        try top.wait(for: "the first one") { $0.screen.lines[23].hasPrefix("q quit") }

        top.press("q")
        try top.wait(for: "[ended 0]")
        try top.wait(for: "the terminal is as it was", isRestored)
    }

    @Test("starts a budget again, and holds a group back and lets it go on")
    func orders() throws {
        let first = try submit("alpha", seconds: 300)
        try client.waitForBegin(of: first)
        let before = try client.show(first)
        let top = try start()
        try top.wait(for: "1 running")
        try eventually("some of its budget is used") {
            try client.show(first).usedMs ?? 0 > before.usedMs ?? 0
        }
        top.press("+")
        try top.wait(for: "alpha (\(first)): ")
        top.press("p")
        try top.wait(for: "group uploads is paused; what runs goes on")
        #expect(
            try client.ask(Tasks.Groups.self).groups.first { $0.name == "uploads" }?.paused == true)
        let held = try submit("beta", seconds: 300)
        try top.wait(for: "1 running  1 queued")
        #expect(try client.show(held).state == .queued)
        top.press("p")
        try top.wait(for: "group uploads goes on")
        try client.waitForBegin(of: held)
        try top.wait(for: "2 running")
        top.press("q")
        try top.wait(for: "[ended 0]")
    }

    @Test("is stopped and goes on as a job of the shell, and sees what happened meanwhile")
    func jobControl() throws {
        _ = try submit("alpha", seconds: 500)
        let top = try start()
        try top.wait(for: "1 running")
        for name in ["beta", "gamma"] {
            top.press("\u{1A}")
            try top.wait(for: "[stopped]")
            try top.wait(for: "the terminal is as it was", isRestored)
            _ = try submit(name, seconds: 600)
            top.press("\n")
            try top.wait(for: "what came meanwhile") {
                $0.line(with: "\(name) ") != nil && $0.line(with: "[stopped]") == nil
            }
        }
        top.press("q")
        try top.wait(for: "[ended 0]")
    }

    @Test("says that the daemon is gone, and goes on with the next one")
    func restart() throws {
        _ = try submit("alpha", seconds: 500)
        let top = try start()
        try top.wait(for: "1 running")
        try daemon.kill()
        try top.wait(for: "what ran, and that it is gone") {
            $0.line(with: "no connection for") != nil && $0.line(with: "alpha") != nil
        }
        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        try top.wait(for: "the next daemon") {
            $0.line(with: "no connection") == nil && $0.line(with: "nothing runs") != nil
        }
        _ = try next.connect().submit(["sleep", "1000"]) { $0.name = "omega" }
        try top.wait(for: "omega")
        top.press("q")
        try top.wait(for: "[ended 0]")
    }

    @Test("a signal ends it, and the terminal is as it was", arguments: [SIGTERM, SIGHUP])
    func signals(number: Int32) throws {
        let top = try start()
        try top.wait(for: "nothing runs or waits")
        kill(top.foreground, number)
        try top.wait(for: "[ended \(128 + number)]")
        try top.wait(for: "the terminal is as it was", isRestored)
    }

    @Test("Ctrl-C ends it, and the terminal is as it was")
    func interrupt() throws {
        let top = try start(script: Self.oneJob)
        try top.wait(for: "nothing runs or waits")
        top.press("\u{3}")
        try top.wait(for: "[ended \(128 + SIGINT)]")
        try top.wait(for: "the terminal is as it was", isRestored)
    }

    @Test("a signal ends it also where its terminal takes nothing any more")
    func stoppedTerminal() throws {
        let top = try start()
        try top.wait(for: "nothing runs or waits")
        // Ctrl-S; what is to be shown next cannot be written.
        top.press("\u{13}")
        _ = try submit("alpha", seconds: 500)
        kill(top.foreground, SIGTERM)
        try top.wait(for: "[ended \(128 + SIGTERM)]")
        try top.wait(for: "the terminal is as it was", isRestored)
    }

    @Test("what is refused at the start is one line, on the terminal as it is")
    func refused() throws {
        let top = try start("--socket \(daemon.folder.path)/nobody")
        try top.wait(for: "nobody listens at")
        try top.wait(for: "[ended 1]")
    }
}
