import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("Commands that flood their output", .serialized)
struct FloodingTaskTests {
    private static let floods = [
        "yes": "yes",
        "noise": "cat /dev/urandom",
        "line": "head -c 1000000000 /dev/zero | tr '\\0' x; sleep 60",
    ]

    @Test(
        "each is told to end and is stopped in time, others are answered, and what is missing is said",
        arguments: ContainmentMode.available, ["yes", "noise", "line"])
    func flood(mode: ContainmentMode, kind: String) throws {
        // So little that also a slow machine has more of it.
        let daemon = try DaemonProcess(mode, settings: "limits.outputBytesMax = 65536")
        let client = try daemon.connect()
        let script = try #require(Self.floods[kind])
        let id = try client.submit(script: script) {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 60_000)
        }
        let quiet = try client.submit(["echo", "quiet"])
        #expect(try client.ended(quiet).outcome == .completed)
        try eventually("it has printed more than is kept") {
            try daemon.output(of: id).contains { $0.dropped ?? 0 > 0 }
        }
        if kind != "line" { try daemon.waitForLog("Lines of a task's output were not logged") }
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        #expect(try client.ended(id).outcome == .expired)
        try daemon.waitForLog("Task \(quiet) (test) completed")
        let pieces = try daemon.output(of: id)
        let kept = pieces.reduce(0) { $0 + $1.text.utf8.count }
        let dropped = pieces.reduce(0) { $0 + ($1.dropped ?? 0) }
        #expect(dropped > 0)
        // What is not UTF-8 takes up to three times its bytes as text.
        #expect(kept <= 4 << 16)
        daemon.expectBounded()
    }

    @Test(
        "the floods of one user leave another's line in the log",
        .enabled(if: geteuid() == 0))
    func beside() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor, settings: "queue.slots = 8")
        let hostile = try daemon.connect(as: .games)
        let floods = try (0..<4).map { _ in try hostile.submit(["yes"]) }
        let client = try daemon.connect(as: .backup)
        let id = try client.submit(["echo", "a word in between"])
        #expect(try client.ended(id).outcome == .completed)
        try daemon.waitForLog("a word in between")
        for id in floods { try hostile.ask(Tasks.Cancel.self) { $0.id = id } }
        for id in floods { #expect(try hostile.ended(id).outcome == .cancelled) }
    }
}
