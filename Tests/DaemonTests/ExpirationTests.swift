import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("What the expiration handler of a run task does")
struct ExpirationTests {
    private static let generous = Tasks.Budget(ms: 200_000, grace: 100_000)

    /// A script that says which signal came, and goes on.
    private static let listener = """
        for s in HUP INT TERM USR1 USR2; do trap "echo got $s" $s; done
        echo ready
        while ! [ -e stop ]; do sleep 0.05; done
        """

    /// Runs the listener, fires its handler, and lets it end.
    private func fire(
        _ handler: Tasks.ExpirationHandler, on daemon: DaemonProcess, waitingFor wanted: String
    ) throws -> (Tasks.Task, text: String) {
        let client = try daemon.connect()
        let id = try client.submit(script: Self.listener) {
            $0.budget = Self.generous
            $0.directory = daemon.folder.path
            $0.expiration = handler
        }
        try daemon.waitForOutput("ready", of: id)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        if !wanted.isEmpty { try daemon.waitForOutput(wanted, of: id) }
        #expect(try client.show(id).state == .expiring)
        try Files.write("", to: daemon.folder.path + "/stop")
        let task = try client.ended(id)
        #expect(task.outcome == .expired)
        return (task, try daemon.text(of: id))
    }

    @Test("it sends the signal that was asked for", arguments: ContainmentMode.available)
    func namedSignal(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let handler = Tasks.ExpirationHandler(signal: "SIGUSR1")
        let (_, text) = try fire(handler, on: daemon, waitingFor: "got")
        #expect(text == "ready\ngot USR1\n")
    }

    @Test("an empty name sends none", arguments: ContainmentMode.available)
    func noSignal(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let (_, text) = try fire(Tasks.ExpirationHandler(signal: ""), on: daemon, waitingFor: "")
        #expect(text == "ready\n")
    }

    @Test(
        "a command runs beside the task, with its environment and output",
        arguments: ContainmentMode.available)
    func command(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let handler = Tasks.ExpirationHandler(
            signal: "", command: ["sh", "-c", "echo from handler of $BGTASK_ID in $PWD"])
        let (task, text) = try fire(handler, on: daemon, waitingFor: "from handler")
        #expect(text == "ready\nfrom handler of \(task.id) in \(daemon.folder.path)\n")
    }

    @Test("signal and command can both be had", arguments: ContainmentMode.available)
    func both(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let handler = Tasks.ExpirationHandler(command: ["sh", "-c", "sleep 0.1; echo handled"])
        let (_, text) = try fire(handler, on: daemon, waitingFor: "handled")
        #expect(text.contains("got TERM\n"))
        #expect(text.contains("handled\n"))
    }

    @Test(
        "a command that cannot be started is logged, and the task goes on",
        arguments: ContainmentMode.available)
    func cannotStart(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let handler = Tasks.ExpirationHandler(signal: "SIGHUP", command: ["no-such-handler"])
        let (_, text) = try fire(handler, on: daemon, waitingFor: "got HUP")
        #expect(text == "ready\ngot HUP\n")
        try daemon.waitForLog("The command of an expiration handler could not be started")
        #expect(daemon.log.contains("no-such-handler"))
    }

    @Test(
        "a command that somebody has stopped gets the signal and its grace all the same",
        arguments: ContainmentMode.available)
    func stopped(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let script =
            "trap 'echo told; exit 0' TERM; echo ready; kill -STOP $$; while :; do sleep 0.05; done"
        let id = try client.submit(script: script) {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 599_000)
        }
        try daemon.waitForOutput("ready", of: id)
        let process = pid_t(try #require(try client.show(id).pid))
        try eventually("it is stopped") { Processes.state(process) == "T" }
        _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try client.ended(id).exit?.status == 0)
        #expect(try daemon.text(of: id) == "ready\ntold\n")
    }

    @Test("a task lasts until its handler's command is done", arguments: ContainmentMode.available)
    func waitsForHandler(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(script: "echo ready; exec sleep 1000") {
            $0.budget = Self.generous
            $0.directory = daemon.folder.path
            $0.expiration = Tasks.ExpirationHandler(command: [
                "sh", "-c", "echo begun; while ! [ -e stop ]; do sleep 0.05; done; echo over",
            ])
        }
        try daemon.waitForOutput("ready", of: id)
        // The handler's own process is signalled only with those that were there before it.
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        try daemon.waitForOutput("begun", of: id)
        #expect(try client.show(id).state == .expiring)
        try Files.write("", to: daemon.folder.path + "/stop")
        #expect(try client.ended(id).outcome == .expired)
        #expect(try daemon.text(of: id) == "ready\nbegun\nover\n")
    }

    @Test(
        "a handler's command that never ends is killed at the hard limit",
        arguments: ContainmentMode.available)
    func handlerOverruns(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(script: "echo ready; exec sleep 1000") {
            $0.budget = Tasks.Budget(ms: 100_000, grace: 700)
            $0.expiration = Tasks.ExpirationHandler(command: ["sleep", "1000"])
        }
        try daemon.waitForOutput("ready", of: id)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        let task = try client.ended(id)
        #expect([.expired, .overrun].contains(task.outcome))
        #expect(daemon.taskProcesses() == [])
    }

    @Test("it fires once, and not for what is queued or over")
    func onceOnly() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let id = try client.submit(script: Self.listener) {
            $0.budget = Self.generous
            $0.directory = daemon.folder.path
        }
        let queued = try client.submit(["true"])
        try daemon.waitForOutput("ready", of: id)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        for other in [id, queued] {
            let refusal = try client.refusal(of: Tasks.SimulateExpiration.self) { $0.id = other }
            #expect(refusal.name == Tasks.NotAccepting.name)
        }
        try Files.write("", to: daemon.folder.path + "/stop")
        _ = try client.ended(id)
        let refusal = try client.refusal(of: Tasks.SimulateExpiration.self) { $0.id = id }
        #expect(refusal.name == Tasks.AlreadyEnded.name)
    }
}
