import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite struct JSONErrorTests {
    private func run(_ arguments: [String], _ daemon: FakeDaemon? = nil) throws -> CommandRun {
        try CommandRun(
            [CommandRun.program] + arguments, ["BGTASK_SOCKET=\(daemon?.path ?? "/nowhere")"])
    }

    @Test("a refusal of the daemon is an object with its name, a line and its parameters")
    func refusal() throws {
        let daemon = try FakeDaemon { peer in
            while peer.nextCall() != nil {
                var error = Tasks.LimitReached()
                error.limit = "tasksPerOwnerMax"
                error.value = 1000
                peer.refuse(error)
            }
        }
        let run = try run(["--json", "begin", "--name", "n"], daemon)
        #expect(run.finish() == 1)
        #expect(run.output == "")
        #expect(
            run.errors
                == #"{"error":"org.bgtaskd.Tasks.LimitReached","#
                + #""message":"the limit tasksPerOwnerMax (1000) is reached; end or cancel some first","#
                + #""parameters":{"limit":"tasksPerOwnerMax","value":1000}}"# + "\n")
    }

    @Test("each of several refusals has a line of its own")
    func several() throws {
        let daemon = try FakeDaemon { peer in
            while let call = peer.nextCall() {
                #expect(call.method == Tasks.Cancel.name)
                var error = Tasks.NoSuchTask()
                error.id = 8
                peer.refuse(error)
            }
        }
        let run = try run(["cancel", "--json", "8", "9"], daemon)
        #expect(run.finish() == 1)
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines {
            #expect(line.hasPrefix(#"{"error":"org.bgtaskd.Tasks.NoSuchTask","message":""#))
            #expect(line.hasSuffix(#","parameters":{"id":8}}"#))
        }
    }

    @Test("what the daemon has no part in has no name, and no parameters")
    func ours() throws {
        for (arguments, status, text) in [
            (["--json", "list"], 1, "nobody listens at /nowhere; "),
            (["list", "--json", "--wiat"], 64, "Unknown option '--wiat'"),
            (["--json", "lsit"], 64, "there is no command lsit; did you mean list?"),
        ] as [([String], Int32, String)] {
            let run = try run(arguments)
            #expect(run.finish() == status)
            #expect(run.errors.hasPrefix(#"{"error":null,"message":""# + text))
            #expect(run.errors.hasSuffix("\"}\n"))
        }
    }

    @Test("--json of the command behind -- is not ours")
    func ofCommand() throws {
        let run = try run(["run", "--priority", "x", "--", "tool", "--json"])
        #expect(run.finish() == 64)
        #expect(run.errors.hasPrefix("bgtaskctl: "))
    }
}
