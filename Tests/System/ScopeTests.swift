import TestKit
import Testing

extension SystemTests {
    /// The daemon started by hand, in a control group that is not its own.
    @Suite("bgtaskd from a shell")
    struct ScopeTests {
        private static let user = "bgtask-scope"

        /// A user with a manager and a bus, as after a login.
        init() throws {
            let made = try Box.execRaw(
                "sh", "-c",
                """
                id \(Self.user) 2>/dev/null >&2 || useradd --create-home --uid 4245 \(Self.user) &&
                loginctl enable-linger \(Self.user) &&
                systemctl start user@$(id -u \(Self.user)).service
                """)
            try #require(made.status == 0, "\(made)")
        }

        /// Starts a daemon as a child of this shell in a folder of its own, runs `commands`, and stops it.
        /// In `commands`, $ctl is bgtaskctl for that daemon, and $daemon its pid.
        private func shell(
            _ commands: String, as user: String? = nil, environment: String = ""
        ) throws -> Box.Result {
            let script = """
                folder=$(mktemp -d); programs=\(Programs.folder)
                ctl="$programs/bgtaskctl --socket $folder/socket"
                start() {
                    env \(environment) $programs/bgtaskd --socket $folder/socket \
                        --state-dir $folder/state 2>>$folder/log & daemon=$!
                    until $ctl status >/dev/null 2>&1; do
                        kill -0 $daemon || { cat $folder/log >&2; exit 1; }
                    done
                }
                start
                \(commands)
                kill $daemon; wait $daemon || echo the daemon ended with $?
                cat $folder/log >&2
                """
            return try Box.exec(
                "sh", "-c", script, options: user.map { ["-u", $0] } ?? [], seconds: 60)
        }

        private static let showGroups = """
            $ctl status --json | grep -o '"containment":"[a-z]*"'
            $ctl run --follow -- grep ^0:: /proc/self/cgroup
            grep ^0:: /proc/$daemon/cgroup
            """

        @Test("gets a delegated scope from a user's manager, and keeps to a leaf of it")
        func userScope() throws {
            let shown = try shell(Self.showGroups, as: Self.user)
            let lines = shown.output.split(separator: "\n").map(String.init)
            try #require(lines.count == 3, "\(shown)")
            #expect(lines[0] == #""containment":"cgroup""#)
            let scope = #/0::/user\.slice/.*/bgtaskd-[0-9a-f]{16}-[0-9]+\.scope\//#
            let task = try #require(lines[1].prefixMatch(of: scope))
            let group = lines[1][task.range.upperBound...]
            #expect(try #/bgtaskd-[0-9a-f]{16}\/command-[0-9]+/#.wholeMatch(in: group) != nil)
            #expect(lines[2] == task.output + "daemon")
            #expect(shown.errors.contains("the service manager made a scope"))
        }

        @Test("gets one from the system's manager where root starts it")
        func systemScope() throws {
            let shown = try shell(Self.showGroups)
            #expect(shown.output.contains(#""containment":"cgroup""#))
            #expect(
                try #/0::/system\.slice/bgtaskd-[0-9a-f]{16}-[0-9]+\.scope/daemon/#
                    .firstMatch(in: shown.output) != nil, "\(shown)")
        }

        @Test("serves after one that was killed, whose commands have ended with it")
        func successor() throws {
            let shown = try shell(
                """
                $ctl run -- sh -c 'trap "" TERM; exec sleep 7600' >/dev/null
                until pgrep -f '^sleep 7600' >/dev/null; do sleep 0.05; done
                kill -9 $daemon; wait $daemon
                while pgrep -f '^sleep 7600' >/dev/null; do sleep 0.05; done
                start
                $ctl run --follow -- echo served
                """, as: Self.user)
            #expect(shown.output == "served\n", "\(shown)")
        }

        @Test("leaves no scope behind")
        func scopeEnds() throws {
            _ = try shell("", as: Self.user)
            let left = try Box.exec(
                "sh", "-c",
                """
                until [ -z "$(systemctl --user list-units --all --plain --no-legend 'bgtaskd-*')" ]
                do sleep 0.05; done
                """, options: ["-u", Self.user], seconds: 60)
            #expect(left.status == 0, "\(left)")
        }

        @Test(
            "uses supervisors where there is no bus, or none that answers, and says why",
            arguments: ["unix:path=/nonexistent", "unix:path=/run/silent-bus"])
        func withoutBus(address: String) throws {
            let silent = "/run/silent-bus"
            _ = try Box.execRaw(
                "systemd-run", "--unit=silent-bus", "--collect", "socat", "-u",
                "UNIX-LISTEN:\(silent),fork,mode=666", "OPEN:/dev/null")
            defer { _ = try? Box.execRaw("systemctl", "stop", "silent-bus") }
            try Box.wait(for: silent, from: "ls", silent)

            let shown = try shell(
                "$ctl status --json | grep -o '\"containment\":\"[a-z]*\"'; $ctl run --wait -- true",
                as: Self.user, environment: "DBUS_SESSION_BUS_ADDRESS=\(address)")
            #expect(shown.output == "\"containment\":\"supervisor\"\n1\n", "\(shown)")
            #expect(shown.errors.contains("the service manager made no scope"))
            #expect(shown.errors.contains("each task gets a supervisor process"))
        }
    }
}
