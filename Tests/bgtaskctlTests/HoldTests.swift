import Glibc
import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite struct HoldTests {
    /// A daemon that grants every begin, answers Show and End on the connection for orders, and plays `events`
    /// into the stream, each at its sign.
    private func daemon(
        end outcome: Tasks.Outcome = .completed,
        _ stream: @escaping @Sendable (Conversation) -> Void
    ) throws -> FakeDaemon {
        try FakeDaemon { peer in
            while let call = peer.nextCall() {
                switch call.method {
                case Tasks.Begin.name:
                    peer.send(HoldTests.begun(), continues: true)
                    return stream(peer)
                case Tasks.Show.name:
                    var output = Tasks.Show.Output()
                    output.task = Sample.task()
                    peer.send(output)
                case Tasks.End.name:
                    var output = Tasks.End.Output()
                    output.outcome = outcome
                    peer.send(output)
                case Tasks.Cancel.name: peer.send(Empty())
                default: Issue.record("unexpected call of \(call.method)")
                }
            }
        }
    }

    private static func begun(_ event: Tasks.Event? = nil) -> Tasks.Begin.Output {
        var output = Tasks.Begin.Output()
        output.id = 7
        output.event = event
        return output
    }

    private static func expiring() -> Tasks.Begin.Output {
        begun(
            Sample.event(
                .expiring,
                Sample.task {
                    $0.state = .expiring
                    $0.remaining = Sample.remaining(ms: 0, hardMs: 5000, .ownBudget)
                }))
    }

    private static func ended(_ outcome: Tasks.Outcome) -> Tasks.Begin.Output {
        begun(Sample.event(.ended, Sample.ended(outcome), number: 2))
    }

    /// A script that says when it is ready for a signal: not before its child is, which would lose one that comes
    /// between fork and exec.
    private static func script(trapping signal: String) -> String {
        "trap 'echo bye; exit 0' \(signal); sh -c 'echo ready; exec sleep 60' & wait"
    }

    @Test("a command in time has its own output and status, and the time is given back")
    func inTime() throws {
        let daemon = try daemon { $0.waitForClose() }
        let run = try CommandRun(
            daemon, "hold", "--name", "n", "--", "sh", "-c", "echo out; exit 3")
        #expect(run.finish() == 3)
        #expect(run.output == "out\n")
        #expect(run.errors == "")
        #expect(daemon.parameters(of: Tasks.Begin.self).first?.text == #"{"name":"n"}"#)
        #expect(daemon.parameters(of: Tasks.End.self).first?.text == #"{"id":7}"#)
    }

    @Test(
        "with --json the task's number comes first, as of run, and the command's output behind it")
    func json() throws {
        let daemon = try daemon { $0.waitForClose() }
        let run = try CommandRun(daemon, "--json", "hold", "--", "sh", "-c", "echo out; exit 3")
        #expect(run.finish() == 3)
        #expect(run.output == "{\"id\":7}\nout\n")
        #expect(run.errors == "")
    }

    @Test("the command finds its task in its environment")
    func environment() throws {
        let daemon = try daemon { $0.waitForClose() }
        let run = try CommandRun(
            daemon, "hold", "--name", "n", "--", "sh", "-c", "env | grep ^BGTASK_ | sort")
        #expect(run.finish() == 0)
        #expect(
            run.output == """
                BGTASK_BUDGET_MS=180000
                BGTASK_GRACE_MS=5000
                BGTASK_ID=7
                BGTASK_NAME=n
                BGTASK_SOCKET=\(daemon.path)

                """)
    }

    @Test(
        "at the handler's time the command gets its signal, and who ends in the grace ends with 124"
    )
    func expires() throws {
        let gate = try Gate()
        let daemon = try daemon(end: .expired) { peer in
            gate.wait()
            peer.send(HoldTests.expiring(), continues: true)
            peer.waitForClose()
        }
        let script = HoldTests.script(trapping: "USR1")
        let run = try CommandRun(daemon, "hold", "--on-expiry", "USR1", "--", "sh", "-c", script)
        run.wait { $0.output == "ready\n" }
        gate.open()
        #expect(run.finish() == 124)
        #expect(run.output == "ready\nbye\n")
        #expect(
            run.errors
                == "bgtaskctl: task 7 was warned: sent SIGUSR1 to sh; it is killed in 5s\n"
        )
    }

    @Test("at the limit the command's whole group is killed, and the status is 124")
    func overruns() throws {
        let gate = try Gate()
        let daemon = try daemon { peer in
            gate.wait()
            peer.send(HoldTests.expiring(), continues: true)
            peer.send(HoldTests.ended(.overrun))
            peer.waitForClose()
        }
        // Its output stays open as long as any of its processes lives, so that `finish` waits for all of them.
        let script = "trap '' TERM; sleep 60 & echo ready; sleep 60; sleep 60"
        let run = try CommandRun(daemon, "hold", "--", "sh", "-c", script)
        run.wait { $0.output == "ready\n" }
        gate.open()
        #expect(run.finish() == 124)
        #expect(run.errors.hasSuffix("bgtaskctl: task 7 overran its limit of 3min: sh is killed\n"))
        #expect(daemon.parameters(of: Tasks.End.self).isEmpty)
    }

    @Test(
        "a daemon that goes away takes the time with it: the command is told, and the status is 125"
    )
    func disconnects() throws {
        let gate = try Gate()
        let daemon = try daemon { _ in gate.wait() }
        let run = try CommandRun(
            daemon, "hold", "--", "sh", "-c",
            HoldTests.script(trapping: "TERM"))
        run.wait { $0.output == "ready\n" }
        gate.open()
        #expect(run.finish() == 125)
        #expect(run.output == "ready\nbye\n")
        #expect(run.errors.contains("closed the connection"))
    }

    @Test(
        "signals are passed on to the command, whose end decides",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func forwards(number: Int32) throws {
        let daemon = try daemon { $0.waitForClose() }
        let run = try CommandRun(daemon, "hold", "--", "sh", "-c", "echo ready; exec sleep 60")
        run.wait { $0.output == "ready\n" }
        kill(run.processID, number)
        #expect(run.finish() == 128 + number)
        #expect(daemon.parameters(of: Tasks.End.self).count == 1)
    }

    @Test("a command that cannot be started gives 125, one line, and its time back")
    func notStarted() throws {
        let daemon = try daemon { $0.waitForClose() }
        let run = try CommandRun(daemon, "hold", "--", "/no/such/program")
        #expect(run.finish() == 125)
        #expect(run.errors == "bgtaskctl: cannot run /no/such/program: No such file or directory\n")
        #expect(daemon.parameters(of: Tasks.Cancel.self).count == 1)
    }
}

