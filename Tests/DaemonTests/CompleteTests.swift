import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("Tasks that say that their work is done")
struct CompleteTests {
    private func complete(_ client: VarlinkClient, _ id: Int, _ isSuccess: Bool? = nil) throws {
        _ = try client.ask(Tasks.Complete.self) { ($0.id, $0.success) = (id, isSuccess) }
    }

    @Test("a held task ends with it, as it says")
    func held() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let ids = try (0..<3).map { _ in try client.begin() }
        try complete(client, ids[0])
        try complete(client, ids[1], false)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = ids[2] }
        try complete(client, ids[2], false)
        let outcomes: [Tasks.Outcome] = [.completed, .failed, .expired]
        #expect(try ids.map { try client.show($0).outcome } == outcomes)
        let refusal = try client.refusal(of: Tasks.Complete.self) { $0.id = ids[0] }
        #expect(refusal.name == Tasks.AlreadyEnded.name)
    }

    @Test(
        "a command that says so from inside may clean up, and its exit is of no account",
        arguments: ContainmentMode.available)
    func command(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let bgtaskctl = Programs.path("bgtaskctl")
        let id = try client.submit(
            script: "\(bgtaskctl) complete && echo cleans && exit 3")
        let task = try client.ended(id)
        #expect(task.outcome == .completed && task.exit?.status == 3)
        #expect(try daemon.text(of: id) == "cleans\n")
        let failed = try client.ended(
            client.submit(script: "\(bgtaskctl) complete --failed; exit 0"))
        #expect(failed.outcome == .failed && failed.exit?.status == 0)
    }

    @Test("a command that goes on behind it is killed after its grace, and keeps its outcome")
    func lingers() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(["sleep", "1000"]) {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 100)
        }
        try eventually("it runs") { try client.show(id).pid != nil }
        try complete(client, id)
        let task = try client.ended(id)
        #expect(task.outcome == .completed && task.exit?.signal == "SIGKILL")
    }

    @Test("one that has failed in this way is tried again where that was asked for")
    func retried() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(script: "\(Programs.path("bgtaskctl")) complete --failed") {
            var retry = Tasks.Retry()
            (retry.attempts, retry.delayMs) = (2, 0)
            $0.retry = retry
        }
        let task = try client.ended(id)
        #expect(task.outcome == .failed && task.attempt == 2)
    }

    @Test("what an application does is done with it, and what has not started is not")
    func others() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        try client.register("app")
        let watch = try ApplicationWatch("app", daemon)
        let id = try client.submit([]) {
            ($0.command, $0.application, $0.wake) = (nil, "app", true)
        }
        _ = try watch.events { $0.callback == .performTask }
        let queued = try client.submit(["true"])
        let refusal = try client.refusal(of: Tasks.Complete.self) { $0.id = queued }
        #expect(refusal.name == Tasks.NotAccepting.name)
        try complete(client, id, false)
        #expect(try client.ended(id).outcome == .failed)
        #expect(try client.ended(queued).outcome == .completed)
    }
}
