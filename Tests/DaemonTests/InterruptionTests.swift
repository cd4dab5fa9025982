import TaskAPI
import Testing
import Varlink

/// What a daemon's end does to tasks that are tried again (docs/architecture.md, rule 27).
@Suite("Tasks that are tried again by the next daemon")
struct InterruptionTests {
    private static let script = """
        echo attempt $BGTASK_ATTEMPT
        [ $BGTASK_ATTEMPT = 2 ] && exit 0
        trap '' TERM; echo ready; while :; do sleep 0.05; done
        """

    @Test(
        "27: interrupted by a crash or a stop, it is tried again where the submitter allowed it",
        arguments: ContainmentMode.available, [true, false])
    func interrupted(mode: ContainmentMode, crashes: Bool) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        func submit(_ onInterruption: Bool?) throws -> Int {
            let id = try client.submit(script: Self.script) {
                $0.retry = Tasks.Retry(attempts: 3, delay: 0, onInterruption: onInterruption)
                $0.budget = Tasks.Budget(ms: 200_000, grace: 1000)
            }
            try daemon.waitForOutput("ready", of: id)
            return id
        }
        let (allowed, not, unsaid) = (try submit(true), try submit(false), try submit(nil))
        let next = try daemon.successor("", crashes: crashes)
        let other = try next.connect()
        let task = try other.ended(allowed)
        #expect(task.outcome == .completed)
        #expect(task.attempt == 2)
        #expect(task.attempts?.map(\.outcome) == [.interrupted])
        let reason = crashes ? "the daemon or the machine went down" : "the daemon is stopping"
        #expect(task.attempts?.map(\.reason) == [reason])
        #expect(try next.text(of: allowed).contains("attempt 2\n"))
        for id in [not, unsaid] {
            let task = try other.ended(id)
            #expect(task.outcome == .interrupted)
            #expect(task.reason == reason)
            #expect(task.attempt == 1)
        }
        #expect(next.taskProcesses() == [])
    }

    @Test("27: crashes count as attempts, and the last of them is the end")
    func last() throws {
        var daemon = try DaemonProcess(.supervisor)
        var client = try daemon.connect()
        let id = try client.submit(script: "echo ready $BGTASK_ATTEMPT; sleep 1000") {
            $0.retry = Tasks.Retry(attempts: 3, delay: 0, onInterruption: true)
        }
        for attempt in 1...3 {
            try daemon.waitForOutput("ready \(attempt)", of: id)
            #expect(try client.show(id).attempt == attempt)
            daemon = try daemon.successor("", crashes: true)
            client = try daemon.connect()
        }
        let task = try client.ended(id)
        #expect(task.outcome == .interrupted)
        #expect(task.attempts?.map(\.attempt) == [1, 2])
        #expect(task.attempts?.map(\.outcome) == [.interrupted, .interrupted])
    }

    @Test("27: a failure before a stop is followed by the next attempt after it")
    func failed() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(script: "echo attempt $BGTASK_ATTEMPT; [ $BGTASK_ATTEMPT = 2 ]")
        {
            $0.retry = Tasks.Retry(attempts: 2, delay: 2000)
        }
        try daemon.waitForOutput("attempt 1", of: id)
        try eventually("it is over") { try client.show(id).attempts?.count == 1 }
        let next = try daemon.successor("", crashes: false)
        let other = try next.connect()
        let task = try other.ended(id)
        #expect(task.outcome == .completed)
        #expect(task.attempts?.map(\.outcome) == [.failed])
    }
}
