import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

/// What `restart` asks, and what it says.
@Suite struct RestartTests {
    private func receipt(_ id: Int) -> Tasks.Submit.Output {
        var output = Tasks.Submit.Output()
        output.id = id
        return output
    }

    private func page(_ task: Tasks.Task) -> Tasks.History.Output {
        var output = Tasks.History.Output()
        output.task = task
        return output
    }

    private func submission(after: [Int]? = nil) -> Tasks.ShowSubmission.Output {
        var output = Tasks.ShowSubmission.Output()
        output.work.after = after
        return output
    }

    private func ended(
        _ id: Int, _ outcome: Tasks.Outcome, restartOf: Int? = nil, group: String? = nil
    ) -> Tasks.Task {
        var task = Sample.ended(outcome)
        (task.id, task.restartOf, task.group) = (id, restartOf, group)
        return task
    }

    /// Answers that no task had a command of --on-end.
    private static func answerNoHook(_ conversation: Conversation) {
        conversation.expect(Tasks.History.self, reply: Tasks.History.Output())
        conversation.expect(Tasks.List.self, reply: Tasks.List.Output())
    }

    @Test("one task is restarted as it was, and the number of the new one is printed")
    func one() throws {
        let (shown, answer) = (submission(after: [3]), receipt(9))
        let daemon = try FakeDaemon {
            $0.expect(Tasks.ShowSubmission.self, reply: shown)
            $0.expect(Tasks.Restart.self, reply: answer)
            Self.answerNoHook($0)
        }
        let run = try CommandRun(daemon, "restart", "7")
        #expect(run.finish() == 0)
        #expect(run.output == "9\n")
        #expect(run.errors.contains("task 9 does not come after task 3, as task 7 did"))
        #expect(daemon.parameters(of: Tasks.Restart.self).map(\.text) == [#"{"id":7}"#])
    }

