import Foundation
import Testing

/// What `make test` runs its tests by.
@Suite("A run of tests with a bound")
struct BoundedTestTests {
    /// Says what a run of tests does, in the file that is the second argument: two tests of a suite have begun, and one
    /// has ended.
    private static let events = """
        cat >"$2" <<'END'
        {"kind":"test","payload":{"id":"A.S/a()/S.swift:1:1","name":"a()","displayName":"does this"}}
        {"kind":"test","payload":{"id":"A.S/b()/S.swift:2:1","name":"b()","displayName":"does that"}}
        {"kind":"event","payload":{"kind":"testStarted","testID":"A.S"}}
        {"kind":"event","payload":{"kind":"testStarted","testID":"A.S/a()/S.swift:1:1"}}
        {"kind":"event","payload":{"kind":"testStarted","testID":"A.S/b()/S.swift:2:1"}}
        {"kind":"event","payload":{"kind":"testEnded","testID":"A.S/a()/S.swift:1:1"}}
        {"kind":"event","payl
        END
        """

    /// Starts a process in a session of its own that no SIGTERM ends, and prints its number.
    private static let child = """
        setsid sh -c 'trap "" TERM; while :; do tail -f /dev/null; done' &
        echo $!
        """

    /// The same with times: a test of each of two targets has ended, and one of the first has not.
    private static let timedEvents = """
        cat >"$2" <<'END'
        {"kind":"test","payload":{"id":"A.S","kind":"suite","name":"S"}}
        {"kind":"test","payload":{"id":"A.S/a(of:)/S.swift:1:1","kind":"function","name":"a(of:)"}}
        {"kind":"test","payload":{"id":"A.S/b()/S.swift:2:1","kind":"function","name":"b()"}}
        {"kind":"test","payload":{"id":"B.c()/B.swift:3:1","kind":"function","name":"c()"}}
        {"kind":"event","payload":{"kind":"testStarted","testID":"A.S","instant":{"absolute":10.0}}}
        {"kind":"event","payload":{"kind":"testStarted","testID":"A.S/a(of:)/S.swift:1:1","instant":{"absolute":10.5}}}
        {"kind":"event","payload":{"instant":{"absolute":10.5},"kind":"testCaseStarted","testID":"A.S/a(of:)/S.swift:1:1"}}
        {"kind":"event","payload":{"instant":{"absolute":11.0},"kind":"testCaseEnded","testID":"A.S/a(of:)/S.swift:1:1"}}
        {"kind":"event","payload":{"kind":"testStarted","testID":"B.c()/B.swift:3:1","instant":{"absolute":11.0}}}
        {"kind":"event","payload":{"kind":"testStarted","testID":"A.S/b()/S.swift:2:1","instant":{"absolute":11.0}}}
        {"kind":"event","payload":{"kind":"testEnded","testID":"B.c()/B.swift:3:1","instant":{"absolute":11.25},"messages":[{"symbol":"fail","text":""}]}}
        {"kind":"event","payload":{"kind":"testEnded","testID":"A.S/a(of:)/S.swift:1:1","instant":{"absolute":12.75},"messages":[{"symbol":"pass","text":""}]}}
        {"kind":"event","payload":{"kind":"testEnded","testID":"A.S","instant":{"absolute":13.0},"messages":[{"symbol":"pass","text":""}]}}
        END
        """

    private func run(
        minutes: Int, _ script: String, _ variables: [String: String] = [:]
    ) throws -> Box.Result {
        try Box.run("bounded-test", ["\(minutes)", "sh", "-c", script, "sh"], variables)
    }

    /// The fields of each line that a body has added to the file that it is given.
    private func times(from body: (_ path: String) throws -> Void) throws -> [[String]] {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("bgtask-times-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file.path)
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    private func expectGone(_ process: String) throws {
        let number = try #require(pid_t(process))
        #expect(kill(number, 0) == -1 && errno == ESRCH)
    }

    @Test("hands the status on, and says nothing")
    func status() throws {
        #expect(
            try run(minutes: 60, "echo a; exit 7")
                == Box.Result(status: 7, output: "a\n", errors: ""))
        #expect(try run(minutes: 60, "kill -KILL $$").status == 137)
    }

    @Test("one that is ended names the tests that have begun and not ended, and ends all processes")
    func ended() throws {
        let script = "\(Self.events)\n\(Self.child)\nkill -TERM $PPID; wait"
        let result = try run(minutes: 60, script)
        #expect(result.status == 128 + SIGTERM)
        #expect(result.errors.contains("    A.S/b()/S.swift:2:1: does that\n"), "\(result)")
        let tests = result.errors.split(separator: "\nbounded-test:")[0]
        #expect(!tests.contains("does this") && !tests.contains("A.S:"), "\(tests)")
        #expect(result.errors.contains("\n    \(result.line) "), "\(result)")
        try expectGone(result.line)
    }

    @Test(
        "tests hear signals that Python, or a shell in whose background they run, ignores",
        arguments: [SIGINT, SIGPIPE])
    func hearsSignals(number: Int32) throws {
        let itself = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
        let ended = try run(
            minutes: 1,
            """
            trap "" INT
            \(itself)/bounded-test 1 sh -c 'kill -\(number) $$; echo deaf' sh
            """)
        #expect(ended.status == 128 + number, "\(ended)")
        #expect(ended.output == "")
    }

    @Test("it ends when the time is up")
    func bound() throws {
        let result = try run(minutes: 0, "exec tail -f /dev/null")
        #expect(result.status == 124 && result.errors.contains("the time is up"), "\(result)")
    }

    @Test("all of it ends where who started it is killed")
    func starter() throws {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("bounded-test").path
        // The second line comes only where nobody has ended what prints it.
        let tests = """
            setsid sh -c 'echo begun; timeout 60 tail -f /dev/null; echo left' &
            kill -KILL $(cut -d' ' -f4 /proc/$PPID/stat); wait
            """
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "\"$1\" 60 sh -c \"$2\" sh; true", "sh", program, tests]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(!text.contains("left"))
    }

