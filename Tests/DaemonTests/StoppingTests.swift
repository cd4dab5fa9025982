import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("How a daemon ends")
struct StoppingTests {
    @Test(
        "SIGTERM fires handlers early; who ends by it is interrupted, whether it obeys or not",
        arguments: ContainmentMode.available)
    func stop(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "queue.slots = 2")
        let client = try daemon.connect()
        let obeying = try client.submit(
            script: "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
        ) { $0.budget = Tasks.Budget(ms: 200_000, grace: 60_000) }
        let ignoring = try client.submit(
            script: "trap '' TERM; setsid sleep 1000 & echo ready; while :; do sleep 0.05; done"
        ) { $0.budget = Tasks.Budget(ms: 200_000, grace: 1000) }
        _ = try client.submit(["true"])
        for id in [obeying, ignoring] { try daemon.waitForOutput("ready", of: id) }
        let holder = try daemon.connect()
        try holder.send(
            Tasks.Begin.self,
            with {
                $0.name = "held"
                $0.budget = Tasks.Budget(ms: 200_000, grace: 100_000)
            }, more: true)
        let held = try holder.receive(Tasks.Begin.self).output.id
        let waiters = try [obeying, ignoring].map { id in
            let waiter = try daemon.connect()
            try waiter.send(Tasks.Wait.self, with { $0.id = id })
            return waiter
        }
        try eventually("all wait") { try client.counter("calls_total") ?? 0 >= 9 }

        daemon.child.signal(SIGTERM)
        let told = try holder.receive(Tasks.Begin.self).output.event
        #expect(told?.kind == .expiring)
        #expect(told?.reason == "the daemon is stopping")
        let refusal = try client.refusal(of: Tasks.Begin.self) { $0.name = "late" }
        #expect(refusal.name == Tasks.NotAccepting.name)
        #expect(try client.ask(Tasks.End.self) { $0.id = held }.outcome == .interrupted)
        let tasks = try waiters.map { try #require($0.receive(Tasks.Wait.self).output.task) }
        #expect(tasks.map(\.outcome) == [.interrupted, .interrupted])
        #expect(tasks[0].reason == "the daemon is stopping")
        #expect(tasks[0].exit?.status == 0)
        #expect(tasks[1].reason == "the daemon is stopping")
        #expect(tasks[1].exit?.signal == "SIGKILL")

        #expect(try daemon.child.waitForEnd() == .status(0))
        #expect(!Files.exists(daemon.socketPath))
        #expect(daemon.groupFolder == nil)
        #expect(daemon.taskProcesses() == [])
    }

