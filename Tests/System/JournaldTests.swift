import Foundation
import Testing

extension SystemTests {
    /// The daemon beside a journald that is slow, or is not there.
    @Suite("Without journald")
    struct JournaldTests {
        private static let count = 1000
        private static let linesPrinted = 800

        init() throws {
            try JournalStage.start(settings: "limits.tasksPerOwnerMax = 2000")
        }

        private func number(_ field: String, in entry: [String: Any]) -> Int? {
            (entry[field] as? String).flatMap { Int($0) }
        }

        /// Waits for the report of this daemon about what was lost.
        private func report() throws -> [String: Any] {
            let daemon = try Box.execRaw(
                "systemctl", "show", "-P", "InvocationID", "bgtaskd.service"
            ).line
            let matches = [
                "MESSAGE_ID=a9c4ea8d6f0b4f4c9d0f6c2e51b7d384", "_SYSTEMD_INVOCATION_ID=\(daemon)",
            ]
            try Box.wait(
                for: "1", from: "sh", "-c",
                "journalctl --sync; journalctl -q -o cat \(matches.joined(separator: " ")) | wc -l")
            return try #require(try JournalStage.entries(matches[0], matches[1]).first)
        }

        /// journald stands still while 1,000 tasks begin, reach the end of their time one after the other, and
        /// a task prints more than waits for journald.
        ///
        /// - Returns: the numbers of the tasks in the order in which a watching client saw their handlers
        ///   fire, and the number of the task that printed.
        private func fireWithoutJournald() throws -> (fired: [Int], printer: String) {
            let begin =
                #"{"method":"org.bgtaskd.Tasks.Begin","parameters":{"name":"held","budget":{"durationMs":%d,"graceMs":1000}}}\0"#
            let result = try JournalStage.shell(
                """
                rm -f /run/seen
                ctl watch --json |
                    awk '{ print; fflush() } /"kind":"expiring"/ && ++n == \(Self.count) { exit }' \\
                    >/run/seen & watcher=$!
                until [ -s /run/seen ]; do ctl run --wait -- true >/dev/null; done
                systemctl kill -s STOP systemd-journald
                { i=0; while [ $i -lt \(Self.count) ]; do
                    i=$((i + 1)); printf '\(begin)' $((3000 + 2 * i))
                done; exec tail -f --pid=$$ /dev/null; } |
                    socat - UNIX-CONNECT:/run/bgtaskd/org.bgtaskd >/run/begun & holder=$!
                line=$(head -c 15000 /dev/zero | tr '\\0' x)
                printer=$(ctl run --wait -- sh -c "yes $line | head -n \(Self.linesPrinted)")
                wait $watcher
                echo $printer
                kill $holder
                """)
            #expect(result.status == 0, "\(result.errors)")
            let seen = try JournalStage.shell("cat /run/seen").output.split(separator: "\n")
                .map {
                    try #require(
                        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
            let fired = seen.filter { $0["kind"] as? String == "expiring" }
                .compactMap { ($0["task"] as? [String: Any])?["id"] as? Int }
            return (fired, result.line)
        }

        @Test(
            "that stands still under 1,000 tasks, all handlers fire in order, and the loss is told")
        func standsStill() throws {
            defer { _ = try? Box.execRaw("systemctl", "kill", "-s", "CONT", "systemd-journald") }
            let (fired, printer) = try fireWithoutJournald()
            #expect(fired.count == Self.count)
            #expect(fired == fired.sorted(), "the later the limit, the later the handler")

            _ = try Box.execRaw("systemctl", "kill", "-s", "CONT", "systemd-journald")
            let marker = try JournalStage.run("true")
            try JournalStage.waitForEnd(of: marker)
            let lost = try report()
            let lines = try JournalStage.entries("BGTASK_ID=\(printer)", "BGTASK_STREAM=stdout")
            let lostLines = try #require(number("BGTASK_LOST_OUTPUT", in: lost))
            #expect(lostLines > 0)
            #expect(lines.count + lostLines == Self.linesPrinted)
            // The audit trail had room, and is whole and in order.
            #expect(number("BGTASK_LOST_AUDIT", in: lost) == 0)
            let told = try JournalStage.entries(
                "-u", "bgtaskd", "BGTASK_NAME=held", "MESSAGE_ID=1bf92097fb474945ad55a2b5bf32f8df")
            #expect(told.compactMap { Int($0["BGTASK_ID"] as? String ?? "") } == fired)
        }

        @Test(
            "whose socket is not there or takes nothing, tasks go on, and the loss is told",
            arguments: [true, false])
        func isGone(isSocketRemoved: Bool) throws {
            let units =
                "systemd-journald.socket systemd-journald-dev-log.socket "
                + "systemd-journald-audit.socket systemd-journald.service"
            defer { _ = try? JournalStage.shell("systemctl start \(units)") }
            try JournalStage.waitForEnd(of: try JournalStage.run("true"))
            let run = try JournalStage.shell(
                """
                systemctl stop \(units) || exit 9
                test \(isSocketRemoved) = false || rm -f /run/systemd/journal/socket
                ctl run --wait -- sh -c 'echo gone; exit 7'; status=$?
                systemctl start \(units)
                exit $status
                """)
            #expect(run.status == 7, "\(run.errors)")
            let after = try JournalStage.run("true")
            try JournalStage.waitForEnd(of: after)
            let lost = try report()
            let audit = try #require(number("BGTASK_LOST_AUDIT", in: lost))
            let output = try #require(number("BGTASK_LOST_OUTPUT", in: lost))
            // Its begin and its end, and its line; the end may have found journald again.
            let id = run.output.prefix { $0.isNumber }
            let told = try JournalStage.entries("BGTASK_ID=\(id)")
            #expect(audit > 0)
            #expect(audit + output + told.count == 3)
        }
    }
}
