import Glibc
import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite struct RunTests {
    private func submitted(_ id: Int = 7) -> Tasks.Submit.Output {
        var output = Tasks.Submit.Output()
        output.id = id
        return output
    }

    private func described() -> Manager.Describe.Output {
        var profile = Manager.Profile()
        profile.name = "default"
        profile.durationMs = 180_000
        profile.graceMs = 5000
        profile.lifetimeMaxMs = 600_000
        var output = Manager.Describe.Output()
        output.profiles = [profile]
        return output
    }

    private func waited(_ task: Tasks.Task?) -> Tasks.Wait.Output {
        var output = Tasks.Wait.Output()
        output.task = task
        return output
    }

    private func piece(_ stream: String, _ text: String, dropped: Int? = nil) -> Tasks.Output.Output
    {
        var output = Tasks.Output.Output()
        output.stream = stream
        output.text = text
        output.dropped = dropped
        return output
    }

    @Test("run prints the id first, and sends the command with its name, folder and variables")
    func submits() throws {
        let (description, answer) = (described(), submitted())
        let daemon = try FakeDaemon {
            $0.expect(Manager.Describe.self, reply: description)
            $0.expect(Tasks.Submit.self, reply: answer)
        }
        let run = try CommandRun(
            daemon, "run", "--budget", "10s", "--grace", "2s", "--env", "A=b=c", "--on-expiry",
            "int",
            "--on-expiry-run", "echo x", "--directory", "/tmp", "--", "/bin/sleep", "--json", "5")
        #expect(run.finish() == 0)
        #expect(run.output == "7\n")
        #expect(run.errors == "")
        let work = try #require(daemon.parameters(of: Tasks.Submit.self).first?["work"])
        #expect(
            work.text
                == #"{"name":"sleep","command":["/bin/sleep","--json","5"],"directory":"/tmp","#
                + #""environment":{"A":"b=c"},"budget":{"durationMs":10000,"graceMs":2000},"#
                + #""expiration":{"signal":"SIGINT","command":["/bin/sh","-c","echo x"]}}"#)
    }

    @Test("half a budget is completed from the profile")
    func completesBudget() throws {
        let (description, answer) = (described(), submitted())
        let daemon = try FakeDaemon { peer in
            peer.expect(Manager.Describe.self, reply: description)
            peer.expect(Tasks.Submit.self, reply: answer)
        }
        let half = try CommandRun(daemon, "run", "--budget", "10s", "--", "true")
        #expect(half.finish() == 0)
        #expect(half.errors == "")
        let work = daemon.parameters(of: Tasks.Submit.self).first?["work"]
        #expect(work?["budget"]?.text == #"{"durationMs":10000,"graceMs":2500}"#)
        let refused = try CommandRun(daemon, "run", "--budget", "5s", "--grace", "5s", "--", "true")
        #expect(refused.finish() == 1)
        #expect(
            refused.errors.hasPrefix(
                "bgtaskctl: a grace of 5s is not shorter than the budget of 5s"))
    }

    @Test(
        "a budget that the profile does not allow is refused, with the profile that does",
        arguments: [
            ("2h", "profile default allows 10min at most; give --profile long, which allows 1d"),
            (
                "25h",
                "profile default allows 10min at most; the most that any profile allows is 1d, but for "
                    + "those without a limit (--profile unlimited), which not everybody may have"
            ),
        ])
    func budgetAboveProfile(budget: String, line: String) throws {
        var description = described()
        for (name, longest) in [("extended", 600_000), ("long", 86_400_000), ("unlimited", nil)] {
            var profile = Manager.Profile()
            profile.name = name
            profile.lifetimeMaxMs = longest
            description.profiles.append(profile)
        }
        let daemon = try FakeDaemon { [description] in
            $0.expect(Manager.Describe.self, reply: description)
        }
        let run = try CommandRun(daemon, "run", "--budget", budget, "--", "true")
        #expect(run.finish() == 1)
        #expect(run.errors == "bgtaskctl: \(line)\n")
    }

    @Test(
        "run --wait ends with the status that stands for the task's end",
        arguments: [
            (Tasks.Outcome.completed, 0, nil, 0), (.failed, 3, nil, 3),
            (.failed, nil, "SIGSEGV", 139),
            (.expired, 0, nil, 124), (.overrun, nil, "SIGKILL", 124),
            (.cancelled, nil, "SIGTERM", 125), (.interrupted, nil, nil, 125),
        ] as [(Tasks.Outcome, Int?, String?, Int32)])
    func waits(outcome: Tasks.Outcome, status: Int?, signal: String?, expected: Int32) throws {
        let (answer, end) = (
            submitted(), waited(Sample.ended(outcome, status: status, signal: signal))
        )
        let daemon = try FakeDaemon {
            $0.expect(Tasks.Submit.self, reply: answer)
            $0.expect(Tasks.Wait.self, reply: end)
        }
        let run = try CommandRun(daemon, "run", "--wait", "--", "true")
        #expect(run.finish() == expected)
        #expect(run.output == "7\n")
        #expect(run.errors.isEmpty == (expected < 124 || expected > 125))
    }

    @Test("run --follow passes each stream on to its own, and says what was dropped")
    func follows() throws {
        let (answer, end) = (submitted(), waited(Sample.ended(.failed, status: 4)))
        let pieces = [
            piece("stdout", "one\u{1B}[31m\n"), piece("stderr", "two\n", dropped: 2048),
            piece("stdout", "three"),
        ]
        let daemon = try FakeDaemon { peer in
            peer.expect(Tasks.Submit.self, reply: answer)
            peer.expect(Tasks.Output.self, reply: pieces[0], continues: true)
            peer.send(pieces[1], continues: true)
            peer.send(pieces[2])
            peer.expect(Tasks.Wait.self, reply: end)
        }
        let run = try CommandRun(daemon, "run", "--follow", "--", "true")
        #expect(run.finish() == 4)
        #expect(run.output == "one\u{1B}[31m\nthree")
        #expect(
            run.errors
                == "bgtaskctl: task 7\nbgtaskctl: 2 KiB of the output are missing here: not kept\ntwo\n"
        )
        #expect(daemon.parameters(of: Tasks.Output.self).first?.text == #"{"id":7,"follow":true}"#)
    }

    @Test("run --wait --json answers with the reply and the ended task, one a line")
    func json() throws {
        let (answer, task) = (submitted(), Sample.ended(.completed, status: 0))
        let end = waited(task)
        let daemon = try FakeDaemon {
            $0.expect(Tasks.Submit.self, reply: answer)
            $0.expect(Tasks.Wait.self, reply: end)
        }
        let run = try CommandRun(daemon, "--json", "run", "--wait", "--", "true")
        #expect(run.finish() == 0)
        let lines = #"{"id":7,"receipt":"accepted"}"# + "\n" + JSONLine.text(task)
        #expect(timeless(run.output) == timeless(lines))
    }

    @Test("Ctrl-C leaves the task alone, says so in one line, and gives 130")
    func interrupts() throws {
        let answer = submitted()
        let daemon = try FakeDaemon {
            $0.expect(Tasks.Submit.self, reply: answer)
            $0.waitForClose()
        }
        let run = try CommandRun(daemon, "run", "--wait", "--", "sleep", "60")
        run.wait { $0.output == "7\n" }
        kill(run.processID, SIGINT)
        #expect(run.finish() == 130)
        #expect(
            run.errors == "bgtaskctl: task 7 continues to run; to stop it: bgtaskctl cancel 7\n")
        #expect(daemon.parameters(of: Tasks.Cancel.self).isEmpty)
    }

    @Test("run --follow goes on where it was when a connection breaks, and repeats nothing")
    func broken() throws {
        func piece(_ text: String, next: Int) -> Tasks.Output.Output {
            var piece = Tasks.Output.Output()
            (piece.stream, piece.text, piece.next) = ("stdout", text, next)
            return piece
        }
        var submitted = Tasks.Submit.Output()
        submitted.id = 7
        var shown = Tasks.Show.Output()
        shown.task = Sample.task()
        let (receipt, task, end) = (submitted, shown, waited(Sample.ended(.failed, status: 3)))
        let (first, second) = (piece("one\n", next: 4), piece("two\n", next: 8))
        let tell = try makeDescriptorPair()
        defer { close(tell.read) }
        let daemon = try FakeDaemon {
            guard let call = $0.nextCall() else { return }
            guard call.method == Tasks.Submit.name else {
                $0.send(task)
                $0.expect(Tasks.Output.self, reply: second)
                return $0.expect(Tasks.Wait.self, reply: end)
            }
            $0.send(receipt)
            $0.expect(Tasks.Output.self, reply: first, continues: true)
            // One that breaks before the command has sent all would break before the piece is read.
            var byte: UInt8 = 0
            _ = read(tell.read, &byte, 1)
        }
        let run = try CommandRun(daemon, "run", "--follow", "--", "true")
        run.wait { $0.output == "one\n" }
        close(tell.write)
        #expect(run.finish() == 3)
        #expect(run.output == "one\ntwo\n")
        #expect(
            daemon.parameters(of: Tasks.Output.self).map(\.text)
                == [#"{"id":7,"follow":true}"#, #"{"id":7,"follow":true,"from":4}"#])
    }

    @Test("wait says that its timeout is over, and gives 125")
    func timeout() throws {
        let end = waited(nil)
        let daemon = try FakeDaemon { $0.expect(Tasks.Wait.self, reply: end) }
        let run = try CommandRun(daemon, "wait", "7", "--timeout", "2s")
        #expect(run.finish() == 125)
        #expect(run.errors == "bgtaskctl: task 7 has not ended after 2s\n")
        #expect(daemon.parameters(of: Tasks.Wait.self).first?.text == #"{"id":7}"#)
    }
}
