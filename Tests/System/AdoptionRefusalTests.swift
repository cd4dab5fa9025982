import TestKit
import Testing

extension SystemTests {
    /// What must not be adopted: its freeze would hold more than an application, or could not be undone.
    @Suite("Refused adoptions")
    final class AdoptionRefusalTests {
        private var stage = AdoptionStage.systemService

        init() throws {
            try stage.begin()
        }

        deinit {
            _ = try? Installation.shell("systemctl stop refused.service session-77.scope; true")
            try? stage.end()
        }

        private func begin(_ stage: AdoptionStage) throws {
            try self.stage.end()
            self.stage = stage
            try stage.begin()
        }

        /// - Parameter caller: whoever asks; root where there is none.
        private func refusal(
            _ caller: AdoptionStage = .systemService, of processID: Int
        ) throws -> String {
            let answer = try caller.call("app adopt refused \(processID)")
            #expect(answer.status == 1, "\(answer)")
            #expect(answer.output.isEmpty, "\(answer)")
            return answer.errors
        }

        private func number(_ script: String) throws -> Int {
            let said = try Installation.shell(script)
            return try #require(Int(said.line), "\(said)")
        }

        /// Runs a script as a service.
        /// - Returns: its main process.
        private func service(_ options: String, _ script: String) throws -> Int {
            try number(
                "systemd-run --quiet --collect --unit=refused.service \(options) sh -c '\(script)'"
                    + " && systemctl show -P MainPID refused.service")
        }

        @Test("a process in no unit is refused")
        func noUnit() throws {
            let processID = try service("", "exec sleep 7600")
            try Installation.succeed(
                Installation.shell(
                    "mkdir /sys/fs/cgroup/loose && echo \(processID) >/sys/fs/cgroup/loose/cgroup.procs"
                ))
            defer {
                _ = try? Installation.shell(
                    "echo 1 >/sys/fs/cgroup/loose/cgroup.kill; rmdir /sys/fs/cgroup/loose")
            }
            #expect(
                try refusal(of: processID).contains(
                    "it lives in no service or scope that could be frozen (/loose)"))
        }

        @Test("a login session is refused, also to the shell that lives in it")
        func session() throws {
            let processID = try number(
                """
                systemd-run --quiet systemd-run --quiet --scope --unit=session-77 sleep 7601
                until grep -s . /sys/fs/cgroup/system.slice/session-77.scope/cgroup.procs; do sleep 0.05; done
                """)
            #expect(
                try refusal(of: processID).contains("session-77.scope is a whole login session"))
        }

        @Test("a unit with other processes is refused, and one of them is named")
        func others() throws {
            let main = try service("", "sleep 7602 & sleep 7603 & wait")
            try Box.wait(for: "2", from: "sh", "-c", "pgrep -fxc 'sleep 760[23]'")
            let child = try number("pgrep -fx 'sleep 7602'")
            let reason = "it lives in refused.service too and would be frozen"
            #expect(try refusal(of: child).contains(reason))
            #expect(try Service.call("app adopt family \(main)").line == "family is active")
            #expect(
                try refusal(of: main).contains(
                    "refused.service belongs to an application already"))
        }

        @Test("a unit with a watchdog is refused")
        func watchdog() throws {
            let processID = try service("--property=WatchdogSec=300s", "exec sleep 7604")
            #expect(
                try refusal(of: processID).contains(
                    "refused.service has a watchdog, which would end it while it is frozen"))
            // The refusal leaves no application behind.
            let shown = try Service.call("app show refused")
            #expect(shown.status == 1, "\(shown)")
        }

        @Test("another user's process is refused")
        func foreign() throws {
            try begin(.userScope)
            let processID = try service("", "exec sleep 7605")
            #expect(
                try refusal(.userScope, of: processID)
                    .contains("user \(BoxUser.uid) has no such process"))
            #expect(
                try refusal(of: AdoptionStage.userScope.processID())
                    .contains("user 0 has no such process"))
        }

        @Test("a user's own daemon refuses a unit of the system, which it cannot freeze")
        func systemUnit() throws {
            try begin(.ownDaemon)
            let processID = try service("--uid=\(BoxUser.uid)", "exec sleep 7606")
            #expect(
                try refusal(.ownDaemon, of: processID).contains(
                    "the system's manager, which has refused.service, obeys root alone"))
        }

        @Test("the daemon itself is refused")
        func daemon() throws {
            try Installation.succeed(stage.call("status"))
            let processID = try #require(Int(Service.property("MainPID")))
            #expect(
                try refusal(of: processID).contains("bgtaskd.service is the unit of this daemon"))
        }

        @Test("two adoptions at once are one, and a manager that says nothing is told of")
        func atOnce() throws {
            try begin(.userScope)
            let processID = try stage.processID()
            let manager = "user@\(BoxUser.uid).service"
            try Installation.succeed(
                Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "STOP", manager))
            defer {
                _ = try? Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "CONT", manager)
            }
            let call = "\(Programs.path("bgtaskctl")) --system app adopt counter \(processID) 2>&1"
            let both = try stage.shell("\(call) & \(call); wait").output
            #expect(both.contains("application counter is being adopted"), "\(both)")
            #expect(
                both.contains("the service manager did not answer within 5.0 seconds"), "\(both)")

            try Installation.succeed(
                Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "CONT", manager))
            try stage.adopt()
            try stage.suspend()
            try stage.expectFrozen()
        }
    }
}