@Suite struct BeginTests {
    private func daemon() throws -> FakeDaemon {
        try FakeDaemon { peer in
            while let call = peer.nextCall() {
                guard call.method == Tasks.Begin.name else { return }
                var output = Tasks.Begin.Output()
                output.id = 7
                peer.send(output)
            }
        }
    }

    @Test("begin belongs to the shell that calls it, also from within $( )")
    func shell() throws {
        let daemon = try daemon()
        let begin = "\(CommandRun.program) begin --name flush"
        for script in [
            "echo $$; \(begin)", "echo $$; id=$(\(begin)); echo $id",
            "echo $$; id=$(true; \(begin); true); echo $id",
            "start() { \(begin) || exit; }; echo $$; id=$(start; true); echo $id",
        ] {
            let run = try CommandRun(
                ["/bin/sh", "-c", script + "; true"],
                ["BGTASK_SOCKET=\(daemon.path)", "PATH=/usr/bin:/bin"])
            #expect(run.finish() == 0)
            #expect(run.output == "\(run.processID)\n7\n")
            let sent = daemon.parameters(of: Tasks.Begin.self).last
            #expect(sent?.text == #"{"name":"flush","pid":\#(run.processID)}"#)
        }
    }

    @Test("begin --pid names another process")
    func pid() throws {
        let daemon = try daemon()
        #expect(try CommandRun(daemon, "begin", "--name", "n", "--pid", "42").finish() == 0)
        #expect(daemon.parameters(of: Tasks.Begin.self).first?["pid"] == .integer(42))
    }

    @Test("a process's stack is found in its line of /proc, whatever its name")
    func processLine() {
        let fields = (1...40).map(String.init).joined(separator: " ")
        let line = Array("77 (a ) b (c) S \(fields)\n".utf8)
        let found = ProcessFile.stack(from: line[...])
        #expect(found?.parent == 1)
        #expect(found?.start == 25)
        #expect(ProcessFile.stack(from: Array("77 (x) S 1".utf8)[...]) == nil)
    }
}

/// Something that one thread waits for and another lets happen.
final class Gate: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() throws { ends = try makeDescriptorPair() }

    func open() { _ = write(ends.write, "x", 1) }

    func wait() {
        var byte: UInt8 = 0
        _ = read(ends.read, &byte, 1)
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }
}
