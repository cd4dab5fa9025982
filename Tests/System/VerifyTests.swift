import Foundation
import Testing

extension SystemTests {
    /// What systemd says of the units, and what tasks notice of them.
    @Suite("The units as they are installed")
    struct VerifyTests {
        init() throws {
            try Installation.prepare()
            try Installation.install()
        }

        private static let services = "bgtask-executor.service bgtaskd.service"

        @Test("have nothing that systemd-analyze verify objects to", arguments: ["system", "user"])
        func verify(scope: String) throws {
            let folder = "/usr/local/lib/systemd/\(scope)"
            let metrics = scope == "system" ? "\(folder)/bgtaskd-metrics.timer" : ""
            let verified = try Installation.shell(
                """
                XDG_RUNTIME_DIR=/run systemd-analyze --\(scope) --man=no verify \
                    \(folder)/bgtaskd.socket \(folder)/bgtaskd.service \
                    \(folder)/bgtask-executor.socket \(folder)/bgtask-executor.service \(metrics)
                """)
            #expect(verified == Box.Result(status: 0, output: "", errors: ""))
        }

        @Test("have a drop-in that takes more, and nothing that ordinary users' commands need")
        func hardened() throws {
            let restart = "systemctl daemon-reload; systemctl restart \(Self.services)"
            try Installation.succeed(
                Installation.shell(
                    """
                    for unit in \(Self.services); do
                        install -D -m 0644 /usr/local/share/doc/bgtaskd/hardened.conf \
                            /etc/systemd/system/$unit.d/hardened.conf || exit
                    done
                    \(restart)
                    """))
            defer {
                _ = try? Installation.shell(
                    "rm /etc/systemd/system/*/hardened.conf; \(restart)")
            }
            for unit in Self.services.split(separator: " ") {
                let judged = try Box.execRaw(
                    "systemd-analyze", "security", "--no-pager", "--threshold=76", "\(unit)")
                #expect(judged.status == 0, "\(judged.output.suffix(120))")
            }
            try BoxUser.linger()
            defer { try? BoxUser.stop() }
            let task = try BoxUser.shell(
                "bgtaskctl --system run --follow --quiet -- sh -c 'id -u; sed -n s/^CapEff:.//p /proc/self/status'"
            )
            #expect(task.output.hasSuffix("\(BoxUser.uid)\n0000000000000000\n"), "\(task)")
        }

        @Test("have all tasks in a slice of their own, where an administrator bounds them together")
        func slice() throws {
            let task = try Box.execRaw(
                "bgtaskctl", "run", "--wait", "--follow", "--", "cat", "/proc/self/cgroup")
            #expect(
                task.output.contains("0::/bgtaskd.slice/bgtask-executor.service/commands/command-"),
                "\(task)")
        }

        @Test("start a daemon that was killed again and again, however often")
        func restarts() throws {
            try Installation.succeed(Box.execRaw("bgtaskctl", "run", "--wait", "--", "true"))
            for _ in 0..<7 {
                let killed = try Installation.property("MainPID")
                try Installation.succeed(
                    Installation.shell(
                        """
                        kill -9 \(killed)
                        while kill -0 \(killed) 2>/dev/null; do sleep 0.05; done
                        exec bgtaskctl run --wait -- true
                        """))
            }
        }

        @Test(
            "are judged by systemd-analyze security",
            arguments: ["bgtaskd.service", "bgtask-executor.service"])
        func security(unit: String) throws {
            let judged = try Box.execRaw("systemd-analyze", "security", "--no-pager", unit)
            #expect(judged.status == 0)
            #expect(judged.output.contains("Overall exposure level for \(unit): "))
        }

        @Test("have a rule for needrestart, which leaves the one alone whose restart ends commands")
        func needrestart() throws {
            let ask = """
                our %nrconf; defined(do $ARGV[0]) or exit 1; my $rules = $nrconf{override_rc};
                for my $unit ("bgtask-executor.service", "bgtaskd.service") {
                    print "$unit $$rules{$_}\n" for grep { $unit =~ /$_/ } keys %$rules;
                }
                """
            let said = try Box.execRaw(
                "perl", "-e", ask, "/etc/needrestart/conf.d/bgtask-executor.conf")
            #expect(said.output == "bgtask-executor.service 0\n", "\(said)")
        }

        /// What a process has of the things that it cannot get rid of, but for the filter that takes away what
        /// no kernel of today has.
        private static let inherited = """
            grep -E '^(NoNewPrivs|Cap.*):' /proc/self/status
            for space in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$space; done
            umask; ulimit -Sn; cat /proc/self/oom_score_adj
            """

        @Test("take nothing from a task that root's own programs have")
        func unrestricted() throws {
            let task = try Box.execRaw(
                "bgtaskctl", "run", "--follow", "--quiet", "--", "sh", "-c", Self.inherited)
            #expect(task.status == 0, "\(task)")
            let own = try Box.exec("sh", "-c", Self.inherited)
            #expect(own.output.contains("NoNewPrivs:\t0"), "\(own)")
            #expect(task.line == own.line)
        }
    }
}
