import Glibc
import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite struct ConnectionTests {
    @Test("a daemon that closes the connection midway is one line; the status is the verb's")
    func disconnects() throws {
        let daemon = try FakeDaemon { peer in
            guard let call = peer.nextCall() else { return }
            guard call.method == Tasks.Submit.name else { return }
            var output = Tasks.Submit.Output()
            output.id = 7
            peer.send(output)
            _ = peer.nextCall()
        }
        let line =
            "bgtaskctl: bgtaskd at \(daemon.path) closed the connection; its journal says why\n"
        let show = try CommandRun(daemon, "show", "7")
        #expect(show.finish() == 1)
        #expect(show.errors == line)
        // It comes back and closes again, which is not gone along with for ever.
        let run = try CommandRun(daemon, "run", "--wait", "--", "true")
        #expect(run.finish() == 125)
        #expect(
            run.errors
                == "bgtaskctl: bgtaskd closed the connection; task 7 is waited for until it is back\n"
                + line)
    }

    @Test("a refusal is one line, and the status is the verb's")
    func refuses() throws {
        let daemon = try FakeDaemon { peer in
            while peer.nextCall() != nil {
                var error = Tasks.LimitReached()
                error.limit = "tasksPerOwnerMax"
                error.value = 1000
                peer.refuse(error)
            }
        }
        for (arguments, status) in [
            (["begin", "--name", "n"], 1), (["run", "--", "true"], 1),
            (["run", "--wait", "--", "true"], 125), (["hold", "--", "true"], 125),
        ] as [([String], Int32)] {
            let run = try CommandRun(
                [CommandRun.program] + arguments, ["BGTASK_SOCKET=\(daemon.path)"])
            #expect(run.finish() == status)
            #expect(run.output == "")
            #expect(
                run.errors
                    == "bgtaskctl: the limit tasksPerOwnerMax (1000) is reached; end or cancel some first\n"
            )
        }
    }

    @Test("a server that speaks something else is said to be no daemon of ours")
    func wrongServer() throws {
        let daemon = try FakeDaemon { peer in
            _ = peer.nextCall()
            peer.sendRaw("220 mail.example.org ESMTP")
        }
        let run = try CommandRun(daemon, "watch")
        // The fake answers GetInfo itself, so that the call which gets nonsense is the one behind it.
        #expect(run.finish() == 1)
        #expect(run.errors.contains("does not speak Varlink"))
    }

    @Test("no daemon is one line, whatever the verb")
    func noDaemon() throws {
        let path = try TemporaryFolder().path + "/socket"
        for (arguments, status) in [(["list"], 1), (["hold", "--", "true"], 125)]
            as [([String], Int32)]
        {
            let run = try CommandRun(
                [CommandRun.program, "--socket", path] + arguments, ["PATH=/bin"])
            #expect(run.finish() == status)
            #expect(
                run.errors
                    == "bgtaskctl: nobody listens at \(path); is bgtaskd running? "
                    + "start it with: bgtaskd --socket \(path)\n")
        }
    }

    @Test("watch shows events as they come, says that some are missing, and ends with the task")
    func watches() throws {
        let events = [
            Sample.event(.present, Sample.task(), number: 1),
            Sample.event(.ended, Sample.ended(.failed, status: 2), number: 4),
        ]
        let daemon = try FakeDaemon { peer in
            var output = Tasks.Watch.Output()
            output.event = events[0]
            peer.expect(Tasks.Watch.self, reply: output, continues: true)
            output.event = events[1]
            peer.send(output)
        }
        let run = try CommandRun(daemon, "watch", "7", "--output")
        #expect(run.finish() == 0)
        #expect(
            run.output == "7\tpresent\tflush\trunning: 2min 55s until the warning, "
                + "3min until the limit (own budget)\n7\tended\tflush\tfailed after 5s, status 2\n")
        #expect(run.errors == "bgtaskctl: 2 events are missing here; they came too fast\n")
    }

    @Test("list asks for ended tasks alone where live ones cannot meet the condition")
    func lists() throws {
        let daemon = try FakeDaemon { $0.expect(Tasks.List.self, reply: Tasks.List.Output()) }
        for (arguments, sent) in [
            (["list"], "{}"), (["list", "--ended"], #"{"ended":true}"#),
            (
                ["list", "--since", "1h", "--outcome", "overrun"],
                #"{"states":["ended"],"ended":true,"outcomes":["overrun"],"sinceMs":3600000}"#
            ),
        ] {
            let run = try CommandRun(
                [CommandRun.program] + arguments, ["BGTASK_SOCKET=\(daemon.path)"])
            #expect(run.finish() == 0)
            #expect(daemon.parameters(of: Tasks.List.self).last?.text == sent)
        }
    }

    @Test("a reader that goes away ends the program quietly")
    func brokenPipe() throws {
        let daemon = try FakeDaemon { peer in
            guard peer.nextCall() != nil else { return }
            var output = Tasks.List.Output()
            output.task = Sample.task()
            for _ in 0..<5000 { peer.send(output, continues: true) }
            peer.send(output)
            peer.waitForClose()
        }
        let run = try CommandRun(
            ["/bin/sh", "-c", "{ \(CommandRun.program) --json list; echo $? >&2; } | head -n 1"],
            ["BGTASK_SOCKET=\(daemon.path)", "PATH=/usr/bin:/bin"])
        #expect(run.finish() == 0)
        #expect(timeless(run.output) == timeless(JSONLine.text(Sample.task())))
        #expect(run.errors == "141\n")
    }
}
