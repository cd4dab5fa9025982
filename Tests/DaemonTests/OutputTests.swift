import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("What run tasks see and print")
struct OutputTests {
    @Test(
        "a command gets its environment, directory and its task's numbers",
        arguments: ContainmentMode.available)
    func environment(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(["env"]) {
            $0.name = "two words"
            $0.directory = daemon.folder.path
            $0.environment = ["COLOUR": "dark blue", "EMPTY": "", "BGTASK_ID": "0"]
            $0.budget = Tasks.Budget(ms: 61_000, grace: 1500)
        }
        _ = try client.ended(id)
        let lines = try daemon.text(of: id).split(separator: "\n").sorted()
        let variables = lines.filter { !$0.hasPrefix("PATH=") && !$0.hasPrefix("SHELL=") }
        #expect(
            variables.filter { !$0.hasPrefix("HOME=") && !$0.contains("NAME=r") }.map(String.init)
                .filter { !$0.hasPrefix("USER=") && !$0.hasPrefix("LOGNAME=") } == [
                    "BGTASK_ATTEMPT=1", "BGTASK_BUDGET_MS=61000", "BGTASK_GRACE_MS=1500",
                    "BGTASK_ID=\(id)",
                    "BGTASK_NAME=two words", "BGTASK_SOCKET=\(daemon.socketPath)",
                    "COLOUR=dark blue", "EMPTY=", "LANG=C.UTF-8",
                    "NOTIFY_SOCKET=\(daemon.noticeFolder)/1",
                ])
        let pwd = try client.submit(["pwd"]) { $0.directory = daemon.folder.path }
        _ = try client.ended(pwd)
        #expect(try daemon.text(of: pwd) == daemon.folder.path + "\n")
    }

    @Test(
        "a command has no descriptors but its three, all signals at their defaults, a session",
        arguments: ContainmentMode.available)
    func surroundings(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        // What ls itself reads the folder with comes next after the three.
        let descriptors = try client.submit(["ls", "/proc/self/fd"])
        _ = try client.ended(descriptors)
        #expect(try daemon.text(of: descriptors) == "0\n1\n2\n3\n")
        let id = try client.submit(
            script: """
                readlink /proc/self/fd/0
                cat /proc/self/status | grep -E '^Sig(Blk|Ign|Cgt)'
                test "$(ps -o sid= -p $$ | tr -d ' ')" = $$ && echo leader
                """)
        #expect(try client.ended(id).outcome == .completed)
        let lines = try daemon.text(of: id).split(separator: "\n").map(String.init)
        #expect(lines.first == "/dev/null")
        let masks = lines.filter { $0.hasPrefix("Sig") }
        #expect(masks.count == 3)
        #expect(masks.allSatisfy { $0.hasSuffix("\t0000000000000000") })
        #expect(lines.last == "leader")
    }

    @Test("both streams are kept, in their order", arguments: ContainmentMode.available)
    func streams(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(
            script: "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; printf partial")
        #expect(try client.ended(id).outcome == .completed)
        #expect(
            try daemon.text(of: id) == "out 1\nout 2\nout 3\nout 4\nout 5\npartial")
        #expect(
            try daemon.text(of: id, stream: "stderr") == "err 1\nerr 2\nerr 3\nerr 4\nerr 5\n")
        #expect(try daemon.output(of: id).allSatisfy { $0.dropped == nil })
    }

    @Test(
        "what a process prints last before it is killed is not lost",
        arguments: ContainmentMode.available)
    func lastWords(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        for _ in 0..<20 {
            let id = try client.submit(script: "seq 2000; echo the end; kill -9 $$")
            #expect(try client.ended(id).outcome == .failed)
            #expect(try daemon.text(of: id).hasSuffix("2000\nthe end\n"))
        }
    }

    @Test(
        "nothing is lost of many short lines that wait when their process has ended, of whatever user",
        arguments: ContainmentMode.available, [TestUser?.none, .games])
    func waitingLines(mode: ContainmentMode, user: TestUser?) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let client = try user.map { try daemon.connect(as: $0) } ?? daemon.connect()
        let fifo = daemon.folder.path + "/go"
        mkfifo(fifo, 0o666)
        chmod(fifo, 0o666)
        let id = try client.submit(
            script: "read line < \(fifo); for i in $(seq 200); do echo $i; done")
        try eventually("it runs") { !daemon.taskProcesses(of: id).isEmpty }
        daemon.child.signal(SIGSTOP)
        defer { daemon.child.signal(SIGCONT) }
        try Files.write("\n", to: fifo)
        try eventually("it has ended") { daemon.taskProcesses(of: id).isEmpty }
        daemon.child.signal(SIGCONT)
        _ = try client.ended(id)
        #expect(try daemon.text(of: id, as: user) == (1...200).map { "\($0)\n" }.joined())
    }

    @Test(
        "a line of a megabyte, NUL and bytes that are not UTF-8 come through",
        arguments: ContainmentMode.available)
    func unusualBytes(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let long = try client.submit(
            script: "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo after")
        #expect(try client.ended(long).outcome == .completed)
        let text = try daemon.text(of: long)
        #expect(text == String(repeating: "x", count: 1_000_000) + "\nafter\n")

        let odd = try client.submit(script: "printf 'a\\0b\\377c\\n\\033[31m'")
        _ = try client.ended(odd)
        #expect(try daemon.text(of: odd) == "a\0b\u{FFFD}c\n\u{1B}[31m")
        try daemon.waitForLog("\\x00b\\xffc")
    }

    @Test(
        "no character is torn where output is cut into pieces",
        arguments: ContainmentMode.available)
    func wholeCharacters(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let lines = try client.submit(
            script:
                "i=0; while [ $i -lt 100 ]; do printf 'ä€😀%.0s' $(seq 300); echo; i=$((i+1)); done")
        _ = try client.ended(lines)
        let line = String(repeating: "ä€😀", count: 300) + "\n"
        #expect(try daemon.text(of: lines) == String(repeating: line, count: 100))

        let oneLine = try client.submit(script: "printf 'ä€😀%.0s' $(seq 30000)")
        _ = try client.ended(oneLine)
        #expect(try daemon.text(of: oneLine) == String(repeating: "ä€😀", count: 30_000))
    }

    @Test(
        "a follower gets what is printed while it runs, and the end",
        arguments: ContainmentMode.available)
    func follow(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(
            script: """
                echo one
                while ! [ -e two ]; do sleep 0.05; done; echo two
                while ! [ -e three ]; do sleep 0.05; done; echo three
                """
        ) { $0.directory = daemon.folder.path }
        var input = Tasks.Output.Input()
        input.id = id
        input.follow = true
        var text = ""
        try client.callMore(Tasks.Output.self, input) { piece in
            text += piece.text
            for (seen, next) in [("one\n", "two"), ("two\n", "three")] where text.hasSuffix(seen) {
                try? Files.write("", to: "\(daemon.folder.path)/\(next)")
            }
            return true
        }
        #expect(text == "one\ntwo\nthree\n")
        #expect(try client.show(id).outcome == .completed)
    }

    @Test(
        "what is more than outputBytesMax drops the oldest, and the number is told",
        arguments: ContainmentMode.available)
    func dropped(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "limits.outputBytesMax = 5000")
        let client = try daemon.connect()
        let id = try client.submit(["seq", "100000", "109999"])
        _ = try client.ended(id)
        let pieces = try daemon.output(of: id)
        let text = pieces.map(\.text).joined()
        #expect(text.hasSuffix("109998\n109999\n"))
        #expect(text.utf8.count <= 5000)
        #expect(text.utf8.count > 4000)
        #expect(pieces.compactMap(\.dropped) == [70_000 - text.utf8.count])
        #expect(pieces.first?.dropped != nil)
    }

    @Test("tiny writes to both streams in turn hold nobody up")
    func alternating() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit([
            "python3", "-c",
            """
            import os
            for i in range(60000):
                os.write(1, b"\\n")
                os.write(2, b"\\n")
            """,
        ])
        #expect(try client.ended(id).outcome == .completed)
        #expect(try daemon.text(of: id).utf8.count == 60_000)
        #expect(try daemon.text(of: id, stream: "stderr").utf8.count == 60_000)
    }

    @Test("output that had to make room for another task's is told as missing")
    func evictedOutput() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: "limits.outputTotalBytesMax = 1000\nstore.outputBytesMax = 0")
        let client = try daemon.connect()
        let first = try client.submit(["echo", "hello"])
        _ = try client.ended(first)
        let second = try client.submit(script: "seq 1 200")
        _ = try client.ended(second)
        let pieces = try daemon.output(of: first)
        #expect(pieces.map(\.text).joined().isEmpty)
        #expect(pieces.compactMap(\.dropped) == [6])
    }

    @Test("output is kept, also where forgotten tasks ended after one that waits to be tried again")
    func betweenAttempts() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "limits.outputTotalBytesMax = 6000\nstore.historyMax = 2")
        let client = try daemon.connect()
        let waiting = try client.submit(script: "echo first; exit 1") {
            $0.retry = with {
                $0.attempts = 2
                $0.delayMs = 3_600_000
            }
        }
        try eventually("it waits for its second attempt") {
            try client.show(waiting).attempt == 2
        }
        for _ in 0..<20 {
            let id = try client.submit(script: "head -c 1000 /dev/zero | tr '\\0' x")
            _ = try client.ended(id)
            #expect(try daemon.text(of: id).utf8.count == 1000)
        }
        #expect(try daemon.text(of: waiting) == "first\n")
    }

    @Test("only run tasks have output, and it needs more")
    func refusals() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(["true"])
        let notMore = try client.refusal(of: Tasks.Output.self) { $0.id = id }
        #expect(ServiceError(notMore) == .expectedMore)
        let held = try client.begin()
        try client.send(Tasks.Output.self, with { $0.id = held }, more: true)
        #expect {
            try client.receive(Tasks.Output.self)
        } throws: { error in
            guard case ClientError.remote(let refusal) = error else { return false }
            return refusal.refuses("id")
        }
    }
}

extension RemoteError {
    /// Whether it refuses this parameter, and says what that must be.
    func refuses(_ parameter: String) -> Bool {
        ServiceError(self) == .invalidParameter(parameter: parameter) && reason?.isEmpty == false
    }
}

/// A message with what `fill` puts into it.
func with<M: Message>(_ fill: (inout M) -> Void) -> M {
    var message = M()
    fill(&message)
    return message
}
