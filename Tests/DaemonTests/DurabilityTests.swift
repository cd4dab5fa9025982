import Glibc
import TaskAPI
import Testing
import Varlink

/// What was answered stays true over the end of a daemon (docs/architecture.md, faults).
@Suite("What a daemon leaves to the next")
struct DurabilityTests {
    @Test(
        "after kill -9 what ran is interrupted, what waited runs, and ids go on",
        arguments: ContainmentMode.available)
    func crash(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let running = try client.submit(["sleep", "1000"]) { $0.name = "runs" }
        let queued = try client.submit(["sh", "-c", "echo from the next"]) { $0.name = "waits" }
        let cancelled = try client.submit(["true"])
        _ = try client.ask(Tasks.Cancel.self) { $0.id = cancelled }
        try daemon.kill()

        let next = try DaemonProcess(mode, settings: "queue.slots = 1", in: daemon.folder)
        let other = try next.connect()
        #expect(try other.ended(queued).outcome == .completed)
        let interrupted = try other.ended(running)
        #expect(interrupted.outcome == .interrupted)
        #expect(interrupted.reason == "the daemon or the machine went down")
        #expect(try other.ended(cancelled).outcome == .cancelled)
        #expect(try next.text(of: queued) == "from the next\n")
        #expect(try other.submit(["true"]) > cancelled)
        let listed = try other.ask(Tasks.List.self) { $0.ended = true }.tasks ?? []
        #expect(listed.map(\.id).prefix(3) == [running, queued, cancelled])
        #expect(next.taskProcesses(of: running) == [])
    }

    @Test(
        "a daemon whose store is refused ends what the one before it left",
        arguments: ContainmentMode.available)
    func crashAndDamage(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        _ = try daemon.connect().submit(["sleep", "1000"])
        try eventually("it runs") { !daemon.taskProcesses().isEmpty }
        try daemon.kill()
        // Its log alone would make the database whole again.
        for end in ["-wal", "-shm"] { unlink(daemon.statePath + "/tasks.db" + end) }
        try Files.write("this is not a database", to: daemon.statePath + "/tasks.db")
        let next = try DaemonProcess(mode, in: daemon.folder, waits: false)
        #expect(try next.child.waitForEnd() == .status(73))
        #expect(next.log.contains("cannot use the store"))
        #expect(next.taskProcesses() == [])
    }

    @Test("an orderly stop leaves what is queued, and the log of the database is in the database")
    func stop() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let running = try client.submit(
            ["sleep", "1000"], { $0.budget = Tasks.Budget(ms: 180_000, grace: 60_000) })
        let queued = try client.submit(["true"])
        #expect(try daemon.stop() == .status(0))
        #expect(
            Files.names(daemon.statePath).sorted()
                == ["executor", "lock", "output.db", "tasks.db"])

        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        let other = try next.connect()
        #expect(try other.ended(queued).outcome == .completed)
        #expect(try other.ended(running).outcome == .interrupted)
        // What is short for people stays short.
        #expect(try other.submit(["true"]) == queued + 1)
    }

    @Test("in memory the queue ends with the daemon, which says so, and ids are not used again")
    func memory() throws {
        let settings = "queue.slots = 1\nstore.durability = \"memory\""
        let daemon = try DaemonProcess(.supervisor, settings: settings)
        let client = try daemon.connect()
        _ = try client.submit(["sleep", "1000"])
        let queued = try client.submit(["true"])
        let waiter = try daemon.connect()
        try waiter.send(Tasks.Wait.self, with { $0.id = queued })
        try eventually("it waits") { try client.counter("calls_total") ?? 0 >= 4 }
        daemon.child.signal(SIGTERM)
        let told = try waiter.receive(Tasks.Wait.self).output.task
        #expect(told?.outcome == .interrupted)
        #expect(told?.reason == "the daemon stopped while it was queued")
        #expect(try daemon.child.waitForEnd() == .status(0))

        let next = try DaemonProcess(.supervisor, settings: settings, in: daemon.folder)
        let other = try next.connect()
        #expect(
            try other.refusal(of: Tasks.Show.self) { $0.id = queued }.name == Tasks.NoSuchTask.name)
        #expect(try other.submit(["true"]) > queued)
    }

    @Test("held tasks never touch the disk")
    func held() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let size = { Files.bytes(daemon.statePath + "/tasks.db-wal").count }
        let before = size()
        for _ in 0..<100 {
            let id = try client.begin()
            _ = try client.ask(Tasks.End.self) { $0.id = id }
        }
        #expect(size() == before)
    }

    @Test("the history answers for what memory has forgotten, each owner for their own")
    func history() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let good = try client.submit(["true"]) { $0.name = "good" }
        _ = try client.ended(good)
        let bad = try client.submit(["false"]) { $0.name = "bad" }
        _ = try client.ended(bad)
        #expect(try daemon.stop() == .status(0))

        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        let other = try next.connect()
        let all = try other.ask(Tasks.History.self).tasks ?? []
        #expect(all.map(\.id) == [bad, good])
        #expect(all.first?.outcome == .failed)
        #expect(all.first?.exit?.status == 1)
        #expect(all.first?.endedMs ?? -1 >= 0)
        let failed = try other.ask(Tasks.History.self) { $0.outcomes = [.failed] }.tasks
        #expect(failed?.map(\.name) == ["bad"])
        let named = try other.ask(Tasks.History.self) {
            $0.name = "good"; $0.sinceMs = 3_600_000
        }
        #expect(named.tasks?.map(\.id) == [good])
        #expect(
            try other.ask(Tasks.History.self) { $0.application = "none" }.tasks?.isEmpty == true)
        try other.send(Tasks.History.self, Tasks.History.Input(), more: true)
        #expect(try other.receive(Tasks.History.self).output.task?.id == bad)
        #expect(try other.receive(Tasks.History.self).output.task?.id == good)
        #expect(try other.receive(Tasks.History.self).continues == false)
    }
}
