import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("bgtaskctl timeline, of what a daemon has done")
struct TimelineTests {
    private static let settings = "applications.foreground = \"multiple\""

    /// What `bgtaskctl timeline` prints of the last hour.
    private func draw(_ daemon: DaemonProcess, _ arguments: String...) throws -> String {
        let file = daemon.folder.path + "/timeline"
        unlink(file)
        let timeline = try Child(
            Programs.path("bgtaskctl"),
            ["--socket", daemon.socketPath, "timeline", "--since", "1h", "--by", "task"]
                + arguments,
            environment: ["LANG=C.UTF-8", "TZ=UTC"], output: file, error: file)
        #expect(try timeline.waitForEnd() == .status(0))
        return Files.text(file)
    }

    /// Expects that what is told of an entry of the picture begins and goes on like this.
    private func expect(_ daemon: DaemonProcess, _ start: String, has text: String) throws {
        let titles = try draw(daemon, "--svg").components(between: "<title>", and: "</title>")
        #expect(titles.contains { $0.hasPrefix(start) && $0.contains(text) }, "\(titles)")
    }

    @Test(
        "shows attempts, a warning, what went on, and an application with its task, after a restart too"
    )
    func course() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        let retried = try client.submit(script: "[ $BGTASK_ATTEMPT = 3 ]") {
            ($0.name, $0.retry) = ("retried", Tasks.Retry(attempts: 5, delay: 0))
        }
        #expect(try client.ended(retried).outcome == .completed)
        let warned = try client.submit(script: "trap 'exit 0' TERM; while :; do sleep 0.05; done") {
            ($0.name, $0.budget) = ("warned", Tasks.Budget(ms: 60_100, grace: 60_000))
        }
        #expect(try client.ended(warned).outcome == .expired)
        let cancelled = try client.submit(["true"]) { ($0.name, $0.paused) = ("never", true) }
        try eventually("it waits for a while") {
            try client.show(cancelled).submittedMs ?? 0 >= 5
        }
        try client.ask(Tasks.Cancel.self) { $0.id = cancelled }

        try client.launch("player")
        let held = try client.begin("download") { $0.application = "player" }
        // Tasks and applications come by two calls, each with the time since then: it is far longer than what is between.
        try eventually("it is dormant for a while") { try client.show(held).ageMs >= 3000 }
        try client.order(Applications.EnterBackground.self, "player")
        try client.ask(Tasks.End.self) { $0.id = held }
        try client.order(Applications.Terminate.self, "player")

        // What somebody held is no command, and goes with the daemon.
        try expect(daemon, "\(held) download: completed", has: "dormant")
        let next = try daemon.successor(Self.settings, crashes: false)
        let running = try next.connect().submit(["sleep", "1000"]) { $0.name = "running" }
        try next.connect().waitForBegin(of: running)
        try expect(next, "\(retried) retried: completed", has: "attempts: failed at")
        try expect(next, "\(warned) warned: expired", has: "warned, in its grace")
        try expect(next, "\(cancelled) never: cancelled", has: "waiting")
        try expect(next, "\(running) running: has not ended", has: "now")
        try expect(next, "application player", has: "in front")
        try expect(next, "application player", has: "ended: terminated")

        let text = try draw(next, "--width", "120")
        for name in ["retried", "warned", "never", "running", "player"] {
            #expect(text.split(separator: "\n").contains { $0.contains(name) }, "\(text)")
        }
        for word in ["✓ completed", "▲ expired", "━ cancelled", "▸ has not ended"] {
            #expect(text.contains(word), "\(text)")
        }
    }

    @Test("of nothing there is nothing to draw, and that is said")
    func nothing() throws {
        let daemon = try DaemonProcess(.supervisor)
        #expect(try draw(daemon).contains("0 tasks"))
        #expect(try draw(daemon).hasSuffix("nothing waited, ran or ended in this time\n"))
    }
}

extension String {
    /// The texts between two others.
    fileprivate func components(between begin: String, and end: String) -> [String] {
        var (texts, rest): ([String], Substring) = ([], self[...])
        while let first = rest.firstRange(of: begin),
            let last = rest[first.upperBound...].firstRange(of: end)
        {
            texts.append(String(rest[first.upperBound..<last.lowerBound]))
            rest = rest[last.upperBound...]
        }
        return texts
    }
}
