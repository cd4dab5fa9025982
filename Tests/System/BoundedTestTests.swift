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

    private func run(minutes: Int, _ script: String) throws -> Box.Result {
        try Box.run("bounded-test", ["\(minutes)", "sh", "-c", script, "sh"], [:])
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
}
