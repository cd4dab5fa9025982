import TestKit
import Testing

extension SystemTests {
    /// What a stop is, asked by a service that is being stopped (Tests/SystemdProbe).
    @Suite("What kind of stop the service manager wants")
    struct StopKindTests {
        private static func service(_ scope: String, _ more: String = "") -> String {
            """
            [Service]
            Type=notify
            ExecStart=\(Programs.path("systemd-probe")) stop-kind \(scope)
            StandardOutput=append:/tmp/stop-kind-\(scope)
            \(more)
            """
        }

        /// A unit whose start stops the service of the test, as the end of a machine would.
        private static let opponent = """
            [Unit]
            Conflicts=stop-kind.service
            [Service]
            Type=oneshot
            RemainAfterExit=yes
            ExecStart=true
            """

        /// What the service has said, a line a stop.
        private static func said(_ scope: String) throws -> [Substring] {
            try Installation.shell("cat /tmp/stop-kind-\(scope)").output.split(separator: "\n")
        }

        private static let unknown = #"unknown("no job of the service manager is under way")"#

        @Test("is known of a service of the system", arguments: ["", "User=nobody"])
        func system(more: String) throws {
            try Installation.succeed(
                Installation.shell("rm -f /tmp/stop-kind-*; touch /tmp/stop-kind-system"))
            try Box.install(unit: "stop-kind.service", Self.service("system", more))
            try Box.install(unit: "against.service", Self.opponent)
            try Installation.succeed(
                Installation.shell(
                    """
                    systemctl start stop-kind && systemctl restart stop-kind &&
                    systemctl try-restart stop-kind && systemctl reload-or-restart stop-kind &&
                    systemctl stop stop-kind && systemctl start stop-kind &&
                    systemctl start against && systemctl stop against && systemctl start stop-kind &&
                    kill $(systemctl show -P MainPID stop-kind)
                    """))
            try Box.wait(
                for: "inactive", from: "systemctl", "show", "-P", "ActiveState", "stop-kind")
            #expect(
                try Self.said("system") == [
                    "restart", "restart", "restart", "stop", "stop", Self.unknown[...],
                ])
        }

        @Test("is known of a service of a user, at the end of the user's manager too")
        func user() throws {
            defer { try? BoxUser.stop() }
            try BoxUser.linger()
            try Installation.succeed(Installation.shell("rm -f /tmp/stop-kind-*"))
            try Box.write(
                Self.service("user"), to: "/etc/systemd/user/stop-kind.service")
            try Installation.succeed(
                BoxUser.shell(
                    """
                    systemctl --user daemon-reload && systemctl --user start stop-kind &&
                    systemctl --user restart stop-kind && systemctl --user stop stop-kind &&
                    systemctl --user start stop-kind
                    """))
            try BoxUser.stop()
            #expect(try Self.said("user") == ["restart", "stop", "stop"])
        }
    }
}
