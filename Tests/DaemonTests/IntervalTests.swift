import Glibc
import TaskAPI
import Testing
import Varlink

/// "Upload what was measured, at most once in ten minutes" (docs/architecture.md, rule 25).
@Suite("An interval between successes")
struct IntervalTests {
    private static let interval = 600_000

    private static func upload(
        _ client: VarlinkClient, _ script: String, interval: Int? = interval
    ) throws -> Tasks.Submit.Output {
        try client.receipt(["sh", "-c", script]) {
            $0.name = "upload"
            $0.minimumIntervalMs = interval
        }
    }

    /// Whether a task is held back by the interval, wherever one asks.
    private static func expectHeldBack(_ id: Int, _ client: VarlinkClient, atMost: Int) throws {
        for task in [try client.show(id), try client.listed(id)] {
            #expect(task.state == .queued)
            #expect(task.waiting == "minimumInterval")
            #expect((1...atMost).contains(task.notBeforeMs ?? 0))
        }
        let explanation = try client.explanation(id)
        #expect(explanation.rule == "minimumInterval")
        #expect(explanation.value == interval)
        #expect(explanation.text == "the interval since the last success of its name is not over")
        #expect((1...atMost).contains(explanation.earliestChangeMs ?? 0))
    }

    @Test(
        "25: after a success the next is held back, with the time it may run, over a stop and a crash",
        arguments: ContainmentMode.available)
    func success(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let first = try Self.upload(client, "true")
        #expect(first.receipt == .accepted)
        #expect(first.notBeforeMs == nil)
        #expect(try client.ended(first.id).outcome == .completed)
        let next = try Self.upload(client, "true")
        #expect(next.receipt == .deferred)
        let wait = try #require(next.notBeforeMs)
        #expect((1...Self.interval).contains(wait))
        try Self.expectHeldBack(next.id, client, atMost: wait)

        let second = try daemon.successor("", crashes: false)
        try Self.expectHeldBack(next.id, try second.connect(), atMost: wait)
        let third = try second.successor("", crashes: true)
        let last = try third.connect()
        try Self.expectHeldBack(next.id, last, atMost: wait)
        let another = try Self.upload(last, "true")
        #expect(another.receipt == .deferred)
        try Self.expectHeldBack(another.id, last, atMost: wait)
        // The rule is about names, not about all that waits.
        #expect(try last.ended(last.submit(["true"])).outcome == .completed)
    }

