import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite("In which states applications were, for a person and for a script")
struct SpanTextTests {
    private func span(
        _ state: Applications.State, _ began: Int, _ ended: Int? = nil,
        _ fill: (inout Applications.Span) -> Void = { _ in }
    ) -> Applications.Span {
        var span = Applications.Span()
        (span.application, span.owner, span.state) = ("player", 1000, state)
        (span.beganMs, span.endedMs) = (began, ended)
        fill(&span)
        return span
    }

    private var spans: [Applications.Span] {
        [
            span(.notRunning, 5000) { $0.reason = .memoryPressure },
            span(.suspended, 65_000, 5000) { $0.frozen = true },
            span(.active, 125_000, 65_000) {
                $0.application = "a\u{1B}[31m\nb"
                $0.seenMs = 70_000
            },
        ]
    }

    private func run(_ arguments: [String]) throws -> (CommandRun, FakeDaemon) {
        let daemon = try FakeDaemon { [spans] peer in
            while peer.nextCall() != nil {
                for (index, span) in spans.enumerated() {
                    var output = Applications.History.Output()
                    output.span = span
                    peer.send(output, continues: index + 1 < spans.count)
                }
            }
        }
        let run = try CommandRun(
            [CommandRun.program] + arguments, ["BGTASK_SOCKET=\(daemon.path)"])
        #expect(run.finish() == 0)
        return (run, daemon)
    }

    @Test("a script has a line a span, whose fields are divided by tabs, and no line of others")
    func script() throws {
        let (run, daemon) = try run(["app", "history", "player", "--since", "1h"])
        let lines = run.output.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).dropFirst()
                .joined(separator: "|")
        }
        #expect(lines.count == 3)
        #expect(lines[0] == "player|notRunning|5s|memoryPressure")
        #expect(lines[1] == "player|suspended|1min|-")
        #expect(lines[2].hasSuffix("|active|1min|end not seen, last seen 1min 10s ago"))
        #expect(!run.output.contains("\u{1B}"))
        #expect(
            daemon.parameters(of: Applications.History.self).map(\.text)
                == [#"{"id":"player","sinceMs":3600000}"#])
    }

    @Test(
        "--limit says that there are more, --all has the owners, and JSON is as the daemon has it")
    func options() throws {
        let limited = try run(["app", "history", "--limit", "2", "--all"]).0
        #expect(limited.output.split(separator: "\n").count == 2)
        #expect(limited.output.contains("\t1000\tplayer\t"))
        let exact = try run(["app", "history", "--limit", "3"]).0
        #expect(exact.output.split(separator: "\n").count == 3)
        let json = try run(["--json", "app", "history"]).0
        let lines = json.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].contains(#""beganMs":65000,"begunAt":""#))
        #expect(lines[1].contains(#""endedMs":5000,"endedAt":""#))
        #expect(lines[2].contains(#""seenMs":70000,"seenAt":""#))
    }

    @Test(
        "a length of time that cannot be is none", arguments: [(Int.min, 1), (0, Int.max), (5, 9)])
    func lengths(began: Int, ended: Int) {
        let table = SpanText.table(
            [span(.active, began, ended)], owners: true, isPerson: true, users: { "u\($0)" })
        #expect(table.rows[0].contains(Table.Cell("0s")))
        #expect(table.rows[0].contains(Table.Cell("u1000")))
    }
}
