import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink
import TaskControl

@Suite struct PagerTests {
    private static let screen: (rows: UInt16, columns: UInt16) = (10, 60)

    /// A daemon that lists so many tasks, whoever asks.
    private func daemon(_ count: Int) throws -> FakeDaemon {
        try FakeDaemon { peer in
            while let call = peer.nextCall() {
                guard call.method == Tasks.List.name else {
                    Issue.record("unexpected call of \(call.method)")
                    return
                }
                var output = Tasks.List.Output()
                output.tasks = (0..<count).map { number in Sample.task { $0.id = 10000 + number } }
                peer.send(output)
            }
        }
    }

    private func list(
        _ daemon: FakeDaemon, _ pager: String?, _ arguments: [String] = [],
        variables: [String] = [], isTerminal: Bool = true
    ) throws -> CommandRun {
        try CommandRun(
            [CommandRun.program, "list"] + arguments,
            variables
                + [
                    "BGTASK_SOCKET=\(daemon.path)", "PATH=/usr/bin:/bin", "TERM=xterm",
                    "NO_COLOR=1",
                ]
                + (pager.map { ["PAGER=\($0)"] } ?? []),
            screen: isTerminal ? Self.screen : nil)
    }

    @Test(
        "what is longer than the screen goes through the pager, with the count of tasks at its end")
    func pages() throws {
        let daemon = try daemon(20)
        let run = try list(daemon, "sed s/^/|/")
        #expect(run.finish() == 0)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 23)
        #expect(lines.allSatisfy { $0.hasPrefix("|") })
        #expect(lines.last == "|20 tasks: 20 running")
    }

    @Test("what fits the screen does not, nor what a script reads, nor where nobody wants one")
    func passesBy() throws {
        let pager = "sed s/^/|/"
        let (few, many) = (try daemon(5), try daemon(20))
        for run in [
            try list(few, pager), try list(many, pager, isTerminal: false),
            try list(many, pager, ["--no-pager"]), try list(many, pager, ["--json"]),
            try list(many, ""), try list(many, "cat"), try list(many, "/nowhere/pager"),
            try list(many, pager, variables: ["TERM=dumb"]),
        ] {
            #expect(run.finish() == 0)
            #expect(!run.output.contains("|"))
            #expect(run.output.split(separator: "\n").count > 5)
        }
    }

    @Test("a pager that ends early is no error")
    func endsEarly() throws {
        // More than a pipe holds, so that the end of it cannot be written.
        let daemon = try daemon(3000)
        let run = try list(daemon, "head -n 1")
        #expect(run.finish() == 0)
        #expect(run.output.hasPrefix("   ID  NAME"))
        #expect(run.output.split(separator: "\n").count == 1)
        let nothing = try list(daemon, "false")
        #expect(nothing.finish() == 0)
        #expect(nothing.output == "")
    }

    @Test("the pager has the terminal, the options of less, and signals as they were")
    func surroundings() throws {
        let folder = try TemporaryFolder()
        // The one file that goes with the folder.
        let script = folder.path + "/socket"
        let text =
            "[ -t 1 ] && echo terminal\necho $LESS $LESSSECURE\n"
            + "grep SigIgn /proc/self/status\ncat >/dev/null\n"
        let file = open(script, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
        close(file)
        let daemon = try daemon(20)
        let run = try list(daemon, "sh \(script)")
        withExtendedLifetime(folder) { #expect(run.finish() == 0) }
        let lines = run.output.split(separator: "\n")
        #expect(lines.prefix(2) == ["terminal", "FRSXMK"])
        let ignored = lines.last?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
        let ours = UInt64(1) << (SIGINT - 1) | UInt64(1) << (SIGPIPE - 1)
        #expect(try #require(ignored) & ours == 0)
    }

    @Test(
        "the environment names the pager; who has borrowed rights gets one that starts no programs",
        arguments: [
            (nil, false, ["less"]), ("most -s", false, ["most", "-s"]), ("", false, nil),
            (" ", false, nil), ("cat", false, nil), ("cat -n", false, ["cat", "-n"]),
            (nil, true, ["less"]), ("sh", true, ["less"]), ("cat", true, nil),
        ] as [(String?, Bool, [String]?)])
    func choice(setting: String?, isElevated: Bool, words: [String]?) {
        let pager = Pager(setting, isElevated: isElevated)
        #expect(pager?.words == words)
        if let pager {
            #expect(pager.variables["LESSSECURE"] == (isElevated ? "1" : nil))
        }
    }

    @Test(
        "a screen holds what fits above the prompt; long lines take several of its lines",
        arguments: [
            ("", true), ("a\nb\n", true), ("a\nb\nc\n", false), ("12345\n", true),
            ("123456\n", true), ("123456\nb\n", false), ("\n\n\n", false),
            ("\u{1B}[31m12345\u{1B}[0m\nb\n", true),
        ])
    func screens(text: String, isHeld: Bool) {
        #expect(Screen(width: 5, height: 3).holds(text) == isHeld)
    }
}
