import Foundation
import JSON
import TaskAPI
import TestKit
import Testing
import TaskControl

/// What `timeline` asks, and where it puts the picture.
@Suite struct TimelineTests {
    /// A daemon that tells of a task that runs, of a held one that has ended, and of one that ends while it is asked.
    private func daemon() throws -> FakeDaemon {
        try FakeDaemon { conversation in
            func tell(_ tasks: [Tasks.Task]) {
                for task in tasks {
                    var page = Tasks.List.Output()
                    page.task = task
                    conversation.send(page, continues: true)
                }
                conversation.send(Tasks.List.Output())
            }
            var ending = Self.task(3, "ends")
            guard conversation.nextCall() != nil else { return }
            tell([Self.task(1, "runs"), ending])
            guard conversation.nextCall() != nil else { return }
            ending.state = .ended
            ending.outcome = .failed
            ending.endedMs = 0
            var held = ending
            (held.id, held.name, held.outcome) = (2, "was held", .abandoned)
            tell([held])
            guard conversation.nextCall() != nil else { return }
            tell([ending])
            var page = Applications.History.Output()
            var span = Applications.Span()
            (span.application, span.state, span.beganMs) = ("player", .active, 30_000)
            page.span = span
            conversation.expect(Applications.History.self, reply: page)
        }
    }

    private static func task(_ id: Int, _ name: String) -> Tasks.Task {
        Sample.task {
            ($0.id, $0.name) = (id, name)
            ($0.submittedMs, $0.startedMs) = (60_000, 50_000)
        }
    }

    private func run(_ daemon: FakeDaemon, _ arguments: [String]) throws -> CommandRun {
        try CommandRun(
            [CommandRun.program, "timeline"] + arguments,
            ["BGTASK_SOCKET=\(daemon.path)", "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC0"])
    }

    @Test("it asks for what is there and what has ended, with attempts, and draws each task once")
    func asks() throws {
        let daemon = try daemon()
        let run = try run(daemon, ["--since", "2h", "--name", "a", "--all", "--width", "60"])
        #expect(run.finish() == 0)
        let text = run.output
        #expect(text.contains(": 3 tasks\n"))
        #expect(text.contains("◇") && text.contains("✗") && text.contains("▸"))
        #expect(
            daemon.parameters(of: Tasks.List.self).map(\.text) == [
                #"{"states":["queued","dormant","running","expiring"],"name":"a","attempts":true,"all":true}"#,
                #"{"states":["ended"],"name":"a","ended":true,"sinceMs":7200000,"attempts":true,"all":true}"#,
            ])
        #expect(
            daemon.parameters(of: Applications.History.self).map(\.text)
                == [#"{"sinceMs":7200000,"all":true}"#])
        // Only some of its tasks are asked for.
        #expect(!text.contains("player"))
        #expect(
            daemon.parameters(of: Tasks.History.self).map(\.text)
                == [#"{"name":"a","sinceMs":7200000,"attempts":true,"all":true}"#])
    }

    @Test("what has not ended has no outcome, and is not asked for where one is")
    func outcomes() throws {
        let daemon = try FakeDaemon { conversation in
            while conversation.nextCall() != nil { conversation.send(Tasks.List.Output()) }
        }
        let run = try run(daemon, ["--outcome", "failed"])
        #expect(run.finish() == 0)
        #expect(run.output.contains("nothing waited, ran or ended in this time"))
        // A whole day is looked at, and its hours are on the axis.
        #expect(run.output.contains(":00 "))
        #expect(daemon.parameters(of: Tasks.List.self).count == 1)
    }

    @Test(
        "a file has the form that its name or an option says",
        arguments: [
            (["-o", "FILE.svg"], "FILE.svg", "<svg "),
            (["--output-file", "FILE.html"], "FILE.html", "<!DOCTYPE html>"),
            (["--svg", "-o", "FILE.html"], "FILE.html", "<svg "), (["--svg"], "", "<svg "),
            (["--html", "-o", "-"], "", "<!DOCTYPE html>"),
        ])
    func files(arguments: [String], file: String, start: String) throws {
        let daemon = try daemon()
        let folder = daemon.folder.path
        let words = arguments.map { $0.replacing("FILE", with: "\(folder)/picture") }
        let path = file.replacing("FILE", with: "\(folder)/picture")
        defer { unlink(path) }
        let run = try run(daemon, words)
        #expect(run.finish() == 0)
        let text = path.isEmpty ? run.output : try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.hasPrefix(start))
        #expect(path.isEmpty || run.output.isEmpty)
        #expect(text.contains("application player\n"))
    }

    @Test("a file that cannot be written is said, and so is a disk that is full")
    func unwritable() throws {
        for (path, reason) in [
            ("/nowhere/a.svg", "No such file or directory"),
            ("/dev/full", "No space left on device"),
        ] {
            let daemon = try daemon()
            let run = try run(daemon, ["-o", path])
            #expect(run.finish() == 1)
            #expect(run.errors == "bgtaskctl: cannot write \(path): \(reason)\n")
        }
    }

    @Test("the tasks are told as JSON, each once")
    func json() throws {
        let daemon = try daemon()
        let run = try run(daemon, ["--json"])
        #expect(run.finish() == 0)
        #expect(run.output.split(separator: "\n").count == 4)
    }

    @Test(
        "what cannot be drawn is refused",
        arguments: [
            ["--svg", "--html"], ["--svg", "--json"], ["--rows", "0"], ["--width", "39"],
            ["--svg", "--width", "399"], ["--since", "1h", "--until", "2h"], ["--until", "2d"],
            ["--by", "user"], ["-o", ""], ["-o", "picture.PNG"], ["-o", "picture.txt"],
        ])
    func refused(arguments: [String]) throws {
        let daemon = try daemon()
        let run = try run(daemon, arguments)
        #expect(run.finish() == ExitStatus.usage)
        #expect(run.errors.contains("see: bgtaskctl help timeline"))
    }
}