    @Test(
        "what --on-end had run after a task is run after the new one, and that of another task is not"
    )
    func hook() throws {
        func hook(_ id: Int) -> Tasks.History.Output {
            var task = ended(id, .completed)
            task.command = EndCommand("notify", after: 7, Tasks.Work()).work.command
            return page(task)
        }
        func submission(afterAny id: Int) -> Tasks.ShowSubmission.Output {
            var output = Tasks.ShowSubmission.Output()
            output.work.afterAny = [id]
            return output
        }
        var named = Tasks.ShowSubmission.Output()
        named.work.name = "backup"
        let shown = (named, submission(afterAny: 5), submission(afterAny: 7))
        let (first, second, pages) = (receipt(20), receipt(21), [hook(9), hook(8), hook(6)])
        let daemon = try FakeDaemon {
            $0.expect(Tasks.ShowSubmission.self, reply: shown.0)
            $0.expect(Tasks.Restart.self, reply: first)
            guard $0.nextCall()?.method == Tasks.History.name else { return }
            for page in pages { $0.send(page, continues: true) }
            $0.send(Tasks.History.Output())
            $0.expect(Tasks.List.self, reply: Tasks.List.Output())
            $0.expect(Tasks.ShowSubmission.self, reply: shown.1)
            $0.expect(Tasks.ShowSubmission.self, reply: shown.2)
            $0.expect(Tasks.Restart.self, reply: second)
        }
        let run = try CommandRun(daemon, "restart", "7")
        #expect(run.finish() == 0)
        #expect(run.output == "20\n")
        #expect(
            run.errors
                == "bgtaskctl: task 21 runs the command of --on-end when task 20 has ended\n")
        #expect(
            daemon.parameters(of: Tasks.History.self).map(\.text) == [#"{"name":"backup end"}"#])
        #expect(
            daemon.parameters(of: Tasks.Restart.self).map(\.text)
                == [#"{"id":7}"#, #"{"id":9,"afterAny":[20]}"#])
    }

    @Test("several come after one another as the old ones did, in the order of their numbers")
    func several() throws {
        let answers = (submission(), receipt(11), submission(after: [2, 5]), receipt(12))
        let daemon = try FakeDaemon {
            $0.expect(Tasks.ShowSubmission.self, reply: answers.0)
            $0.expect(Tasks.Restart.self, reply: answers.1)
            Self.answerNoHook($0)
            $0.expect(Tasks.ShowSubmission.self, reply: answers.2)
            $0.expect(Tasks.Restart.self, reply: answers.3)
        }
        let run = try CommandRun(daemon, "restart", "7", "5", "7")
        #expect(run.finish() == 0)
        #expect(run.output == "5\t11\n7\t12\n")
        #expect(
            daemon.parameters(of: Tasks.Restart.self).map(\.text)
                == [#"{"id":5}"#, #"{"id":7,"after":[11]}"#])
    }

    @Test("what came after one that could not be restarted is not restarted either")
    func broken() throws {
        let answers = (submission(), submission(after: [5]))
        let daemon = try FakeDaemon {
            $0.expect(Tasks.ShowSubmission.self, reply: answers.0)
            if $0.nextCall() != nil { $0.refuse(Tasks.NoSuchTask()) }
            $0.expect(Tasks.ShowSubmission.self, reply: answers.1)
        }
        let run = try CommandRun(daemon, "restart", "5", "6")
        #expect(run.finish() == 1)
        #expect(run.output == "")
        #expect(run.errors.contains("task 6 was not restarted: it came after task 5"))
        #expect(daemon.parameters(of: Tasks.Restart.self).count == 1)
    }

    @Test(
        "--all-failed takes what neither completed nor was cancelled nor restarted, --group of that group",
        arguments: [
            (["--all-failed"], 86_400_000, [1, 6]),
            (["--group", "net", "--since", "1h"], 3_600_000, [6]),
            (["--all-mine"], 86_400_000, [1, 2, 5, 6, 8]),
        ])
    func failed(options: [String], since: Int, expected: [Int]) throws {
        let history = [
            page(ended(8, .cancelled)), page(ended(7, .failed)),
            page(ended(6, .interrupted, group: "net")), page(ended(5, .completed, restartOf: 3)),
            page(ended(3, .overrun, group: "net")), page(ended(2, .completed)),
            page(ended(1, .expired)),
        ]
        var live = Tasks.List.Output()
        live.task = Sample.task {
            $0.id = 9
            $0.restartOf = 7
        }
        let (list, shown, done) = (live, submission(), receipt(20))
        let daemon = try FakeDaemon {
            guard $0.nextCall()?.method == Tasks.History.name else { return }
            for page in history { $0.send(page, continues: true) }
            $0.send(Tasks.History.Output())
            $0.expect(Tasks.List.self, reply: list)
            var isFirst = true
            for _ in expected {
                $0.expect(Tasks.ShowSubmission.self, reply: shown)
                $0.expect(Tasks.Restart.self, reply: done)
                // Of all tasks of a name it is looked for once.
                if isFirst { Self.answerNoHook($0) }
                isFirst = false
            }
        }
        let run = try CommandRun(
            [CommandRun.program, "restart"] + options, ["BGTASK_SOCKET=\(daemon.path)"])
        #expect(run.finish() == 0)
        #expect(
            daemon.parameters(of: Tasks.History.self).first?.text == #"{"sinceMs":\#(since)}"#)
        #expect(
            daemon.parameters(of: Tasks.Restart.self).map(\.text)
                == expected.map { #"{"id":\#($0)}"# })
    }

    @Test(
        "what does not go together is refused",
        arguments: [
            [], ["7", "--all-failed"], ["7", "--all-mine"], ["--all-mine", "--all-failed"],
            ["7", "--group", "a"], ["7", "--since", "1h"], [""],
        ])
    func refused(arguments: [String]) throws {
        let run = try CommandRun(
            [CommandRun.program, "restart"] + arguments, ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
        #expect(run.errors.split(separator: "\n").count == 1)
    }
}
