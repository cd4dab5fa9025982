import Foundation
import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink
import TaskControl

/// The line that says that a command which waits is alive.
@Suite("A command that takes long")
struct StatusLineTests {
    // MARK: - The text

    @Test(
        "says how the task is that it waits for",
        arguments: [
            (Tasks.State.running, 180_000, "running, 2min 57s left"), (.running, nil, "running"),
            (.running, 2000, "running, 0s left"), (.expiring, 5000, "expiring, stopped in 2s"),
            (.dormant, 180_000, "dormant"),
        ] as [(Tasks.State, Int?, String)])
    func task(state: Tasks.State, hardMs: Int?, text: String) {
        let task = Sample.task {
            $0.state = state
            $0.remaining = Sample.remaining(ms: nil, hardMs: hardMs, nil)
        }
        #expect(
            ActivityText.task(7, task, millisecondsAgo: 2500) == "waiting for 7 flush: " + text)
    }

    @Test("says of a queued task what that waits for, and of an unknown one its number")
    func queued() {
        let task = Sample.task {
            $0.state = .queued
            $0.waiting = "groupSlots"
        }
        #expect(
            ActivityText.task(7, task, millisecondsAgo: 0)
                == "waiting for 7 flush: queued: group's slots")
        #expect(ActivityText.task(7, nil, millisecondsAgo: 0) == "waiting for task 7")
    }

    @Test("says of several how many have ended, of a history how far it is read, of an order which")
    func others() {
        #expect(ActivityText.tasks([3, 9], endedCount: 0) == "waiting for 2 tasks: 3 9")
        #expect(
            ActivityText.tasks([3, 9], endedCount: 1) == "waiting, 1 of 2 tasks have ended: 9")
        #expect(ActivityText.first(of: [3, 9]) == "waiting for the first of 2 tasks: 3 9")
        #expect(ActivityText.history(count: 12) == "reading the history: 12 tasks so far")
        #expect(
            ActivityText.order(
                "org.bgtaskd.Applications.EnterBackground", about: "a", milliseconds: 3400)
                == "waiting for a: enter background, 3s so far")
    }

    @Test(
        "is cut to one line of the screen, and obeys no name", arguments: [0, 1, 2, 10, 30, 80])
    func cut(width: Int) {
        let task = Sample.task { $0.name = "a\u{1B}[31m\n漢字漢字 very long name of a task" }
        let line = ActivityText.line(
            ActivityText.task(7, task, millisecondsAgo: 0), width: width)
        #expect(TextWidth.of(line) <= max(width - 1, 0))
        #expect(!line.unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test("is for a person alone, at a terminal that has a cursor")
    func wanted() {
        func isWanted(_ isTerminal: Bool, _ isJSON: Bool, _ terminal: String?) -> Bool {
            StatusLine.isWanted(isTerminal: isTerminal, isJSON: isJSON, terminal: terminal)
        }
        #expect(isWanted(true, false, "xterm"))
        #expect(!isWanted(false, false, "xterm"))
        #expect(!isWanted(true, true, "xterm"))
        #expect(!isWanted(true, false, "dumb"))
        #expect(!isWanted(true, false, nil))
    }

    // MARK: - On a terminal

    /// A daemon with a task that runs until it is let go.
    private final class Waited: Sendable {
        let daemon: FakeDaemon
        private let gate: Int32

        init() throws {
            let gate = try makeDescriptorPair()
            self.gate = gate.write
            daemon = try FakeDaemon { peer in
                while let call = peer.nextCall() {
                    switch call.method {
                    case Tasks.Show.name:
                        var output = Tasks.Show.Output()
                        output.task = Sample.task()
                        peer.send(output)
                    case Tasks.Wait.name:
                        var byte: UInt8 = 0
                        _ = read(gate.read, &byte, 1)
                        var output = Tasks.Wait.Output()
                        output.task = Sample.ended(.failed, status: 3)
                        peer.send(output)
                    default: Issue.record("\(call.method)")
                    }
                }
            }
        }

        func letGo() {
            var byte: UInt8 = 0
            _ = write(gate, &byte, 1)
        }

        deinit { close(gate) }
    }

    private static func wait(
        for waited: Waited, _ arguments: [String] = ["wait", "7"], width: UInt16 = 80,
        term: String = "xterm"
    ) throws -> CommandRun {
        try CommandRun(
            [CommandRun.program] + arguments,
            [
                "BGTASK_SOCKET=\(waited.daemon.path)", "PATH=/usr/bin:/bin", "TERM=\(term)",
                "NO_COLOR=1",
            ], errorScreen: (24, width))
    }

    private static let line = "\rwaiting for 7 flush: running, "
    private static let end = " left\u{1B}[K\r"
    private static let erasure = "\r\u{1B}[J"

    @Test("shows a line after a second, redraws it, and erases it before it says what came of it")
    func shown() throws {
        let waited = try Waited()
        let run = try Self.wait(for: waited)
        // Where the daemon takes a second to say which task it is, a line has its number alone.
        run.wait { $0.errors.components(separatedBy: Self.line).count > 2 }
        waited.letGo()
        #expect(run.finish() == 3)
        #expect(run.output.isEmpty)
        let last = try #require(run.errors.components(separatedBy: Self.end).last)
        #expect(last == Self.erasure)
    }

    @Test("on a narrow screen the line is cut")
    func narrow() throws {
        let waited = try Waited()
        let run = try Self.wait(for: waited, width: 20)
        run.wait { $0.errors.contains("\rwaiting for 7 flus…\u{1B}[K\r") }
        waited.letGo()
        #expect(run.finish() == 3)
        #expect(!run.errors.contains("flush"))
    }

    @Test("a signal that ends it leaves nothing of the line", arguments: [SIGINT, SIGTERM])
    func ended(signal: Int32) throws {
        let waited = try Waited()
        let run = try Self.wait(for: waited)
        run.wait { $0.errors.contains(Self.end) }
        kill(run.processID, signal)
        #expect(run.finish() == 128 + signal)
        let last = try #require(run.errors.components(separatedBy: Self.end).last)
        let notice =
            signal == SIGINT
            ? "bgtaskctl: task 7 continues to run; to stop it: bgtaskctl cancel 7\n" : ""
        #expect(last == Self.erasure + notice)
        waited.letGo()
    }

    @Test("one that is stopped erases the line, and draws it again when it goes on")
    func stopped() throws {
        let waited = try Waited()
        let run = try Self.wait(for: waited)
        run.wait { $0.errors.contains(Self.end) }
        kill(run.processID, SIGTSTP)
        run.wait { $0.errors.hasSuffix(Self.erasure) }
        var status: Int32 = 0
        #expect(waitpid(run.processID, &status, WUNTRACED) == run.processID)
        #expect(status & 0xFF == 0x7F)
        kill(run.processID, SIGCONT)
        run.wait { $0.errors.hasSuffix(Self.end) }
        waited.letGo()
        #expect(run.finish() == 3)
        #expect(run.errors.hasSuffix(Self.erasure))
    }

    @Test("says of a history how far it is read, and of an order about an application which it is")
    func historyAndOrder() throws {
        let gate = try makeDescriptorPair()
        let daemon = try FakeDaemon { peer in
            guard let call = peer.nextCall() else { return }
            if call.method == Tasks.History.name {
                for _ in 0..<3 {
                    var entry = Tasks.History.Output()
                    entry.task = Sample.ended(.completed, status: 0)
                    peer.send(entry, continues: true)
                }
            }
            var byte: UInt8 = 0
            _ = read(gate.read, &byte, 1)
        }
        for (arguments, text) in [
            (["history"], "\rreading the history: 3 tasks"),
            (["app", "terminate", "player"], "\rwaiting for player: terminate, "),
        ] {
            let run = try CommandRun(
                [CommandRun.program] + arguments,
                ["BGTASK_SOCKET=\(daemon.path)", "PATH=/usr/bin:/bin", "TERM=xterm"],
                errorScreen: (24, 80))
            run.wait { $0.errors.contains(text) && $0.errors.hasSuffix(" so far\u{1B}[K\r") }
            kill(run.processID, SIGINT)
            #expect(run.finish() == 128 + SIGINT)
            #expect(run.output.isEmpty)
            #expect(run.errors.hasSuffix("\r" + Self.erasure))
        }
        close(gate.write)
    }

    @Test("shows no line in a pipe, as JSON, or on a terminal without a cursor")
    func notShown() throws {
        let plain = try Waited()
        let piped = try CommandRun(plain.daemon, "wait", "7", "--timeout", "1500ms")
        #expect(piped.finish() == 125)
        #expect(piped.errors == "bgtaskctl: task 7 has not ended after 1.5s\n")
        for (arguments, term) in [
            (["wait", "7", "--timeout", "1500ms"], "dumb"),
            (["--json", "wait", "7", "--timeout", "1500ms"], "xterm"),
        ] {
            let waited = try Waited()
            let run = try Self.wait(for: waited, arguments, term: term)
            #expect(run.finish() == 125)
            #expect(!run.errors.contains("\u{1B}"))
            waited.letGo()
        }
        plain.letGo()
    }
}
