import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("Held tasks")
struct HeldTests {
    private static let generous = Tasks.Budget(ms: 200_000, grace: 100_000)

    @Test("ids are above 0 and differ, and an end answers with its outcome again and again")
    func beginAndEnd() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let answer = try client.ask(Tasks.Begin.self) {
            $0.name = "upload"
            $0.application = "org.example.app"
            $0.budget = Tasks.Budget(ms: 60_000, grace: 1000)
        }
        #expect(answer.id > 0)
        #expect(answer.event == nil)
        let remaining = try #require(answer.remaining)
        #expect(remaining.ms == 59_000)
        #expect(remaining.hardMs == 60_000)
        #expect(remaining.bound == .ownBudget)
        let task = try client.show(answer.id)
        #expect(task.kind == .held)
        #expect(task.state == .running)
        #expect(task.application == "org.example.app")
        #expect(task.command == nil)
        #expect(try client.begin() > answer.id)
        for _ in 0..<2 {
            #expect(try client.ask(Tasks.End.self) { $0.id = answer.id }.outcome == .completed)
        }
        #expect(try client.ask(Tasks.End.self) { $0.id = 0 }.outcome == nil)
        try daemon.waitForLog("The invalid task 0 was ended")
        #expect(try client.refusal(of: Tasks.End.self) { $0.id = 999_999 } == .noSuchTask(999_999))
        let run = try client.submit(["sleep", "1000"])
        let refusal = try client.refusal(of: Tasks.End.self) { $0.id = run }
        #expect(refusal.name == Tasks.NotAccepting.name)
    }

    @Test("a begin with more is told of the expiry, and of the end last")
    func events() throws {
        let daemon = try DaemonProcess(.supervisor)
        let holder = try daemon.connect()
        let client = try daemon.connect()
        try holder.send(
            Tasks.Begin.self,
            with {
                $0.name = "held"
                $0.budget = Tasks.Budget(ms: 60_200, grace: 60_000)
            }, more: true)
        let first = try holder.receive(Tasks.Begin.self)
        #expect(first.continues)
        #expect(first.output.event == nil)
        let id = first.output.id
        let expiring = try holder.receive(Tasks.Begin.self)
        #expect(expiring.continues)
        #expect(expiring.output.id == id)
        #expect(expiring.output.event?.kind == .expiring)
        #expect(expiring.output.event?.reason == "its budget is spent")
        #expect(expiring.output.event?.task.state == .expiring)
        #expect(try client.ask(Tasks.Extend.self) { $0.id = id }.remaining.bound == .ownBudget)
        #expect(try holder.receive(Tasks.Begin.self).output.event?.kind == .extended)
        #expect(try holder.receive(Tasks.Begin.self).output.event?.kind == .expiring)
        // The holder's connection waits for events; it is the holder all the same.
        #expect(try client.ask(Tasks.End.self) { $0.id = id }.outcome == .expired)
        let last = try holder.receive(Tasks.Begin.self)
        #expect(!last.continues)
        #expect(last.output.event?.kind == .ended)
        #expect(last.output.event?.task.outcome == .expired)
        try holder.ask(SystemdService.Ping.self)
    }

    @Test("who keeps it past the hard limit has overrun, and an end after it changes nothing")
    func overrun() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.begin { $0.budget = Tasks.Budget(ms: 200, grace: 100) }
        #expect(try client.ended(id).outcome == .overrun)
        #expect(try client.ask(Tasks.End.self) { $0.id = id }.outcome == .overrun)
        let refusal = try client.refusal(of: Tasks.Extend.self) { $0.id = id }
        #expect(refusal.name == Tasks.AlreadyEnded.name)
    }

    @Test("an extension restarts the budget, up to the lifetime limit")
    func extend() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: """
                [profiles.tight]
                duration = "40s"
                grace = "1s"
                lifetimeMax = "60s"
                [profiles.full]
                duration = "40s"
                grace = "1s"
                lifetimeMax = "40s"
                """)
        let client = try daemon.connect()
        let id = try client.begin { $0.profile = "tight" }
        let answer = try client.ask(Tasks.Extend.self) { $0.id = id }.remaining
        #expect(answer.hardMs == 40_000)
        #expect(answer.bound == .ownBudget)
        let told = try client.ask(Tasks.RemainingTime.self) { $0.id = id }.remaining
        #expect((1...40_000).contains(try #require(told.hardMs)))
        let full = try client.begin { $0.profile = "full" }
        #expect(
            try client.refusal(of: Tasks.Extend.self) { $0.id = full }
                == .limitReached("lifetimeMax", 40_000))
        let refused = try client.refusal(of: Tasks.Begin.self) {
            $0.name = "long"
            $0.profile = "tight"
            $0.budget = Tasks.Budget(ms: 60_001, grace: 1000)
        }
        #expect(refused == .limitReached("lifetimeMax", 60_000))
        let unknown = try client.refusal(of: Tasks.Begin.self) {
            $0.name = "x"
            $0.profile = "none"
        }
        #expect(unknown.name == Tasks.NoSuchProfile.name)
    }

    @Test("an extension in the grace arms the handler again, also near the lifetime limit")
    func extendWhileExpiring() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: """
                [profiles.tight]
                duration = "30200ms"
                grace = "30s"
                lifetimeMax = "30700ms"
                """)
        let client = try daemon.connect()
        let holder = try daemon.connect()
        try holder.send(
            Tasks.Begin.self,
            with {
                $0.name = "held"
                $0.profile = "tight"
            }, more: true)
        let id = try holder.receive(Tasks.Begin.self).output.id
        #expect(try holder.receive(Tasks.Begin.self).output.event?.kind == .expiring)
        let remaining = try client.ask(Tasks.Extend.self) { $0.id = id }.remaining
        #expect(try client.show(id).state != .ended)
        #expect(try #require(remaining.hardMs) <= 30_500)
        #expect(try holder.receive(Tasks.Begin.self).output.event?.kind == .extended)
        #expect(try holder.receive(Tasks.Begin.self).output.event?.kind == .expiring)
    }

    @Test(
        "without a limit there is no remaining time, where that may be had",
        .enabled(if: geteuid() == 0, "only root may ask for it"))
    func unlimited() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let answer = try client.ask(Tasks.Begin.self) {
            $0.name = "forever"
            $0.profile = "unlimited"
        }
        #expect(answer.remaining?.ms == nil)
        #expect(answer.remaining?.hardMs == nil)
        #expect(answer.remaining?.bound == nil)
        _ = try client.ask(Tasks.Cancel.self) { $0.id = answer.id }
        #expect(try client.show(answer.id).outcome == .cancelled)
    }

    @Test("a closed connection abandons what it held, and no other's")
    func abandoned() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let own = try client.begin()
        var holder: VarlinkClient? = try daemon.connect()
        let ids = try (0..<5).map { _ in try #require(try holder?.begin()) }
        holder = nil
        for id in ids {
            let task = try client.ended(id)
            #expect(task.outcome == .abandoned)
            #expect(task.reason == "the connection that held it was closed")
        }
        #expect(try client.show(own).state == .running)
        try daemon.waitForLog("was abandoned by the program that held it", count: 5)
    }

    @Test("a connection that held very many abandons them all, in more than one turn")
    func abandonedInPieces() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "limits.tasksPerOwnerMax = 5000\nlimits.endedHeldMax = 5000")
        let client = try daemon.connect()
        let begin = Array(callText(Tasks.Begin.name, .object([("name", .string("x"))])).utf8) + [0]
        var holder: RawConnection? = try RawConnection(daemon)
        try holder?.send(Array(repeating: begin, count: 2500).joined())
        for _ in 0..<2500 { _ = try #require(try holder?.nextFrame()) }
        #expect(try client.counter("tasks_live") == 2500)
        holder = nil
        try eventually("all have ended") { try client.counter("tasks_live") == 0 }
        for id in [1, 1000, 1001, 2500] {
            #expect(try client.show(id).outcome == .abandoned)
        }
    }

    @Test("a task that a process holds outlives the connection, and not the process")
    func heldByProcess() throws {
        let daemon = try DaemonProcess(.supervisor)
        let process = try Child("/bin/sleep", ["1000"])
        var holder: VarlinkClient? = try daemon.connect()
        let ids = try (0..<3).map { _ in
            try #require(try holder?.begin { $0.pid = Int(process.processID) })
        }
        holder = nil
        let client = try daemon.connect()
        #expect(try client.ask(Tasks.End.self) { $0.id = ids[0] }.outcome == .completed)
        #expect(
            try client.ask(Tasks.Wait.self) {
                $0.id = ids[1]; $0.timeoutMs = 20
            }.task == nil)
        process.signal(SIGKILL)
        for id in ids[1...] {
            let task = try client.ended(id)
            #expect(task.outcome == .abandoned)
            #expect(task.reason == "the process that held it exited")
        }
        #expect(try client.show(ids[0]).outcome == .completed)
        // A process that has ended and is not reaped holds nothing.
        let refusal = try client.refusal(of: Tasks.Begin.self) {
            $0.name = "late"
            $0.pid = Int(process.processID)
        }
        #expect(refusal.refuses("pid"))
    }

    @Test("a holder's process is let go of when it holds nothing more")
    func holderReleased() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connectAlone()
        // What is opened at the first task stays open.
        let first = try client.begin()
        _ = try client.ask(Tasks.End.self) { $0.id = first }
        let before = try daemon.settledDescriptorCount()
        let processes = try (0..<8).map { _ in try Child("/bin/sleep", ["1000"]) }
        for process in processes {
            let id = try client.begin { $0.pid = Int(process.processID) }
            _ = try client.ask(Tasks.End.self) { $0.id = id }
            _ = try client.refusal(of: Tasks.Begin.self) {
                $0.name = ""
                $0.pid = Int(process.processID)
            }
        }
        // The disk's thread has a file open for a moment now and then.
        try eventually("as many descriptors are open as before") {
            try client.ask(SystemdService.Ping.self)
            return Processes.descriptorCount(of: daemon.processID) <= before
        }
    }

    @Test("no such process, and numbers that no process has, are named as the parameter")
    func noSuchProcess() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        for pid in [0, -1, 4_194_305, Int(Int32.max), .max, .min] {
            let refusal = try client.refusal(of: Tasks.Begin.self) {
                $0.name = "held"
                $0.pid = pid
            }
            #expect(refusal.refuses("pid"))
        }
    }

    @Test(
        "somebody else's process cannot be a holder",
        .enabled(if: geteuid() == 0, "only root can start a process of somebody else"))
    func foreignProcess() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let process = try Child(
            "/usr/bin/setpriv", ["--reuid=65534", "--clear-groups", "sleep", "1000"])
        try eventually("the process has changed its user") {
            Processes.status("Uid", of: process.processID) == 65534
        }
        let refusal = try client.refusal(of: Tasks.Begin.self) {
            $0.name = "held"
            $0.pid = Int(process.processID)
        }
        // As of one that is not there: nobody learns of processes that they may not see.
        #expect(ServiceError(refusal) == .invalidParameter(parameter: "pid"))
    }
}
