import TaskAPI
import Testing
import Varlink

@Suite("Tasks that are tried again")
struct RetryTests {
    /// Fails until the attempt of this number.
    private static func failing(until attempt: Int) -> String {
        "echo out $BGTASK_ATTEMPT; echo err $BGTASK_ATTEMPT >&2; [ $BGTASK_ATTEMPT = \(attempt) ]"
    }

    @Test(
        "27: each attempt is visible: in the record, in events, in the journal and in what it printed",
        arguments: ContainmentMode.available)
    func visible(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let watcher = try daemon.connect()
        try watcher.watchAll(beside: client)
        let id = try client.submit(script: Self.failing(until: 3)) {
            $0.retry = Tasks.Retry(attempts: 5, delay: 0)
        }
        let ended = try client.ended(id)
        for task in [ended, try client.show(id)] {
            #expect(task.outcome == .completed)
            #expect(task.exit?.status == 0)
            #expect(task.attempt == 3)
            #expect(task.attemptsMax == 5)
            let attempts = try #require(task.attempts)
            #expect(attempts.map(\.attempt) == [1, 2])
            #expect(attempts.map(\.outcome) == [.failed, .failed])
            #expect(attempts.map(\.exit?.status) == [1, 1])
        }
        #expect(try daemon.text(of: id) == "out 1\nout 2\nout 3\n")
        #expect(try daemon.text(of: id, stream: "stderr") == "err 1\nerr 2\nerr 3\n")

        let events = try watcher.events { $0.kind == .ended && $0.task.id == id }
        let mine = events.filter { $0.task.id == id }
        #expect(
            mine.map(\.kind) == [.queued, .began, .attempt, .began, .attempt, .began, .ended])
        let between = mine.filter { $0.kind == .attempt }
        #expect(between.map(\.task.state) == [.queued, .queued])
        #expect(between.map(\.task.attempt) == [2, 3])
        #expect(between.map { $0.task.attempts?.count } == [1, 2])

        for attempt in 1...3 { try daemon.waitForLog("BGTASK_ATTEMPT=\(attempt)") }
        let entries = daemon.log.split(separator: "\n").filter {
            $0.contains("will be tried again") && $0.contains("BGTASK_ID=\(id) ")
        }
        try #require(entries.count == 2, "\(daemon.log)")
        for (entry, attempt) in zip(entries, 1...) {
            for field in [
                "BGTASK_ATTEMPT=\(attempt)", "BGTASK_OUTCOME=failed", "BGTASK_EXIT_STATUS=1",
            ] {
                #expect(entry.contains(field), "\(entry)")
            }
        }
    }

    @Test(
        "27: the last attempt is the end, and the next daemon knows all of them",
        arguments: [true, false])
    func last(crashes: Bool) throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(script: "exit $BGTASK_ATTEMPT") {
            $0.retry = Tasks.Retry(attempts: 3, delay: 0)
        }
        func expectAll(_ client: VarlinkClient) throws {
            let task = try client.ended(id)
            #expect(task.outcome == .failed)
            #expect(task.exit?.status == 3)
            #expect(task.attempt == 3)
            #expect(task.attempts?.map(\.exit?.status) == [1, 2])
            #expect(try client.explanation(id).text == "its command exited with status 3")
        }
        try expectAll(client)
        let next = try daemon.successor("", crashes: crashes)
        let other = try next.connect()
        try expectAll(other)
        let kept = try #require(try other.ask(Tasks.History.self).tasks?.first)
        #expect(kept.id == id)
        #expect(kept.attempt == 3)
        #expect(kept.exit?.status == 3)
    }

    @Test("27: the delay doubles from attempt to attempt, and nothing starts before it is over")
    func delays() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(script: Uptime.script + "; exit 1") {
            $0.retry = Tasks.Retry(attempts: 4, delay: 300)
        }
        #expect(try client.ended(id).outcome == .failed)
        let starts = try Uptime.printed(by: id, of: daemon)
        try #require(starts.count == 4)
        for (number, delay) in [300, 600, 1200].enumerated() {
            #expect(starts[number + 1] - starts[number] >= delay - Uptime.error)
        }
    }

    @Test("27: between two attempts a task waits in the queue, where it can be cancelled for good")
    func cancelBetween() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(["false"]) {
            $0.retry = Tasks.Retry(attempts: 3, delay: 600_000)
        }
        let waiter = try daemon.connect()
        try waiter.send(Tasks.Wait.self, with { $0.id = id })
        func expectWaits(_ client: VarlinkClient) throws {
            try eventually("the first attempt is over") { try client.show(id).attempt == 2 }
            let task = try client.show(id)
            #expect(task.state == .queued)
            #expect(task.waiting == "retry")
            #expect((1...600_000).contains(task.notBeforeMs ?? 0))
            #expect(task.attempts?.map(\.outcome) == [.failed])
            let explanation = try client.explanation(id)
            #expect(explanation.rule == "retry")
            #expect(explanation.value == 2)
            #expect((1...600_000).contains(explanation.earliestChangeMs ?? 0))
        }
        try expectWaits(client)
        #expect(try waiter.receiveIfReady(Tasks.Wait.self) == nil, "the task has not ended")
        let next = try daemon.successor("", crashes: true)
        let other = try next.connect()
        try expectWaits(other)
        _ = try other.ask(Tasks.Cancel.self) { $0.id = id }
        let task = try other.ended(id)
        #expect(task.outcome == .cancelled)
        #expect(task.attempts?.map(\.outcome) == [.failed])
        let last = try next.successor("", crashes: true)
        #expect(try last.connect().show(id).outcome == .cancelled)
    }

    @Test(
        "27: what is cancelled while it runs is never tried again, whatever it exits with",
        arguments: [true, false])
    func cancelRunning(crashes: Bool) throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let script = "trap 'echo told' TERM; echo ready; while :; do sleep 0.05; done"
        let id = try client.submit(script: script) {
            $0.retry = Tasks.Retry(attempts: 3, delay: 0, onInterruption: true)
            $0.budget = Tasks.Budget(ms: 500_000, grace: crashes ? 400_000 : 1000)
        }
        try daemon.waitForOutput("ready", of: id)
        _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        guard crashes else {
            #expect(try client.ended(id).outcome == .cancelled)
            #expect(try client.show(id).attempts == nil)
            return
        }
        try daemon.waitForOutput("told", of: id)
        let next = try daemon.successor("", crashes: true)
        let task = try next.connect().ended(id)
        #expect(task.outcome != .completed)
        #expect(task.attempt == 1)
        #expect(task.attempts == nil)
    }

    @Test(
        "27: what overran or expired is tried again", arguments: [Tasks.Outcome.overrun, .expired])
    func budget(outcome: Tasks.Outcome) throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let mark = daemon.folder.path + "/once"
        let trap = outcome == .overrun ? "" : "exit 0"
        let script = """
            if [ -e \(mark) ]; then exit 0; fi
            trap '\(trap)' TERM; touch \(mark); while :; do sleep 0.05; done
            """
        let id = try client.submit(script: script) {
            $0.retry = Tasks.Retry(attempts: 100, delay: 0)
            $0.budget =
                outcome == .overrun
                ? Tasks.Budget(ms: 1000, grace: 500) : Tasks.Budget(ms: 61_000, grace: 60_000)
        }
        let task = try client.ended(id)
        #expect(task.outcome == .completed)
        #expect(task.attempts?.first { $0.outcome == outcome } != nil, "\(task)")
    }
}
