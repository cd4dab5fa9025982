import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite struct FullOutputTests {
    private func run(_ line: String, _ socket: String = "/nowhere") throws -> CommandRun {
        try CommandRun(
            ["/bin/sh", "-c", "\(CommandRun.program) \(line)"],
            ["BGTASK_SOCKET=\(socket)", "PATH=/usr/bin:/bin"])
    }

    @Test(
        "a text of help that cannot be written is said, and no success",
        arguments: [
            "--help", "--version", "help run", "run --help", "--generate-completion-script bash",
        ])
    func help(arguments: String) throws {
        let full = try run(arguments + " >/dev/full")
        #expect(full.finish() == 1)
        #expect(
            full.errors
                == "bgtaskctl: cannot write to standard output: No space left on device\n")
        let good = try run(arguments)
        #expect(good.finish() == 0)
        #expect(good.output.count > 5)
        #expect(good.errors == "")
    }

    @Test("an answer that cannot be written is said, with the status that the verb has for it")
    func answers() throws {
        let daemon = try FakeDaemon { peer in
            while let call = peer.nextCall() {
                switch call.method {
                case Tasks.List.name:
                    var output = Tasks.List.Output()
                    output.task = Sample.task()
                    peer.send(output)
                case Tasks.Watch.name:
                    var output = Tasks.Watch.Output()
                    output.event = Sample.event(.began, Sample.task())
                    peer.send(output, continues: true)
                default:
                    var output = Tasks.Submit.Output()
                    output.id = 7
                    peer.send(output)
                }
            }
        }
        for (line, status, reason) in [
            ("list >/dev/full", 1, "No space left on device"),
            ("run --wait -- true >/dev/full", 125, "No space left on device"),
            ("list >&-", 1, "Bad file descriptor"),
            // What is open when this is written must not have the number of standard output.
            ("watch >&-", 1, "Bad file descriptor"),
        ] as [(String, Int32, String)] {
            let run = try run(line, daemon.path)
            #expect(run.finish() == status)
            #expect(run.errors == "bgtaskctl: cannot write to standard output: \(reason)\n")
        }
    }
}
