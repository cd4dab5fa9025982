import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

/// What `complete` and `run --wake` ask.
@Suite struct CompleteTests {
    @Test(
        "the task is the one that is named, or the command's own, and it has failed if that is said"
    )
    func complete() throws {
        for (arguments, environment, expected) in [
            (["--id", "9"], [], #"{"id":9}"#),
            (["--failed"], ["BGTASK_ID=5"], #"{"id":5,"success":false}"#),
        ] as [([String], [String], String)] {
            let daemon = try FakeDaemon { $0.expect(Tasks.Complete.self, reply: Empty()) }
            let run = try CommandRun(
                [CommandRun.program, "complete"] + arguments,
                ["BGTASK_SOCKET=\(daemon.path)"] + environment)
            #expect(run.finish() == 0)
            #expect(run.output == "")
            #expect(daemon.parameters(of: Tasks.Complete.self).map(\.text) == [expected])
        }
        let run = try CommandRun([CommandRun.program, "complete"], ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
    }

    @Test("what is woken has no command, and waits as other tasks do")
    func wake() throws {
        let daemon = try FakeDaemon { daemon in
            var reply = Tasks.Submit.Output()
            (reply.id, reply.receipt) = (7, .accepted)
            daemon.expect(Tasks.Submit.self, reply: reply)
        }
        let run = try CommandRun(
            [CommandRun.program, "run", "--wake", "player", "--name", "refresh", "--in", "10min"],
            ["BGTASK_SOCKET=\(daemon.path)"])
        #expect(run.finish() == 0)
        #expect(run.output == "7\n")
        let work =
            #"{"work":{"name":"refresh","application":"player","wake":true,"#
            + #""earliestBeginMs":600000}}"#
        #expect(daemon.parameters(of: Tasks.Submit.self).map(\.text) == [work])
    }

    @Test("an application without a command runs the one that it is registered with")
    func registered() throws {
        let daemon = try FakeDaemon { daemon in
            var reply = Tasks.Submit.Output()
            (reply.id, reply.receipt) = (7, .accepted)
            daemon.expect(Tasks.Submit.self, reply: reply)
        }
        let run = try CommandRun(
            [CommandRun.program, "run", "--application", "player", "--env", "A=b"],
            ["BGTASK_SOCKET=\(daemon.path)"])
        #expect(run.finish() == 0)
        let work =
            #"{"work":{"name":"player","application":"player","environment":{"A":"b"}}}"#
        #expect(daemon.parameters(of: Tasks.Submit.self).map(\.text) == [work])
    }

    @Test(
        "what a command has is refused beside --wake, by its name",
        arguments: [
            ["--directory", "/"], ["--env", "A=b"], ["--input", "-"], ["--follow"],
            ["--on-expiry", "INT"], ["--application", "player"], ["true"],
        ])
    func refused(arguments: [String]) throws {
        let run = try CommandRun(
            [CommandRun.program, "run", "--wake", "player"] + arguments,
            ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
        #expect(run.errors.contains(arguments[0]))
    }
}
