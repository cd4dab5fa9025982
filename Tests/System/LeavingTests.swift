import TestKit
import Testing

extension SystemTests {
    /// Who may move a process out of its group: PID 1, for a user's manager and for pam_systemd.
    @Suite("A command that gets itself another control group", .serialized)
    final class LeavingTests {
        init() throws {
            try BoxUser.linger()
            try Service.set("queue.slots = 1\n")
            try InstalledUnits.start()
        }

        deinit {
            try? Service.set(nil)
            try? BoxUser.stop()
        }

        private static let ctl = "\(Programs.path("bgtaskctl")) --system"
        private static let bus = """
            --env XDG_RUNTIME_DIR=/run/user/\(BoxUser.uid) \
            --env DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/\(BoxUser.uid)/bus
            """

        /// Runs a command with a budget of some seconds to its end.
        private func run(
            _ command: String, as user: String?, budget: String = "4s"
        ) throws -> Box.Result {
            let times = "--budget \(budget) --grace 1s"
            let script = "timeout 90 \(Self.ctl) run --wait \(times) \(command)"
            return user == nil ? try Installation.shell(script) : try BoxUser.shell(script)
        }

        private func isLeft(_ seconds: Int) throws -> Bool {
            try Box.execRaw("pgrep", "-fx", "(/usr/bin/)?sleep \(seconds)").status == 0
        }

        @Test("is stopped at its limit, and the slot is free for the next")
        func limits() throws {
            let name = BoxUser.name
            let commands: [(String, String?, Int)] = [
                ("\(Self.bus) -- systemd-run --user --scope --quiet -- sleep 8101", name, 8101),
                ("-- su \(name) -c 'trap \"\" TERM; sleep 8102; :'", nil, 8102),
                ("-- runuser -l \(name) -c 'trap \"\" TERM; sleep 8103; :'", nil, 8103),
            ]
            for (command, user, seconds) in commands {
                let ended = try run(command, as: user)
                #expect(ended.status == 124, "\(command): \(ended)")
                #expect(try !isLeft(seconds), "\(command)")
                let next = try BoxUser.shell("timeout 60 \(Self.ctl) run --wait -- true")
                #expect(next.status == 0, "after \(command): \(next)")
            }
            let log = try Installation.shell("journalctl --sync; journalctl -q -u bgtaskd.service")
            #expect(log.output.contains("a process has left the group of its task"))
        }

        @Test("leaves nothing behind that it had moved, forked twice or not")
        func descendants() throws {
            let scope = "systemd-run --user --scope --quiet --"
            for (start, seconds) in [
                ("\(scope) sleep 8111 &", 8111),
                ("(\(scope) setsid sh -c \"sleep 8112 & sleep 8112 &\" &) &", 8112),
            ] {
                let wait = "until pgrep -fx \"(/usr/bin/)?sleep \(seconds)\"; do sleep 0.05; done"
                let ended = try run(
                    "\(Self.bus) -- sh -c '\(start) \(wait) >/dev/null; sleep 0.5'",
                    as: BoxUser.name, budget: "60s")
                let log = try told(ended)
                #expect(ended.status == 0, "\(start): \(ended) \(log)")
                #expect(try !isLeft(seconds), "\(start)")
            }
        }

        /// What the task has printed, and what the log has of it.
        private func told(_ ended: Box.Result) throws -> String {
            let id = ended.output.split(separator: "\n").first ?? ""
            return try Installation.shell(
                "journalctl --sync; journalctl -q -u bgtaskd.service BGTASK_ID=\(id)"
            ).output
        }

        @Test("does not keep the daemon from stopping")
        func stop() throws {
            let started = try BoxUser.shell(
                """
                \(Self.ctl) run \(Self.bus) -- \
                    systemd-run --user --scope --quiet -- sh -c 'trap "" TERM; sleep 8121; :'
                """)
            #expect(started.status == 0, "\(started)")
            try Box.wait(for: "1", from: "sh", "-c", "pgrep -fc '^sleep 8121'")
            #expect(try Box.execRaw("systemctl", "stop", Service.name).status == 0)
            #expect(try Service.property("Result") == "success")
            #expect(try !isLeft(8121))
        }
    }
}