    @Test("25: a success that was answered is known after kill -9")
    func crashAfterSuccess() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let first = try Self.upload(client, "true").id
        #expect(try client.ended(first).outcome == .completed)
        let next = try daemon.successor("", crashes: true)
        #expect(try Self.upload(next.connect(), "true").receipt == .deferred)
    }

    @Test(
        "25: what is held back starts when the interval is over, and not before", arguments: [0, 1])
    func starts(restarts: Int) throws {
        var daemon = try DaemonProcess(.supervisor)
        var client = try daemon.connect()
        let first = try Self.upload(client, Uptime.script).id
        #expect(try client.ended(first).outcome == .completed)
        let success = try #require(try Uptime.printed(by: first, of: daemon).first)
        let held = try Self.upload(client, Uptime.script, interval: 2000).id
        if restarts > 0 {
            daemon = try daemon.successor("", crashes: true)
            client = try daemon.connect()
        }
        #expect(try client.ended(held).outcome == .completed)
        let start = try #require(try Uptime.printed(by: held, of: daemon).first)
        #expect(start - success >= 2000 - Uptime.error)
    }

    @Test("25: a failure starts no interval, and a success without one does")
    func failure() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let failing = try Self.upload(client, "exit 3")
        #expect(try client.ended(failing.id).outcome == .failed)
        let second = try Self.upload(client, "exit 3")
        try #require(second.receipt == .accepted, "it would wait for the interval")
        #expect(try client.ended(second.id).outcome == .failed)

        let next = try daemon.successor("", crashes: false)
        let other = try next.connect()
        let third = try Self.upload(other, "false")
        #expect(third.receipt == .accepted)
        #expect(try other.ended(third.id).outcome == .failed)
        #expect(try other.ended(Self.upload(other, "true", interval: nil).id).outcome == .completed)
        #expect(try Self.upload(other, "true").receipt == .deferred)
    }

    @Test("25: of two quick submissions one runs; how it ends decides about the other")
    func twoAtOnce() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 4")
        let client = try daemon.connect()
        let first = try Self.upload(client, daemon.waits(for: "first") + "; exit 1")
        let second = try Self.upload(client, daemon.waits(for: "second"))
        let third = try Self.upload(client, "true")
        #expect(first.receipt == .accepted)
        for held in [second, third] {
            #expect(held.receipt == .deferred)
            #expect(held.notBeforeMs == nil)
            let explanation = try client.explanation(held.id)
            #expect(explanation.rule == "minimumInterval")
            #expect(explanation.value == Self.interval)
            #expect(explanation.earliestChangeMs == nil)
            #expect(
                explanation.text
                    == "another task of its name is running; if that one succeeds, "
                    + "an interval has to pass first")
        }
        try client.waitForBegin(of: first.id)
        try daemon.letGo("first")
        #expect(try client.ended(first.id).outcome == .failed)
        try client.waitForBegin(of: second.id)
        #expect(try client.show(third.id).waiting == "minimumInterval")
        try daemon.letGo("second")
        #expect(try client.ended(second.id).outcome == .completed)
        try Self.expectHeldBack(third.id, client, atMost: Self.interval)
    }

    @Test("25: what was interrupted or cancelled starts no interval")
    func interrupted() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let first = try Self.upload(client, "sleep 1000").id
        let second = try Self.upload(client, "sleep 1000").id
        let third = try Self.upload(client, "true").id
        try client.waitForBegin(of: first)
        let next = try daemon.successor("", crashes: true)
        let other = try next.connect()
        #expect(try other.ended(first).outcome == .interrupted)
        try other.waitForBegin(of: second)
        _ = try other.ask(Tasks.Cancel.self) { $0.id = second }
        #expect(try other.ended(third).outcome == .completed)
    }

    @Test("25, 27: a task that is tried again waits for its delay and for others' success")
    func retried() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let retried = try client.submit(["false"]) {
            $0.name = "upload"
            $0.minimumIntervalMs = Self.interval
            $0.retry = Tasks.Retry(attempts: 2, delay: 300_000)
        }
        try eventually("the first attempt is over") {
            try client.show(retried).attempts?.count == 1
        }
        #expect(try client.explanations(retried).map(\.rule) == ["retry"])
        // Between two attempts it is not live, and its failure has started no interval.
        let other = try Self.upload(client, "true")
        try #require(other.receipt == .accepted, "it would wait for the other")
        #expect(try client.ended(other.id).outcome == .completed)
        let found = try client.explanations(retried)
        #expect(found.map(\.rule) == ["retry", "minimumInterval"])
        #expect(found.map(\.value) == [2, Self.interval])
        #expect((1...300_000).contains(found.first?.earliestChangeMs ?? 0))
        #expect(found.last?.earliestChangeMs ?? 0 > 300_000)
        // It can run when both are over.
        #expect(try client.show(retried).waiting == "retry")
        #expect(try client.show(retried).notBeforeMs ?? 0 > 300_000)
    }

    @Test("12: tasks of one name keep 16 different intervals at most")
    func differentIntervals() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let first = try Self.upload(client, "sleep 1000", interval: 1)
        #expect(first.receipt == .accepted)
        for interval in 2...16 { _ = try Self.upload(client, "true", interval: interval) }
        let refusal = try client.refusal(of: Tasks.Submit.self) {
            $0.work.name = "upload"
            $0.work.command = ["true"]
            $0.work.minimumIntervalMs = 17
        }
        #expect(refusal == .limitReached("rulesPerNameMax", 16))
        #expect(try Self.upload(client, "true", interval: 16).receipt == .deferred)
    }

    @Test(
        "25: tasks of another owner with the same name are not held back",
        .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
    func otherOwner() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let games = try daemon.connect(as: .games)
        #expect(try games.ended(Self.upload(games, "true").id).outcome == .completed)
        #expect(try Self.upload(games, "true").receipt == .deferred)
        let backup = try daemon.connect(as: .backup)
        let theirs = try Self.upload(backup, "true")
        #expect(theirs.receipt == .accepted)
        #expect(try backup.ended(theirs.id).outcome == .completed)
    }
}
