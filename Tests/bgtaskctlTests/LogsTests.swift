import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite("bgtaskctl logs")
struct LogsTests {
    private func piece(
        _ text: String, _ stream: String = "stdout", dropped: Int? = nil, next: Int? = nil
    ) -> Tasks.Output.Output {
        var output = Tasks.Output.Output()
        output.stream = stream
        output.text = text
        output.dropped = dropped
        output.next = next
        return output
    }

    private func task(_ id: Int, _ kind: Tasks.Kind) -> Tasks.List.Output {
        var task = Tasks.Task()
        task.id = id
        task.kind = kind
        task.name = "a"
        var output = Tasks.List.Output()
        output.task = task
        return output
    }

    @Test("the last lines are whole lines, however they came")
    func lastLines() {
        let text = "one\ntwo\r\n\nfour\nfive"
        for length in 1...text.utf8.count {
            for count in 0...6 {
                var last = LastLines(count)
                var rest = Array(text.unicodeScalars)[...]
                while !rest.isEmpty {
                    last.add(String(String.UnicodeScalarView(rest.prefix(length))), of: "stdout")
                    rest = rest.dropFirst(length)
                }
                let lines = ["one\n", "two\r\n", "\n", "four\n", "five"]
                #expect(last.lines.map(\.text) == Array(lines.suffix(count)))
            }
        }
        var last = LastLines(2)
        for number in 0..<1000 { last.add("\(number)", of: number % 2 == 0 ? "stdout" : "stderr") }
        #expect(last.lines.map(\.text) == ["998", "999"])
    }

    @Test("-n shows the last lines, --stderr one stream, and --follow what comes after")
    func part() throws {
        let before = [
            piece("1\n2\n", dropped: 7), piece("e\n", "stderr"), piece("3\n", next: 13),
        ]
        let daemon = try FakeDaemon { [before] peer in
            while let call = peer.nextCall() {
                guard call.method == Tasks.Output.name else {
                    peer.send(Tasks.Show.Output())
                    continue
                }
                let isFollowing = (try? call.decode(Tasks.Output.Input.self))?.follow == true
                for piece in isFollowing ? [] : before { peer.send(piece, continues: true) }
                peer.send(self.piece(isFollowing ? "4\n" : "", next: 13))
            }
        }
        let last = try CommandRun(daemon, "logs", "7", "-n", "2")
        #expect(last.finish() == 0)
        #expect((last.output, last.errors) == ("3\n", "e\n"))
        let stream = try CommandRun(daemon, "logs", "7", "--stderr")
        #expect(stream.finish() == 0)
        #expect(stream.output == "" && stream.errors.hasSuffix("e\n"))
        let more = try CommandRun(daemon, "logs", "7", "--lines", "9", "--stdout", "--follow")
        #expect(more.finish() == 0)
        #expect(more.output == "1\n2\n3\n4\n")
        #expect(more.errors.contains("missing here"))
        #expect(daemon.parameters(of: Tasks.Output.self).last?["from"]?.text == "13")
    }

    @Test("without a task it is the last command that was submitted")
    func last() throws {
        let tasks = [task(3, .run), task(8, .run), task(9, .held), task(5, .run)]
        let daemon = try FakeDaemon { [tasks] peer in
            guard peer.nextCall() != nil else { return }
            for task in tasks { peer.send(task, continues: true) }
            peer.send(Tasks.List.Output())
            peer.expect(Tasks.Output.self, reply: self.piece("text\n"))
        }
        let run = try CommandRun(daemon, "logs")
        #expect(run.finish() == 0)
        #expect(run.output == "text\n")
        #expect(daemon.parameters(of: Tasks.Output.self).first?["id"]?.text == "8")
    }

    @Test(
        "what does not go together is refused",
        arguments: [
            ["7", "-n", "-1"], ["7", "--stdout", "--stderr"], ["7", "--journal", "-n", "3"],
            ["--journal", "--stderr"],
        ])
    func refused(arguments: [String]) throws {
        let daemon = try FakeDaemon { _ in }
        let run = try CommandRun(
            [CommandRun.program, "logs"] + arguments, ["BGTASK_SOCKET=\(daemon.path)"])
        #expect(run.finish() == 64)
    }
}
