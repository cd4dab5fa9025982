import TestKit
import Testing

extension SystemTests {
    /// The parts of Systemd in a service of their own (Tests/SystemdProbe).
    @Suite("A service made of the Systemd module")
    struct ProbeTests {
        /// A slow machine must not wake the watchdog where a test does not mean to.
        private static func service(watchdogSeconds: Int = 60) -> String {
            """
            [Service]
            Type=notify
            ExecStart=\(Programs.path("systemd-probe")) serve
            WatchdogSec=\(watchdogSeconds)
            Restart=on-failure
            RestartSec=0
            TimeoutAbortSec=1
            LimitCORE=0
            LogRateLimitIntervalSec=0
            """
        }

        private static let socket = """
            [Socket]
            ListenStream=/run/probe.socket
            FileDescriptorName=api
            """

        /// Each test begins with units of its own that never ran.
        init() throws {
            _ = try Box.execRaw("systemctl", "stop", "probe.service", "probe.socket")
            _ = try Box.execRaw("systemctl", "reset-failed")
            try Box.install(unit: "probe.service", Self.service())
            try Box.install(unit: "probe.socket", Self.socket)
            let started = try Box.execRaw("systemctl", "start", "probe.socket")
            try #require(started.status == 0, "\(started.errors)")
        }

        private func ask(_ request: String) throws -> String {
            let script = "echo '\(request)' | socat -t 30 - UNIX-CONNECT:/run/probe.socket"
            return try Box.execRaw("sh", "-c", script).line
        }

        private func property(_ name: String) throws -> String {
            try Box.execRaw("systemctl", "show", "-P", name, "probe.service").line
        }

        @Test("reaches READY with a status that systemctl shows, and stops on SIGTERM")
        func reachesReady() throws {
            let started = try Box.execRaw("systemctl", "start", "probe.service")
            #expect(started.status == 0)
            let status = try Box.execRaw("systemctl", "status", "probe.service").output
            #expect(status.contains("Active: active (running)"))
            #expect(status.contains("Status: \"sockets: api; watchdog: true\""))
            let stopped = try Box.execRaw("systemctl", "stop", "probe.service")
            #expect(stopped.status == 0)
            #expect(try property("Result") == "success")
            #expect(try property("ExecMainStatus") == "0")
        }

        @Test("is started by its socket and gets it")
        func takesSocket() throws {
            #expect(try property("ActiveState") == "inactive")
            #expect(try ask("ping") == "api: request 1")
            #expect(try ask("ping") == "api: request 2")
            #expect(try property("ActiveState") == "active")
        }

        @Test("is restarted by the watchdog when its loop stands still")
        func watchdogRestarts() throws {
            try Box.install(unit: "probe.service", Self.service(watchdogSeconds: 10))
            #expect(try ask("ping") == "api: request 1")
            _ = try Box.execRaw("systemctl", "kill", "-s", "STOP", "probe.service")
            try Box.wait(for: "1", from: "systemctl", "show", "-P", "NRestarts", "probe.service")
            #expect(try ask("ping") == "api: request 1")
        }

        @Test("writes entries whose fields come back from the journal")
        func writesJournal() throws {
            #expect(try ask("ping") == "api: request 1")
            let id = try property("InvocationID")
            try Box.wait(
                for: "1",
                from: "sh",
                "-c",
                "journalctl --sync; journalctl -o json _SYSTEMD_INVOCATION_ID=\(id) BGTASK_ID=42 | wc -l"
            )
            let entry = try Box.execRaw(
                "journalctl",
                "-o",
                "json",
                "_SYSTEMD_INVOCATION_ID=\(id)",
                "BGTASK_ID=42"
            ).output
            for field in [
                #""MESSAGE":"probe started""#, #""PRIORITY":"5""#,
                #""MESSAGE_ID":"0123456789abcdef0123456789abcdef""#,
                #""SYSLOG_IDENTIFIER":"systemd-probe""#, #""BGTASK_NAME":"two\nlines""#,
                #""BGTASK_OWNER":"0""#,
            ] {
                #expect(entry.contains(field), "\(field)")
            }
        }

        @Test("goes on while journald stands still, and accounts for every entry afterwards")
        func outlivesJournald() throws {
            #expect(try ask("ping") == "api: request 1")
            _ = try Box.execRaw("systemctl", "kill", "-s", "STOP", "systemd-journald")
            defer { _ = try? Box.execRaw("systemctl", "kill", "-s", "CONT", "systemd-journald") }
            let answer = try ask("log 7 20000 word")
            #expect(try ask("ping") == "api: request 3")
            #expect(try property("NRestarts") == "0")
            _ = try Box.execRaw("systemctl", "kill", "-s", "CONT", "systemd-journald")

            let words = answer.split(separator: " ")
            try #require(words.count == 5, "\(answer)")
            let lost = try #require(Int(words[2]))
            #expect(lost > 0)
            let id = try property("InvocationID")
            let count = "journalctl --sync; journalctl -q -o cat _SYSTEMD_INVOCATION_ID=\(id)"
            try Box.wait(for: "1", from: "sh", "-c", "\(count) BGTASK_LOST_OUTPUT=\(lost) | wc -l")
            let written = try Box.execRaw("sh", "-c", "\(count) BGTASK_ID=7 | wc -l").line
            #expect(Int(written) == 20_000 - lost)
        }
    }
}
