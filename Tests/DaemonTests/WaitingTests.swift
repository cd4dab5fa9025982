import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("What waits for its time")
struct WaitingTests {
    @Test("24: nothing starts before its earliest begin, also in the next daemon", arguments: 0...2)
    func earliestBegin(restart: Int) throws {
        var daemon = try DaemonProcess(.supervisor)
        var client = try daemon.connect()
        let submitted = Uptime.now
        let receipt = try client.receipt(["sh", "-c", Uptime.script]) { $0.earliestBeginMs = 2000 }
        #expect(receipt.receipt == .deferred)
        #expect((1...2000).contains(receipt.notBeforeMs ?? 0))
        if restart > 0 {
            daemon = try daemon.successor("", crashes: restart == 1)
            client = try daemon.connect()
        }
        #expect(try client.ended(receipt.id).outcome == .completed)
        let start = try #require(try Uptime.printed(by: receipt.id, of: daemon).first)
        #expect(start - submitted >= 2000 - Uptime.error)
    }

    @Test("28: explain, show and list say for how long, and others go first meanwhile")
    func explained() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let receipt = try client.receipt(["true"]) {
            $0.earliestBeginMs = 600_000
            $0.priority = 1000
        }
        let wait = try #require(receipt.notBeforeMs)
        func expectWaits(_ client: VarlinkClient) throws {
            let explanation = try client.explanation(receipt.id)
            #expect(explanation.rule == "earliestBegin")
            #expect((1...wait).contains(explanation.earliestChangeMs ?? 0))
            for task in [try client.show(receipt.id), try client.listed(receipt.id)] {
                #expect(task.waiting == "earliestBegin")
                #expect((1...wait).contains(task.notBeforeMs ?? 0))
            }
        }
        try expectWaits(client)
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        let next = try daemon.successor("queue.slots = 1", crashes: true)
        let other = try next.connect()
        try expectWaits(other)
        _ = try other.ask(Tasks.Cancel.self) { $0.id = receipt.id }
        #expect(try other.ended(receipt.id).outcome == .cancelled)
    }

    @Test("28: every rule that holds a task back is named, the one that lasts longest in front")
    func severalRules() throws {
        let settings = "queue.slots = 1\nqueue.groups.one.slots = 1\nlimits.tasksPerOwnerMax = 1"
        let daemon = try DaemonProcess(.supervisor, settings: settings)
        let client = try daemon.connect()
        try client.waitForBegin(
            of: client.submit(["sleep", "1000"]) {
                $0.name = "upload"
                $0.group = "one"
            })
        try client.pause("one")
        let id = try client.submit(["true"]) {
            $0.name = "upload"
            $0.group = "one"
            $0.earliestBeginMs = 600_000
            $0.minimumIntervalMs = 300_000
        }
        let found = try client.explanations(id)
        #expect(
            found.map(\.rule) == [
                "paused", "earliestBegin", "minimumInterval", "tasksPerOwnerMax", "groupSlots",
                "slots",
            ])
        #expect(found.map(\.value) == [nil, nil, 300_000, 1, 1, 1])
        let changes = found.map { $0.earliestChangeMs != nil }
        #expect(changes == [false, true, false, false, true, true])
        #expect(found.allSatisfy { !$0.text.isEmpty })
        #expect(try client.show(id).waiting == "paused")
    }

    @Test("28: what is queued while the daemon stops waits for the next one, and is told so")
    func stopping() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let script = "trap 'echo told' TERM; echo ready; " + daemon.waits(for: "end")
        let running = try client.submit(script: script) {
            $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000)
        }
        try daemon.waitForOutput("ready", of: running)
        let queued = try client.submit(["true"])
        daemon.child.signal(SIGTERM)
        try daemon.waitForOutput("told", of: running)
        #expect(try client.explanations(queued).map(\.rule) == ["shutdown", "slots"])
        #expect(try client.show(queued).waiting == "shutdown")
        try daemon.letGo("end")
        #expect(try daemon.child.waitForEnd() == .status(0))
        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        #expect(try next.connect().ended(queued).outcome == .completed)
    }

    private static let year = 366 * 86_400_000
    private static let fiveHours = 5 * 3_600_000

    private static let wrong: [(path: String, fill: @Sendable (inout Tasks.Work) -> Void)] = [
        ("priority", { $0.priority = 1001 }),
        ("priority", { $0.priority = -1001 }),
        ("priority", { $0.priority = .min }),
        ("priority", { $0.priority = .max }),
        ("earliestBeginMs", { $0.earliestBeginMs = -1 }),
        ("earliestBeginMs", { $0.earliestBeginMs = year + 1 }),
        ("earliestBeginMs", { $0.earliestBeginMs = .max }),
        ("earliestBeginMs", { $0.earliestBeginMs = .min }),
        ("minimumIntervalMs", { $0.minimumIntervalMs = -1 }),
        ("minimumIntervalMs", { $0.minimumIntervalMs = year + 1 }),
        ("minimumIntervalMs", { $0.minimumIntervalMs = .max }),
        ("retry.attempts", { $0.retry = Tasks.Retry(attempts: 0) }),
        ("retry.attempts", { $0.retry = Tasks.Retry(attempts: 101) }),
        ("retry.attempts", { $0.retry = Tasks.Retry(attempts: .min) }),
        ("retry.delayMs", { $0.retry = Tasks.Retry(attempts: 2, delay: -1) }),
        ("retry.delayMs", { $0.retry = Tasks.Retry(attempts: 2, delay: fiveHours + 1) }),
        ("retry.delayMs", { $0.retry = Tasks.Retry(attempts: 2, delay: .max) }),
        ("limits", { $0.limits = Tasks.Limits() }),
    ]

    @Test("what is out of its range is refused by its path")
    func outOfRange() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        for (path, fill) in Self.wrong {
            let refusal = try client.refusal(of: Tasks.Submit.self) {
                $0.work.name = "test"
                $0.work.command = ["true"]
                fill(&$0.work)
            }
            #expect(refusal.refuses("work." + path))
        }
        #expect(try client.ask(Tasks.List.self) { $0.ended = true }.tasks?.isEmpty == true)
    }

    @Test("what is at the bounds of its range is taken")
    func bounds() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let highest = try client.receipt(["true"]) {
            $0.priority = -1000
            $0.earliestBeginMs = Self.year
            $0.minimumIntervalMs = Self.year
            $0.retry = Tasks.Retry(attempts: 100, delay: Self.fiveHours)
        }
        #expect(highest.receipt == .deferred)
        let task = try client.show(highest.id)
        #expect(task.attemptsMax == 100)
        #expect(task.priority == -1000)
        #expect((1...Self.year).contains(task.notBeforeMs ?? 0))
        let lowest = try client.receipt(["true"]) {
            $0.priority = 1000
            $0.earliestBeginMs = 0
            $0.minimumIntervalMs = 0
            $0.retry = Tasks.Retry(attempts: 1, delay: 0)
        }
        #expect(lowest.receipt == .accepted)
        #expect(try client.ended(lowest.id).outcome == .completed)
    }
}
