import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("How run tasks end")
struct OutcomeTests {
    @Test("a command that exits 0 is completed", arguments: ContainmentMode.available)
    func completed(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let task = try client.ended(try client.submit(["true"]) { $0.name = "fine" })
        #expect(task.outcome == .completed)
        #expect(task.state == .ended)
        #expect(task.exit?.status == 0)
        #expect(task.exit?.signal == nil)
        #expect(task.name == "fine")
        #expect(task.kind == .run)
        #expect(task.command == ["true"])
        #expect(task.owner == Int(geteuid()))
        #expect(task.profile == "default")
        #expect(task.budget?.durationMs == 180_000)
        #expect(task.remaining == nil)
        #expect(task.pid == nil)
        #expect(task.attempt == 1)
    }

    @Test(
        "a command that exits with a status or dies of a signal has failed",
        arguments: ContainmentMode.available)
    func failed(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let status = try client.ended(try client.submit(script: "exit 7"))
        #expect(status.outcome == .failed)
        #expect(status.exit?.status == 7)
        #expect(status.exit?.signal == nil)
        for signal in ["SEGV", "KILL", "TERM"] {
            let task = try client.ended(try client.submit(script: "kill -\(signal) $$"))
            #expect(task.outcome == .failed)
            #expect(task.exit?.signal == "SIG" + signal)
            #expect(task.exit?.status == nil)
        }
    }

    @Test(
        "a command that cannot be started has failed, and the reason names why",
        arguments: ContainmentMode.available)
    func cannotStart(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let missing = try client.ended(try client.submit(["no-such-program-here"]))
        #expect(missing.outcome == .failed)
        #expect(missing.reason?.contains("no-such-program-here") == true)
        #expect(missing.reason?.contains("No such file or directory") == true)
        #expect(missing.exit == nil)
        let forbidden = try client.ended(try client.submit([daemon.settingsPath]))
        #expect(forbidden.reason?.contains("Permission denied") == true)
        let folder = try client.ended(
            try client.submit(["true"]) { $0.directory = "/no/such/folder" })
        #expect(folder.outcome == .failed)
        #expect(folder.reason?.contains("/no/such/folder") == true)
        #expect(try client.ended(try client.submit(["true"])).outcome == .completed)
    }

    @Test(
        "a command that obeys SIGTERM in its grace is expired, whatever its status",
        arguments: ContainmentMode.available)
    func expired(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(
            script: "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
        ) { $0.budget = Tasks.Budget(ms: 120_000, grace: 60_000) }
        try daemon.waitForOutput("ready", of: id)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        let task = try client.ended(id)
        #expect(task.outcome == .expired)
        #expect(task.exit?.status == 0)
        #expect(task.reason == "an expiration was simulated")
        #expect(try daemon.text(of: id) == "ready\nbye\n")
    }

    @Test(
        "the handler fires when the budget is spent but for the grace",
        arguments: ContainmentMode.available)
    func firesInTime(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(["sleep", "1000"]) {
            $0.budget = Tasks.Budget(ms: 60_400, grace: 60_000)
        }
        let task = try client.ended(id)
        #expect(task.outcome == .expired)
        #expect(task.exit?.signal == "SIGTERM")
        #expect(task.reason == "its budget is spent")
        #expect(task.usedMs ?? -1 >= 400)
        #expect(task.usedMs ?? .max < 60_400)
    }

    @Test(
        "at the hard limit no process is left, a grandchild in its own session included",
        arguments: ContainmentMode.available)
    func overrun(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(
            script: """
                trap '' TERM
                setsid sh -c 'sleep 1000 & echo ready; exec sleep 1001' &
                while :; do sleep 0.05; done
                """
        ) { $0.budget = Tasks.Budget(ms: 120_000, grace: 300) }
        try daemon.waitForOutput("ready", of: id)
        #expect(daemon.taskProcesses(of: id).count >= 3)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        let task = try client.ended(id)
        #expect(task.outcome == .overrun)
        #expect(task.exit?.signal == "SIGKILL")
        #expect(daemon.taskProcesses() == [])
    }

