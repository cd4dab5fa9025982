import Foundation
import TestKit
import Testing

extension VirtualMachineTests {
    /// The daemon on a machine whose wall clock is set while tasks run.
    @Suite("A wall clock that is set")
    struct ClockJumpTests {
        /// A task as `bgtaskctl --json` tells it.
        private struct Task: Decodable {
            struct Remaining: Decodable { var ms: Int? }
            var id: Int
            var name: String
            var state: String
            var outcome: String?
            var usedMs: Int
            var remaining: Remaining?
        }

        private static let budget = ["--budget", "240s", "--grace", "120s"]
        /// When the handlers are due, after the begin.
        private static let handlerMs = 120_000
        private static let bgtaskctl = ["\(Programs.path("bgtaskctl"))", "--system"]

        @Test("3.7: no deadline moves when the clock is set a day ahead, and then two days back")
        func clockJumps() throws {
            try startDaemon()
            let begin = try uptimeMs()
            try startTasks()
            try expectUntouched(since: begin)
            try setClock("+1 day", movesBy: 86_400)
            try expectUntouched(since: begin)
            try setClock("-2 days", movesBy: -172_800)
            try expectUntouched(since: begin)

            for name in ["held", "run"] {
                let id = try #require(try tasks("list --ended --name \(name)").first?.id)
                // The command ends of the signal that the handler sends, and that of `hold` as well.
                #expect(try shell("wait \(id)", seconds: 400).status == 124)
                let ended = try #require(try tasks("show \(id)").first)
                #expect(ended.outcome == "expired")
                #expect(ended.usedMs >= Self.handlerMs)
                #expect(ended.usedMs <= (try uptimeMs()) - begin)
            }
            let restarts = try VirtualMachine.exec(
                "systemctl", "show", "-P", "NRestarts", "bgtaskd")
            #expect(restarts.line == "0")
        }

        private func startDaemon() throws {
            let started = try VirtualMachine.exec(
                "systemd-run", "--quiet", "--unit=bgtaskd", "-p", "Type=notify", "-p",
                "Delegate=yes",
                "-p", "KillMode=mixed", "-p", "StateDirectory=bgtaskd", "-p", "WatchdogSec=300",
                "\(Programs.path("bgtaskd"))", "--system")
            try #require(started.status == 0, "\(started.errors)")
        }

        /// A task of each kind, whose command does nothing but wait for its signal.
        private func startTasks() throws {
            let budget = Self.budget.joined(separator: " ")
            let run = try shell("run --name run \(budget) -- sleep 7000")
            try #require(run.status == 0, "\(run.errors)")
            let hold = Self.bgtaskctl + ["hold", "--name", "held"] + Self.budget
            let held = try VirtualMachine.exec(
                "sh", "-c",
                "systemd-run --quiet --unit=holder \(hold.joined(separator: " ")) -- sleep 7000 &&"
                    + " until \(Self.bgtaskctl.joined(separator: " ")) list | grep held; do sleep 0.05; done"
            )
            try #require(held.status == 0, "\(held.errors)")
        }

        private func setClock(_ change: String, movesBy expected: Int) throws {
            let moved = try VirtualMachine.exec(
                "sh", "-c",
                "before=$(date +%s); date -s '\(change)'; echo $(($(date +%s) - before))")
            let seconds = moved.line.split(separator: "\n").last.flatMap { Int($0) }
            try #require(seconds.map { abs($0 - expected) < 600 } == true, "\(moved)")
        }

        /// Both tasks have spent no more than the time that has passed, and the rest is still to come.
        private func expectUntouched(since begin: Int) throws {
            let tasks = try tasks("list")
            let elapsed = try uptimeMs() - begin
            try #require(tasks.map(\.name).sorted() == ["held", "run"])
            for task in tasks {
                try #require(task.state == "running", "\(task)")
                try #require((0...elapsed).contains(task.usedMs), "\(task)")
                let left = try #require(task.remaining?.ms)
                try #require((Self.handlerMs - elapsed...Self.handlerMs).contains(left), "\(task)")
            }
        }

        private func tasks(_ arguments: String) throws -> [Task] {
            let answer = try shell("\(arguments) --json")
            try #require(answer.status == 0, "\(answer.errors)")
            return try answer.output.split(separator: "\n").map {
                try JSONDecoder().decode(Task.self, from: Data($0.utf8))
            }
        }

        /// How long the machine has been up, which setting its clock does not change.
        private func uptimeMs() throws -> Int {
            let text = try VirtualMachine.exec("cat", "/proc/uptime").line
            let seconds = try #require(text.split(separator: " ").first.flatMap { Double($0) })
            return Int(seconds * 1000)
        }

        private func shell(_ arguments: String, seconds: Int = 300) throws -> Box.Result {
            let words = Self.bgtaskctl + arguments.split(separator: " ").map(String.init)
            return try VirtualMachine.exec(
                "sh", "-c", words.joined(separator: " "), seconds: seconds)
        }
    }
}
