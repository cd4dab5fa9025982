import Glibc
import TaskAPI
import Testing
import Varlink

/// Rule 33 in docs/architecture.md.
@Suite("An ended command is submitted again")
struct RestartTests {
    /// A script that tells what it was given.
    private static let script = "echo $WORD $(pwd) $(cat)"

    private static func fill(_ work: inout Tasks.Work) {
        work.name = "again"
        work.environment = ["WORD": "hello"]
        work.directory = "/usr"
        work.input = "d29ybGQ="
        work.budget = Tasks.Budget(ms: 60_000, grace: 7_000)
        work.priority = 3
        work.minimumIntervalMs = 1
    }

    @Test(
        "33: with its environment, its directory, its input and its budget, by this daemon and by later ones",
        arguments: ContainmentMode.available, [nil, false, true])
    func again(mode: ContainmentMode, crashes: Bool?) throws {
        let earlier = try DaemonProcess(mode)
        let first = try earlier.connect().submit(["sh", "-c", Self.script], Self.fill)
        #expect(try earlier.connect().ended(first).outcome == .completed)
        let daemon = try crashes.map { try earlier.successor("", crashes: $0) } ?? earlier
        let client = try daemon.connect()
        let second = try client.ask(Tasks.Restart.self) { $0.id = first }.id
        let task = try client.ended(second)
        #expect(second > first)
        #expect(task.outcome == .completed)
        #expect(task.name == "again" && task.restartOf == first && task.priority == 3)
        #expect(task.budget?.durationMs == 60_000 && task.budget?.graceMs == 7_000)
        #expect(try daemon.text(of: second) == "hello /usr world\n")
        // What was restarted can be once more.
        let third = try client.ask(Tasks.Restart.self) { $0.id = second }.id
        #expect(try client.ended(third).restartOf == second)
        #expect(try daemon.text(of: third) == "hello /usr world\n")
    }

    @Test(
        "33: what a task was submitted with is told while it waits, while it runs and after its end"
    )
    func shown() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let running = try client.submit(["sleep", "1000"], Self.fill)
        let other = try client.submit(["true"])
        let waiting = try client.submit(["true"]) {
            $0.after = [running]
            $0.afterAny = [other]
            $0.retry = Tasks.Retry(attempts: 2, delay: 5000)
            $0.expiration = Tasks.ExpirationHandler(signal: "SIGINT", command: ["echo"])
            $0.conditions = [.network]
            $0.earliestBeginMs = 1500
            $0.environment = ["A": "b"]
            $0.paused = true
        }
        func work(_ id: Int) throws -> Tasks.Work {
            try client.ask(Tasks.ShowSubmission.self) { $0.id = id }.work
        }
        let before = try (work(running), work(waiting))
        #expect(before.0.environment == ["WORD": "hello"] && before.0.directory == "/usr")
        #expect(before.0.input == nil && before.0.minimumIntervalMs == 1)
        #expect(before.1.after == [running] && before.1.afterAny == [other])
        #expect(before.1.retry?.delayMs == 5000 && before.1.expiration?.signal == "SIGINT")
        #expect(before.1.conditions == [.network] && before.1.earliestBeginMs == 1500)
        #expect(before.1.paused == true && before.1.environment == ["A": "b"])
        for id in [waiting, running] {
            _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
            _ = try client.ended(id)
        }
        #expect(try work(running).environment == before.0.environment)
        let after = try work(waiting)
        #expect(after.after == before.1.after && after.afterAny == before.1.afterAny)
        #expect(after.expiration?.command == ["echo"] && after.environment == ["A": "b"])
    }

    @Test(
        "33: it comes after what it is said to come after, and waits for nothing that the old one waited for"
    )
    func order() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let file = daemon.folder.path + "/fixed"
        let first = try client.submit(script: "[ -e \(file) ]") { $0.paused = true }
        let second = try client.submit(["true"]) { $0.after = [first] }
        _ = try client.ask(Tasks.Change.self) {
            $0.id = first
            $0.paused = false
        }
        #expect(try client.ended(first).outcome == .failed)
        #expect(try client.ended(second).outcome == .failed)
        try Files.write("", to: file)
        let alone = try client.ask(Tasks.Restart.self) { $0.id = second }
        #expect(alone.after == nil)
        #expect(try client.ended(alone.id).outcome == .completed)
        let again = try client.ask(Tasks.Restart.self) { $0.id = first }.id
        let follower = try client.ask(Tasks.Restart.self) {
            $0.id = second
            $0.after = [again]
        }.id
        #expect(try client.ended(follower).outcome == .completed)
        #expect(try client.ended(again).outcome == .completed)
        let refusal = try client.refusal(of: Tasks.Restart.self) {
            $0.id = second
            $0.after = [first]
        }
        #expect(refusal.name == Tasks.AlreadyEnded.name)
        let invalid = try client.refusal(of: Tasks.Restart.self) {
            $0.id = second
            $0.afterAny = [-1]
        }
        #expect(invalid.name == "org.varlink.service.InvalidParameter")
    }

    @Test("what has not ended, was held, or never was is refused")
    func refused() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let running = try client.submit(["sleep", "1000"])
        let held = try client.begin()
        for id in [running, held] {
            let refusal = try client.refusal(of: Tasks.Restart.self) { $0.id = id }
            #expect(refusal.name == Tasks.NotAccepting.name)
        }
        _ = try client.ask(Tasks.End.self) { $0.id = held }
        let ended = try client.refusal(of: Tasks.Restart.self) { $0.id = held }
        #expect(ended.name == Tasks.NotAccepting.name)
        for id in [0, held + 1, 1 << 40, Int.max] {
            for name in [
                try client.refusal(of: Tasks.Restart.self) { $0.id = id }.name,
                try client.refusal(of: Tasks.ShowSubmission.self) { $0.id = id }.name,
            ] {
                #expect(name == Tasks.NoSuchTask.name)
            }
        }
    }

    @Test(
        "5: another's is like one that never was, for operators too",
        .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
    func foreign() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: DaemonProcess.staffOperates)
        let games = try daemon.connect(as: .games)
        let live = try games.submit(["sleep", "1000"])
        let ended = try games.submit(["true"])
        _ = try games.ended(ended)
        for user in [TestUser.backup, .staff, .root] {
            let client = try daemon.connect(as: user)
            for id in [live, ended] {
                for name in [
                    try client.refusal(of: Tasks.Restart.self) { $0.id = id }.name,
                    try client.refusal(of: Tasks.ShowSubmission.self) { $0.id = id }.name,
                ] {
                    #expect(name == Tasks.NoSuchTask.name, "\(user)")
                }
            }
        }
    }

    @Test("a budget that its profile does not allow any more is refused, and names the limit")
    func changedProfile() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(["true"]) { $0.budget = Tasks.Budget(ms: 300_000, grace: 1000) }
        _ = try client.ended(id)
        let next = try daemon.successor(
            "[profiles.default]\nduration = \"60s\"\nlifetimeMax = \"100s\"", crashes: false)
        let refusal = try next.connect().refusal(of: Tasks.Restart.self) { $0.id = id }
        #expect(refusal.name == Tasks.LimitReached.name, "\(refusal)")
    }
}
