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
        return "trap : INT\n$TOP\nstatus=$?\n" + again + again
            + "echo \"[ended $status]\"; stty -a; read line"
    }()

    private func start(_ arguments: String = "") throws -> TerminalSession {
        try TerminalSession(
            Self.script,
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
        try top.wait(for: "no connection for")
        #expect(top.line(with: "alpha") != nil)
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

    @Test("what is refused at the start is one line, on the terminal as it is")
    func refused() throws {
        let top = try start("--socket \(daemon.folder.path)/nobody")
        try top.wait(for: "nobody listens at")
        try top.wait(for: "[ended 1]")
    }
}
