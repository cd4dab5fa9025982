import BudgetCore
import Glibc
import TaskAPI
import TaskStore
import Testing
import Varlink

/// Rule 34 in docs/architecture.md.
@Suite("Ended tasks are forgotten at an order")
struct CleanTests {
    private func listed(_ client: VarlinkClient, all: Bool = false) throws -> Set<Int> {
        let history = try client.ask(Tasks.History.self) { $0.all = all }
        let list = try client.ask(Tasks.List.self) {
            $0.ended = true
            $0.all = all
        }
        return Set(((history.tasks ?? []) + (list.tasks ?? [])).map(\.id))
    }

    @Test(
        "34: they leave the lists, the history and the output, by this daemon and for later ones",
        arguments: [nil, false, true])
    func cleaned(crashes: Bool?) throws {
        let earlier = try DaemonProcess(.supervisor)
        let before = try earlier.connect()
        let (gone, kept) = (
            try before.submit(script: "echo gone"), try before.submit(script: "echo kept")
        )
        let held = try before.begin()
        for id in [gone, kept] { _ = try before.ended(id) }
        _ = try before.ask(Tasks.End.self) { $0.id = held }
        // The disk has their output before it forgets it.
        #expect(try earlier.text(of: gone) == "gone\n")
        _ = try before.ask(Tasks.Clean.self) { $0.ids = [gone, held, 999, gone] }
        let daemon = try crashes.map { try earlier.successor("", crashes: $0) } ?? earlier
        let client = try daemon.connect()
        #expect(try listed(client) == [kept])
        for refusal in [
            try client.refusal(of: Tasks.Show.self) { $0.id = gone },
            try client.refusal(of: Tasks.Restart.self) { $0.id = gone },
            try client.refusal(of: Tasks.Wait.self) { $0.id = gone },
        ] {
            #expect(refusal == .noSuchTask(gone))
        }
        #expect(throws: ClientError.remote(.noSuchTask(gone))) { try daemon.output(of: gone) }
        #expect(try daemon.text(of: kept) == "kept\n")
        #expect(try client.submit(["true"]) > kept)
    }

    @Test("34: what was printed is gone from the disk with the daemon that forgot it")
    func output() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let ids = try (0..<40).map { _ in try client.submit(script: "echo printed") }
        for id in ids { _ = try client.ended(id) }
        // Some may be on their way to the disk still.
        _ = try client.ask(Tasks.Clean.self) { $0.ids = Array(ids.dropLast()) }
        #expect(try daemon.stop() == .status(0))
        let outputs = try OutputDatabase(
            path: daemon.folder.path + "/state/output.db", first: TaskID(rawValue: 1000))
        let left = try outputs.tasks(after: .invalid, countMax: 100)
        #expect(left == [TaskID(rawValue: UInt64(ids[39]))])
        try outputs.close()
    }

    @Test("34: what has not ended stays, and nothing of the order is done then")
    func live() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let ended = try client.submit(["true"])
        _ = try client.ended(ended)
        let (running, queued) = (
            try client.submit(["sleep", "1000"]), try client.submit(["true"])
        )
        for id in [running, queued] {
            let refusal = try client.refusal(of: Tasks.Clean.self) { $0.ids = [ended, id] }
            #expect(refusal.name == Tasks.NotAccepting.name)
            #expect(
                try refusal.decode(Tasks.NotAccepting.self).reason == "task \(id) has not ended")
        }
        #expect(try client.show(ended).outcome == .completed)
        let many = try client.refusal(of: Tasks.Clean.self) { $0.ids = Array(1...501) }
        #expect(many.name == Tasks.LimitReached.name)
    }

    @Test("34: a task that waits for one goes on, and so does an interval from its success")
    func waited() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let success = try client.submit(["true"]) {
            $0.name = "kept apart"
            $0.minimumIntervalMs = 3_600_000
        }
        _ = try client.ended(success)
        let gate = try client.submit(["sleep", "1000"])
        let follower = try client.submit(script: "echo $BGTASK_AFTER") {
            $0.after = [success]
            $0.afterAny = [gate]
        }
        _ = try client.ask(Tasks.Clean.self) { $0.ids = [success] }
        _ = try client.ask(Tasks.Cancel.self) { $0.id = gate }
        #expect(try client.ended(follower).outcome == .completed)
        #expect(try daemon.text(of: follower).contains("\(gate)=cancelled"))
        let next = try client.ask(Tasks.Submit.self) {
            $0.work = Tasks.Work()
            ($0.work.name, $0.work.command) = ("kept apart", ["true"])
            $0.work.minimumIntervalMs = 3_600_000
        }
        #expect(next.receipt == .deferred)
    }

    @Test(
        "34: another's are out of reach but for an operator, and the journal says who it was",
        .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
    func others() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: DaemonProcess.staffOperates)
        let owner = try daemon.connect(as: .games)
        let (run, held) = (try owner.submit(["true"]), try owner.begin())
        _ = try owner.ended(run)
        _ = try owner.ask(Tasks.End.self) { $0.id = held }
        let other = try daemon.connect(as: .backup)
        _ = try other.ask(Tasks.Clean.self) { $0.ids = [run, held] }
        let denied = try other.refusal(of: Tasks.Clean.self) {
            $0.ids = [run]
            $0.all = true
        }
        #expect(ServiceError(denied) == .permissionDenied)
        let staff = try daemon.connect(as: .staff)
        _ = try staff.ask(Tasks.Clean.self) { $0.ids = [run, held] }
        #expect(try listed(owner) == [run, held])
        // Whether one that runs is there is not told to others.
        let live = try owner.begin()
        _ = try other.ask(Tasks.Clean.self) { $0.ids = [live] }
        _ = try staff.ask(Tasks.Clean.self) {
            $0.ids = [run, held]
            $0.all = true
        }
        #expect(try listed(owner) == [live])
        try daemon.waitForLog("ended tasks were removed from the history")
        // Nobody can have the journal say that they removed what they did not.
        let said = daemon.log.split(separator: "\n").filter { $0.contains("were removed from") }
        #expect(said.count == 1 && said[0].contains("BGTASK_OPERATOR=33"))
    }
}