    @Test(
        "a task that never obeys is overrun when its budget is over",
        arguments: ContainmentMode.available)
    func overrunInTime(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(["sleep", "1000"]) {
            $0.budget = Tasks.Budget(ms: 500, grace: 100)
            $0.expiration = Tasks.ExpirationHandler(signal: "SIGWINCH")
        }
        let task = try client.ended(id)
        #expect(task.outcome == .overrun)
        #expect(task.usedMs ?? -1 >= 500)
        #expect(daemon.taskProcesses() == [])
    }

    @Test(
        "a cancelled command gets SIGTERM, and is killed when it does not obey in its grace",
        arguments: ContainmentMode.available)
    func cancelled(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let obeying = try client.submit(
            script: "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
        try daemon.waitForOutput("ready", of: obeying)
        _ = try client.ask(Tasks.Cancel.self) {
            $0.id = obeying
            $0.reason = "not wanted"
        }
        let first = try client.ended(obeying)
        #expect(first.outcome == .cancelled)
        #expect(first.exit?.status == 0)
        #expect(first.reason == "cancelled by user \(geteuid()): not wanted")
        let text = try daemon.text(of: obeying)
        #expect(text == "ready\nbye\n")

        let stubborn = try client.submit(
            script: "trap '' TERM; echo ready; while :; do sleep 0.05; done"
        ) { $0.budget = Tasks.Budget(ms: 100_000, grace: 200) }
        try daemon.waitForOutput("ready", of: stubborn)
        _ = try client.ask(Tasks.Cancel.self) { $0.id = stubborn }
        let second = try client.ended(stubborn)
        #expect(second.outcome == .cancelled)
        #expect(second.exit?.signal == "SIGKILL")
        let refusal = try client.refusal(of: Tasks.Cancel.self) { $0.id = stubborn }
        #expect(refusal.name == Tasks.AlreadyEnded.name)
        #expect(try refusal.decode(Tasks.AlreadyEnded.self).outcome == .cancelled)
        #expect(daemon.taskProcesses() == [])
    }

    @Test(
        "an order that comes while a command is being started reaches it",
        arguments: ContainmentMode.available)
    func orderedWhileStarting(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "queue.slots = 64")
        let client = try daemon.connect()
        let connection = try RawConnection(daemon)
        let first = try client.ended(try client.submit(["true"])).id + 1
        let work = """
            {"name":"n","command":["sleep","1000"],"budget":{"durationMs":400000,"graceMs":300000}}
            """
        // Both calls of a pair are in one write, so that the order comes before the start is done.
        let calls = (first..<first + 40).flatMap { id in
            [
                "{\"method\":\"\(Tasks.Submit.name)\",\"parameters\":{\"work\":\(work)}}",
                callText(
                    id % 2 == 0 ? Tasks.Cancel.name : Tasks.SimulateExpiration.name,
                    .object([("id", .integer(id))])),
            ]
        }
        try connection.send(calls.map { $0 + "\0" }.joined())
        for _ in calls { #expect(try #require(try connection.nextReply())["error"] == nil) }
        for id in first..<first + 40 {
            let answer = try client.ask(Tasks.Wait.self) {
                $0.id = id
                $0.timeoutMs = 30_000
            }
            let task = try #require(answer.task, "task \(id) got no signal")
            #expect(task.outcome == (id % 2 == 0 ? .cancelled : .expired))
            #expect(task.exit?.signal == "SIGTERM")
        }
    }

    @Test("a queued task that is cancelled never starts", arguments: ContainmentMode.available)
    func cancelledInQueue(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let first = try client.submit(["sleep", "1000"])
        let second = try client.submit(["sh", "-c", "echo ran > \(daemon.folder.path)/ran"])
        _ = try client.ask(Tasks.Cancel.self) { $0.id = second }
        #expect(try client.ended(second).outcome == .cancelled)
        _ = try client.ask(Tasks.Cancel.self) { $0.id = first }
        #expect(try client.ended(first).outcome == .cancelled)
        #expect(!Files.exists(daemon.folder.path + "/ran"))
    }

    @Test(
        "what the main process leaves behind is killed before the end is recorded",
        arguments: ContainmentMode.available)
    func leavesNothing(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(
            script: "setsid sh -c 'trap \"\" TERM; sleep 1000 & sleep 1001' & echo done")
        #expect(try client.ended(id).outcome == .completed)
        #expect(daemon.taskProcesses() == [])
        let text = try daemon.text(of: id)
        #expect(text == "done\n")
    }
}
