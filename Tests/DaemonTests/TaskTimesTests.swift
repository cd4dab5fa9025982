import TaskAPI
import Testing
import Varlink

@Suite("When a task was submitted, started, warned and ended")
struct TaskTimesTests {
    /// The times of a task, the longest ago first.
    private func times(_ task: Tasks.Task) -> [Int?] {
        [task.submittedMs, task.startedMs, task.warnedMs, task.endedMs]
    }

    /// A task of two attempts that have ended, the first of them warned.
    private func warnedAndTriedAgain(by client: VarlinkClient) throws -> Int {
        let id = try client.submit(
            script: "[ $BGTASK_ATTEMPT = 2 ] || while :; do sleep 0.05; done"
        ) {
            $0.budget = Tasks.Budget(ms: 200_000, grace: 100_000)
            $0.retry = Tasks.Retry(attempts: 2, delay: 0)
        }
        try client.waitForBegin(of: id)
        try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        #expect(try client.ended(id).outcome == .completed)
        return id
    }

    @Test("all replies have them, and so has the daemon after a crash, from the disk")
    func everywhere() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try warnedAndTriedAgain(by: client)
        func check(_ task: Tasks.Task, withAttempts: Bool) throws {
            let submitted = try #require(task.submittedMs)
            let started = try #require(task.startedMs)
            let ended = try #require(task.endedMs)
            // Times on disk are those of other moments of the same turn.
            #expect(submitted + 1 >= started && started + 1 >= ended && ended >= 0)
            #expect(task.warnedMs == nil)
            guard withAttempts else { return #expect(task.attempts == nil) }
            let attempt = try #require(task.attempts?.first)
            #expect(attempt.outcome == .expired)
            let (begun, warned) = (try #require(attempt.startedMs), try #require(attempt.warnedMs))
            #expect(submitted + 1 >= begun && begun >= warned && warned >= attempt.endedMs)
            #expect(attempt.endedMs + 1 >= started)
        }
        func checkAll(_ client: VarlinkClient) throws {
            try check(client.show(id), withAttempts: true)
            try check(client.ended(id), withAttempts: true)
            try check(client.listed(id), withAttempts: false)
            let listed = try client.ask(Tasks.List.self) {
                ($0.ended, $0.attempts) = (true, true)
            }
            try check(#require(listed.tasks?.first), withAttempts: true)
            let past = try client.ask(Tasks.History.self)
            try check(#require(past.tasks?.first), withAttempts: false)
            let whole = try client.ask(Tasks.History.self) { $0.attempts = true }
            try check(#require(whole.tasks?.first), withAttempts: true)
        }
        try checkAll(client)
        let next = try daemon.successor("", crashes: true)
        try checkAll(next.connect())
    }

    @Test("what has not started has no start, and what runs has one")
    func live() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let running = try client.submit(["sleep", "1000"])
        let waiting = try client.submit(["true"])
        try client.waitForBegin(of: running)
        try client.ask(Tasks.SimulateExpiration.self) { $0.id = running }
        let warned = try client.ended(running)
        #expect(warned.warnedMs != nil)
        let held = try client.begin()
        let task = try client.show(held)
        #expect(task.submittedMs == task.startedMs)
        #expect(task.submittedMs != nil && task.warnedMs == nil && task.endedMs == nil)
        _ = try client.ended(waiting)
        let paused = try client.submit(["true"]) { $0.paused = true }
        let queued = try client.show(paused)
        #expect(queued.submittedMs != nil && queued.startedMs == nil && queued.warnedMs == nil)
        try client.ask(Tasks.Cancel.self) { $0.id = paused }
        let cancelled = try client.ended(paused)
        #expect(times(cancelled).map { $0 == nil } == [false, true, true, false])
    }
}
