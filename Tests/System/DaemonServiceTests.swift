import Testing

extension SystemTests {
    /// The daemon itself as a service, and its clients.
    @Suite("bgtaskd as a service")
    struct DaemonServiceTests {
        private static let service = """
            [Service]
            Type=notify
            ExecStart=\(Box.buildFolder)/bgtaskd --system
            Delegate=yes
            KillMode=mixed
            StateDirectory=bgtaskd
            WatchdogSec=60
            TimeoutStopSec=60
            LogRateLimitIntervalSec=0
            """

        private static let socket = """
            [Socket]
            ListenStream=/run/bgtaskd/org.bgtaskd
            """

        /// Each test begins with a daemon that never ran.
        init() throws {
            _ = try Box.execRaw("systemctl", "stop", "bgtaskd.service", "bgtaskd.socket")
            _ = try Box.execRaw("systemctl", "reset-failed")
            try Box.install(unit: "bgtaskd.service", Self.service)
            try Box.install(unit: "bgtaskd.socket", Self.socket)
            let started = try Box.execRaw("systemctl", "start", "bgtaskd.socket")
            try #require(started.status == 0, "\(started.errors)")
        }

        private func bgtaskctl(_ arguments: String) throws -> Box.Result {
            try Box.execRaw("sh", "-c", "\(Box.buildFolder)/bgtaskctl --system \(arguments)")
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

        @Test("keeps each task in a control group of its own below the unit's")
        func controlGroups() throws {
            let group = try bgtaskctl("run --follow -- cat /proc/self/cgroup")
            #expect(group.output.contains("/system.slice/bgtaskd.service/bgtaskd-"))
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

        @Test("stops in time with tasks that ignore it, and leaves nothing behind")
        func stop() throws {
            let stubborn = "sh -c 'trap \"\" TERM; setsid sleep 7000 & sleep 7000'"
            for _ in 0..<3 {
                _ = try bgtaskctl("run --budget 60s --grace 1s -- \(stubborn)")
            }
            try Box.wait(for: "6", from: "sh", "-c", "pgrep -fc '^sleep 7000'")
            #expect(try Box.execRaw("systemctl", "stop", "bgtaskd.service").status == 0)
            #expect(try property("Result") == "success")
            #expect(try property("ExecMainStatus") == "0")
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 7000").status == 1)
            try Box.wait(
                for: "3", from: "sh", "-c",
                "journalctl --sync; journalctl -o json BGTASK_OUTCOME=interrupted | wc -l")
        }
    }
}
