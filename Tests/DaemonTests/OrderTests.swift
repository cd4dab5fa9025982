import TaskAPI
import Testing
import Varlink

/// Tasks that come after others, over the end of a daemon (docs/architecture.md, rule 29).
@Suite("The order of tasks over a crash")
struct OrderTests {
    private static let settings = "queue.slots = 1"

    @Test(
        "after kill -9 none runs too early and none waits for ever: a retry, a cancel, a unique name, an interval",
        arguments: ContainmentMode.available)
    func crash(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        let running = try client.submit(["sleep", "1000"]) {
            $0.retry = Tasks.Retry(attempts: 2, delay: 1, onInterruption: true)
        }
        let lost = try client.submit(["true"]) { $0.after = [running] }
        let any = try client.submit(["sh", "-c", "echo any"]) {
            $0.afterAny = [running]
            $0.minimumIntervalMs = 1
            $0.name = "any"
        }
        let unique = try client.submit(["true"]) { $0.unique = .keep }
        let follower = try client.submit(["sh", "-c", "echo follower"]) {
            $0.after = [any, unique]
        }
        let cancelled = try client.submit(["true"])
        let vain = try client.submit(["true"]) { $0.after = [cancelled] }
        _ = try client.ask(Tasks.Cancel.self) { $0.id = cancelled }
        #expect(try client.ended(vain).outcome == .failed)
        try daemon.kill()

        let next = try DaemonProcess(mode, settings: Self.settings, in: daemon.folder)
        let other = try next.connect()
        // Its second attempt runs for long, or waits for its delay: it has not ended.
        #expect(try other.show(any).state == .queued)
        #expect(try other.show(any).after == [running])
        #expect(try other.show(follower).after?.contains(any) == true)
        _ = try other.ask(Tasks.Cancel.self) { $0.id = running }
        #expect(try other.ended(running).outcome == .cancelled)
        let broken = try other.ended(lost)
        #expect(broken.outcome == .failed)
        #expect(
            broken.reason
                == "it was to start after task \(running) had completed, which ended as cancelled")
        #expect(try other.ended(follower).outcome == .completed)
        #expect(try next.text(of: any) == "any\n")
        #expect(try other.ended(vain).outcome == .failed)
    }

    @Test("what is left of a cascade when the daemon is killed ends by the next one")
    func cascade() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        let first = try client.submit(["true"]) { $0.earliestBeginMs = 3_600_000 }
        let middle = try client.submitMany(700) { _, work in work.after = [first] }
        let last = try client.submitMany(700) { number, work in
            work.after = (0..<64).map { middle[(number * 64 + $0) % middle.count] }
        }
        _ = try client.ask(Tasks.Cancel.self) { $0.id = first }
        // Some of them have ended; all of them would take several commits.
        try daemon.kill()

        let next = try DaemonProcess(.supervisor, settings: Self.settings, in: daemon.folder)
        let other = try next.connect()
        for id in middle + last { try #require(try other.ended(id).outcome == .failed) }
        #expect(try other.counter("tasks_queued") == 0)
    }

    @Test("what is paused stays so, and a change is there, after kill -9")
    func changes() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let paused = try client.submit(["true"]) { $0.paused = true }
        let changed = try client.submit(["true"]) { $0.earliestBeginMs = 3_600_000 }
        _ = try client.ask(Tasks.Change.self) {
            $0.id = changed
            $0.priority = 9
            $0.earliestBeginMs = 7_200_000
        }
        _ = try client.ask(Tasks.PauseOwner.self) { _ in }
        _ = try client.ask(Tasks.SetSlots.self) {
            $0.slots = 7
            $0.keep = true
        }
        try daemon.kill()

        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        let other = try next.connect()
        #expect(try other.show(paused).paused == true)
        #expect(try other.ask(Tasks.Groups.self).slots == 7)
        let shown = try other.show(changed)
        #expect(shown.priority == 9)
        #expect(try #require(shown.notBeforeMs) > 3_600_000)
        let rules = try other.explanations(paused).map(\.rule)
        #expect(rules == ["pausedTask", "pausedOwner"])
        _ = try other.ask(Tasks.ResumeOwner.self) { _ in }
        _ = try other.ask(Tasks.Change.self) {
            $0.id = paused
            $0.paused = false
        }
        #expect(try other.ended(paused).outcome == .completed)
    }

    @Test("others' queues are paused by operators alone")
    func privileges() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        _ = try client.ask(Tasks.PauseOwner.self) { $0.owner = 54_321 }
        try daemon.waitForLog("all tasks of a user were paused")
        #expect(throws: ClientError.self) {
            try client.ask(Tasks.PauseOwner.self) { $0.owner = -1 }
        }
        #expect(throws: ClientError.self) {
            try client.submit(["true"]) { $0.after = [-1] }
        }
        #expect(throws: ClientError.self) {
            try client.submit(["true"]) { $0.after = Array(1...65) }
        }
    }
}