    @Test("what the tests leave running is named and ended")
    func left() throws {
        let result = try run(minutes: 60, "\(Self.child)\nexit 3")
        #expect(result.status == 3)
        #expect(result.errors.contains("the tests have left"), "\(result)")
        try expectGone(result.line)
    }

    @Test("tells how long each test and the run took, and the command nothing of it")
    func recordsTimes() throws {
        let script = """
            \(Self.timedEvents)
            echo "${BGTASK_TIMES-none} ${BGTASK_LABEL-none}"
            i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done
            exit 1
            """
        let lines = try times { path in
            let unlabelled = try run(minutes: 60, script, ["BGTASK_TIMES": path])
            #expect(unlabelled == Box.Result(status: 1, output: "none none\n", errors: ""))
            let labelled = ["BGTASK_TIMES": path, "BGTASK_LABEL": "debug"]
            #expect(try run(minutes: 60, script, labelled).line == "none none")
        }
        try #require(lines.count == 6)
        for (label, lines) in [("A, B", lines[..<3]), ("debug", lines[3...])] {
            let (tests, run) = (Array(lines.dropLast()), try #require(lines.last))
            #expect(
                tests == [
                    ["test", label, "B", "c()", "11.000", "0.250", "0.250", "failed"],
                    ["test", label, "A", "S/a(of:)", "10.500", "2.250", "0.500", "passed"],
                ])
            #expect(run[..<3] == ["run", label, "2"] && run[5...] == ["1"], "\(run)")
            #expect(run[3...4].allSatisfy { Double($0) ?? 0 > 0 }, "\(run)")
        }
    }

    @Test("a run that is ended has the times of the tests that have ended")
    func timesOfEnded() throws {
        let lines = try times { path in
            let script = "\(Self.timedEvents)\nkill -TERM $PPID; exec tail -f /dev/null"
            let result = try run(minutes: 60, script, ["BGTASK_TIMES": path])
            #expect(result.status == 128 + SIGTERM)
        }
        #expect(lines.map { $0[0] } == ["test", "test", "run"])
        #expect(lines.last?.last == "143")
    }

    @Test("a file that cannot be written takes nothing from the status")
    func unwritable() throws {
        let result = try run(minutes: 60, "exit 3", ["BGTASK_TIMES": "/nowhere/times"])
        #expect(result.status == 3 && result.errors.contains("the times are lost"), "\(result)")
    }

    @Test("other commands are timed likewise, and their status is handed on")
    func timed() throws {
        let lines = try times { path in
            for script in ["exit 7", "kill -KILL $$"] {
                let arguments = ["a  build", "sh", "-c", script]
                let result = try Box.run("timed", arguments, ["BGTASK_TIMES": path])
                #expect(result.output == "" && result.errors == "")
                #expect(result.status == (script == "exit 7" ? 7 : 137))
            }
        }
        #expect(lines.map { $0[..<3] } == [["run", "a build", "-"], ["run", "a build", "-"]])
        #expect(lines.map { $0.last } == ["7", "137"])
    }

    @Test("the table has the runs, the targets and the ten slowest tests")
    func table() throws {
        var result = Box.Result(status: -1, output: "", errors: "")
        _ = try times { path in
            var lines = ["run build - 61.250 100.000 0"]
            lines += (1...12).map {
                "test debug A S/t\($0)() \(100 + $0).000 30.000 \($0).500 passed"
            }
            lines.append("test debug B b() 100.000 2.000 1.000 failed")
            lines.append("run debug 13 24.000 30.500 1")
            let text = lines.map { $0.replacingOccurrences(of: " ", with: "\t") + "\n" }.joined()
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            result = try Box.run("test-times", [path], [:])
        }
        let lines = result.output.split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ")
        }
        let slowest = (3...12).reversed().map { "\($0).5 30.0 passed A.S/t\($0)() debug" }
        #expect(
            lines == [
                "Runs", "wall s CPU s tests status run",
                "61.2 100.0 - 0 build", "24.0 30.5 13 1 debug",
                "Test targets", "wall s own s tests target run",
                "41.0 84.0 12 A debug", "2.0 1.0 1 B debug",
                "The 10 slowest tests", "own s wall s result test run",
            ] + slowest)
        #expect(result.status == 0 && result.errors == "")
    }
}
