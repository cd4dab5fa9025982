import Foundation
import TestKit
import Testing

extension SystemTests {
    /// The daemon itself as a service, and its clients.
    @Suite("bgtaskd as a service")
    struct DaemonServiceTests {
        /// Each test begins with a daemon that never ran.
        init() throws {
            try InstalledUnits.start()
        }

        private func bgtaskctl(_ arguments: String) throws -> Box.Result {
            try Box.execRaw("sh", "-c", "\(Programs.path("bgtaskctl")) --system \(arguments)")
        }

        private func property(_ name: String) throws -> String {
            try Box.execRaw("systemctl", "show", "-P", name, "bgtaskd.service").line
        }

        @Test("is started by the first call on its socket, and says how it is")
        func activation() throws {
            #expect(try property("ActiveState") == "inactive")
            #expect(try bgtaskctl("run --wait -- sh -c 'exit 7'").status == 7)
            #expect(try property("ActiveState") == "active")
            try Box.wait(
                for: "0 running, 0 queued", from: "systemctl", "show", "-P", "StatusText",
                "bgtaskd.service")
        }

        @Test("keeps each task in a control group of its own, outside of its own unit")
        func controlGroups() throws {
            let group = try bgtaskctl("run --follow -- cat /proc/self/cgroup")
            #expect(
                group.output.contains("/bgtaskd.slice/bgtask-executor.service/commands/command-"))
            #expect(try bgtaskctl("status --json").output.contains(#""containment":"cgroup""#))
        }

        @Test("tells a task's whole story in the journal, its output included")
        func journal() throws {
            let id = try bgtaskctl("run -- sh -c 'echo from the task; exit 3'").line
            #expect(try bgtaskctl("wait \(id)").status == 3)
            try Box.wait(
                for: "1", from: "sh", "-c",
                "journalctl --sync; journalctl -o json BGTASK_ID=\(id) BGTASK_OUTCOME=failed | wc -l"
            )
            let story = try Box.execRaw("journalctl", "-o", "json", "BGTASK_ID=\(id)").output
            for field in [
                #""MESSAGE":"Task \#(id) (sh) began""#, #""MESSAGE":"from the task""#,
                #""MESSAGE":"Task \#(id) (sh) failed""#, #""BGTASK_EXIT_STATUS":"3""#,
                #""BGTASK_NAME":"sh""#, #""SYSLOG_IDENTIFIER":"bgtaskd""#,
            ] {
                #expect(story.contains(field), "\(field)")
            }
        }

        @Test("takes no entry and no field from a task's output and name")
        func forgery() throws {
            let marker = "0123456789abcdef0123456789abcdef"
            let run = try Box.execRaw(
                "\(Programs.path("bgtaskctl"))", "--system", "run", "--wait",
                "--name", "x) completed BGTASK_OWNER=7", "--", "printf",
                #"a\nMESSAGE_ID=\#(marker)\nb\r\n_UID=7\n\n__CURSOR=1\nc\0_PID=1\n\033[2J\377\nd"#)
            try #require(run.status == 0, "\(run.errors)")
            let id = run.output.prefix { $0.isNumber }
            try Box.wait(
                for: "1", from: "sh", "-c",
                "journalctl --sync; journalctl -o json BGTASK_ID=\(id) BGTASK_OUTCOME=completed | wc -l"
            )

            let text = try Box.execRaw("journalctl", "-o", "json", "-u", "bgtaskd").output
            let entries = try text.split(separator: "\n").map {
                try #require(
                    try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            let own = entries.filter { $0["BGTASK_ID"] as? String == String(id) }
            // What is not text, journalctl gives as an array of bytes.
            let messages = own.compactMap { $0["MESSAGE"] }.map { message in
                (message as? String).map { Array($0.utf8) } ?? message as? [UInt8] ?? []
            }
            let name = "Task \(id) (x) completed BGTASK_OWNER=7)"
            let lines = [
                "\(name) began", "a", "MESSAGE_ID=\(marker)", "b\r", "_UID=7", "", "__CURSOR=1",
                "c\0_PID=1",
            ]
            #expect(messages.dropLast(3) == lines.map { Array($0.utf8) }[...])
            #expect(
                messages.suffix(3).map(\.self) == [
                    Array("\u{1B}[2J".utf8) + [0xFF], Array("d".utf8),
                    Array("\(name) completed".utf8),
                ])
            for entry in own {
                #expect(entry["_UID"] as? String == "0")
                let isOutput = entry["BGTASK_STREAM"] != nil
                #expect(
                    entry["SYSLOG_IDENTIFIER"] as? String == (isOutput ? "bgtask-0" : "bgtaskd"))
                #expect(entry["BGTASK_OWNER"] as? String == "0")
                #expect(entry["MESSAGE_ID"] as? String != marker)
                let given = entry.keys.filter { !$0.hasPrefix("_") && !$0.hasPrefix("BGTASK_") }
                #expect(
                    Set(given).isSubset(of: [
                        "MESSAGE", "MESSAGE_ID", "PRIORITY", "SYSLOG_IDENTIFIER",
                    ]), "\(given)")
            }
            let forged = try Box.execRaw("journalctl", "-q", "MESSAGE_ID=\(marker)")
            #expect(forged.output.isEmpty)
            // A person's journalctl shows no escape of a task's.
            #expect(!(try Box.execRaw("journalctl", "-u", "bgtaskd").output.contains("\u{1B}[2J")))
        }

        @Test("runs the tasks of a user without home and shell in / with /bin/sh")
        func bareUser() throws {
            let line = "bgtask-bare:x:4242:4242:::"
            _ = try Box.execRaw(
                "sh", "-c", "grep -qx \(line) /etc/passwd || echo \(line) >>/etc/passwd")
            let run = try Box.execRaw(
                "setpriv", "--reuid=4242", "--regid=4242", "--clear-groups",
                "\(Programs.path("bgtaskctl"))", "--system", "run", "--follow", "--quiet", "--",
                "sh", "-c", "echo $USER:$HOME:$SHELL:$(pwd)")
            #expect(run.line == "bgtask-bare:/:/bin/sh:/", "\(run)")
        }

        @Test("stops in time with tasks that ignore it, and leaves nothing behind")
        func stop() throws {
            let stubborn = "sh -c 'trap \"\" TERM; setsid sleep 7000 & sleep 7000'"
            for _ in 0..<3 {
                _ = try bgtaskctl("run --budget 60s --grace 1s -- \(stubborn)")
            }
            try Box.wait(for: "6", from: "sh", "-c", "pgrep -fc '^sleep 7000'")
            let run = "_SYSTEMD_INVOCATION_ID=\(try property("InvocationID"))"
            #expect(try Box.execRaw("systemctl", "stop", "bgtaskd.service").status == 0)
            #expect(try property("Result") == "success")
            #expect(try property("ExecMainStatus") == "0")
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 7000").status == 1)
            try Box.wait(
                for: "3", from: "sh", "-c",
                "journalctl --sync; journalctl -o json \(run) BGTASK_OUTCOME=interrupted | wc -l")
        }
    }
}