    @Test(
        "an idle daemon stops at once, also by SIGINT and with clients connected",
        arguments: ContainmentMode.available)
    func stopIdle(mode: ContainmentMode) throws {
        for signal in [SIGTERM, SIGINT] {
            let daemon = try DaemonProcess(mode)
            let client = try daemon.connect()
            try client.ask(SystemdService.Ping.self)
            daemon.child.signal(signal)
            #expect(try daemon.child.waitForEnd() == .status(0))
            #expect(!Files.exists(daemon.socketPath))
            #expect(throws: ClientError.disconnected) {
                try client.ask(SystemdService.Ping.self)
            }
        }
    }

    @Test("a call that came before the signal is answered", arguments: [1, 2])
    func lastCalls(signals: Int) throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let held = try client.begin()
        // While it is stopped, what it finds when it goes on is certain.
        daemon.child.signal(SIGSTOP)
        let count = 200
        for _ in 0..<count { try client.send(Tasks.Show.self, with { $0.id = held }) }
        try client.send(Tasks.End.self, with { $0.id = held })
        for _ in 0..<signals { daemon.child.signal(SIGTERM) }
        if signals == 2 { daemon.child.signal(SIGINT) }
        daemon.child.signal(SIGCONT)
        for _ in 0..<count {
            #expect(try client.receive(Tasks.Show.self).output.task.id == held)
        }
        _ = try client.receive(Tasks.End.self)
        #expect(try daemon.child.waitForEnd() == .status(0))
    }

    @Test("a second SIGTERM does not wait for the grace", arguments: ContainmentMode.available)
    func secondSignal(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(
            script: "trap '' TERM; echo ready; while :; do sleep 0.05; done"
        ) { $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000) }
        try daemon.waitForOutput("ready", of: id)
        try client.send(Tasks.Wait.self, with { $0.id = id })
        daemon.child.signal(SIGTERM)
        try daemon.waitForLog("stopping")
        daemon.child.signal(SIGTERM)
        #expect(try client.receive(Tasks.Wait.self).output.task?.outcome != .completed)
        #expect(try daemon.child.waitForEnd() == .status(0))
        #expect(daemon.taskProcesses() == [])
    }

    @Test("a second SIGTERM ends held tasks too")
    func secondSignalAndHeldTasks() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        _ = try client.begin { $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000) }
        daemon.child.signal(SIGTERM)
        try daemon.waitForLog("stopping")
        daemon.child.signal(SIGTERM)
        #expect(try daemon.child.waitForEnd() == .status(0))
    }

    @Test("a stop amid the tasks of one who went abandons the rest of them and waits for no grace")
    func stopAfterHolder() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: "limits.tasksPerOwnerMax = 5000\nlimits.auditRatePerOwnerMax = 1000000")
        let count = 3500
        var holder: VarlinkClient? = try daemon.connect()
        for _ in 0..<count {
            _ = try holder?.begin { $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000) }
        }
        // While it is stopped, what it finds when it goes on is certain: more than one turn abandons.
        daemon.child.signal(SIGSTOP)
        holder = nil
        daemon.child.signal(SIGTERM)
        daemon.child.signal(SIGCONT)
        #expect(try daemon.child.waitForEnd() == .status(0))
        let ended = daemon.log.split(separator: "\n")
            .filter { $0.contains("was abandoned by the program that held it") }
        #expect(ended.count == count)
    }

    /// Has tasks run that heed no signal, and have left their session.
    /// - Returns: the executor of the daemon, a child of it.
    private func submitStubborn(to daemon: DaemonProcess) throws -> pid_t {
        let client = try daemon.connect()
        for _ in 0..<3 {
            let id = try client.submit(
                script:
                    "trap '' TERM HUP; setsid sleep 1000 & echo ready; while :; do sleep 1; done")
            try daemon.waitForOutput("ready", of: id)
        }
        #expect(daemon.taskProcesses().count >= 6)
        return try #require(daemon.executorID)
    }

    @Test("kill -9 of a daemon leaves no process", arguments: ContainmentMode.available)
    func killed(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let executor = try submitStubborn(to: daemon)
        try daemon.kill()
        try eventually("no process of a task is left") { daemon.taskProcesses() == [] }
        try eventually("its executor has ended") { !Processes.isAlive(executor) }
    }

    @Test(
        "the next daemon kills what one that was killed has left, with an executor that hangs",
        arguments: ContainmentMode.available)
    func killedWithHangingExecutor(mode: ContainmentMode) throws {
        let first = try DaemonProcess(mode)
        let executor = try submitStubborn(to: first)
        Glibc.kill(executor, SIGSTOP)
        try first.kill()
        #expect(first.taskProcesses().count >= 6)
        let second = try DaemonProcess(mode, in: first.folder)
        // It serves, so nothing of the first is left.
        #expect(second.taskProcesses() == [])
        #expect(!Processes.isAlive(executor))
        if mode == .cgroup {
            try second.waitForLog("processes of an earlier daemon were killed")
        }
        let after = try second.connect()
        #expect(try after.ended(try after.submit(["true"])).outcome == .completed)
    }

    @Test(
        "an executor that is killed takes its commands along, and the next one starts others",
        arguments: ContainmentMode.available)
    func killedExecutor(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let executor = try submitStubborn(to: daemon)
        Glibc.kill(executor, SIGKILL)
        try eventually("no process of a task is left") { daemon.taskProcesses() == [] }
        try daemon.waitForLog("bgtask-executor is there")
        let client = try daemon.connect()
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        for id in 1...3 { #expect(try client.show(id).outcome == .interrupted) }
        try eventually("what it left is reaped") {
            Processes.children(of: daemon.processID) == [daemon.executorID]
        }
        #expect(try daemon.stop() == .status(0))
    }

    @Test(
        "ids go on above those of an earlier daemon, however it ended",
        arguments: ContainmentMode.available)
    func identifiersGoOn(mode: ContainmentMode) throws {
        let folder = try TemporaryFolder()
        var last = 0
        for ending in [SIGKILL, SIGTERM, SIGKILL] {
            let daemon = try DaemonProcess(mode, in: folder)
            let client = try daemon.connect()
            let ids = try [client.begin(), client.submit(["true"]), client.begin()]
            #expect(ids == ids.sorted())
            #expect(try #require(ids.first) > last)
            #expect(try client.refusal(of: Tasks.Show.self) { $0.id = last } == .noSuchTask(last))
            last = try #require(ids.last)
            daemon.child.signal(ending)
            _ = try daemon.child.waitForEnd()
        }
    }
}
