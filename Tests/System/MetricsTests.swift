import Testing

extension SystemTests {
    /// The timer that has the metrics written for node_exporter, off until it is wanted.
    @Suite("Metrics for node_exporter")
    struct MetricsTests {
        private static let folder = "/var/lib/prometheus/node-exporter"
        private static let file = folder + "/bgtaskd.prom"

        init() throws {
            try Installation.prepare()
            try Installation.install()
            try Installation.succeed(
                Installation.shell(
                    "rm -rf /var/lib/prometheus; mkdir -p \(Self.folder); umask 077"))
        }

        private static func measure() throws -> String {
            try Installation.succeed(Box.execRaw("systemctl", "start", "bgtaskd-metrics.service"))
            return try Box.execRaw("cat", file).output
        }

        private static func stop() throws {
            try Installation.succeed(Box.execRaw("systemctl", "stop", "bgtaskd.service"))
        }

        @Test(
            "tell all of a daemon that runs, to everybody, in a sandbox that takes nearly everything"
        )
        func measured() throws {
            try Installation.succeed(Box.execRaw("bgtaskctl", "run", "--wait", "--", "true"))
            let told = try Self.measure()
            #expect(told.contains("\nbgtaskd_up 1\n"))
            #expect(told.contains("\nbgtaskd_ended_total{outcome=\"completed\"} "))
            #expect(told.contains("\nbgtaskd_store_commit_seconds_bucket{le=\"+Inf\"} "))
            let files = try Installation.shell("ls -A \(Self.folder); stat -c '%a %U' \(Self.file)")
            #expect(files.line == "bgtaskd.prom\n644 root")
            let judged = try Box.execRaw(
                "systemd-analyze", "security", "--no-pager", "--threshold=15",
                "bgtaskd-metrics.service")
            #expect(judged.status == 0, "\(judged.output.suffix(120))")
        }

        @Test("say of a daemon that was stopped that it does not run, and do not start it")
        func stopped() throws {
            try Installation.succeed(Box.execRaw("bgtaskctl", "stats"))
            #expect(try Self.measure().contains("\nbgtaskd_up 1\n"))
            try Self.stop()
            #expect(try Self.measure().hasSuffix("\nbgtaskd_up 0\n"))
            #expect(try Installation.property("ActiveState") == "inactive")
            let asked = try Box.execRaw("bgtaskctl", "--system", "stats", "--no-start")
            #expect(asked.status == 69)
            #expect(asked.errors == "bgtaskctl: the daemon does not run\n")
        }

        @Test(
            "are not written where the owner of a folder on the way has put a link, and why is in the journal"
        )
        func strangersLink() throws {
            // As Debian has it: the folder is root's, and the one above it is not.
            let user = BoxUser.name
            try Installation.succeed(
                Installation.shell(
                    """
                    id \(user) >/dev/null 2>&1 || useradd --uid \(BoxUser.uid) --shell /bin/sh \(user)
                    chown \(user) /var/lib/prometheus; mkdir -p /etc/logrotate.d
                    """))
            #expect(try Self.measure().contains("\nbgtaskd_"))
            try Installation.succeed(
                Installation.shell(
                    """
                    cd /var/lib/prometheus && setpriv --reuid=\(BoxUser.uid) --clear-groups \
                        sh -c 'mv node-exporter x && ln -s /etc/logrotate.d node-exporter'
                    """))
            try Box.forgetJournal()
            let run = try Box.execRaw("systemctl", "start", "bgtaskd-metrics.service")
            #expect(run.status != 0)
            let journal = try Installation.shell(
                "journalctl --sync; journalctl -o cat -u bgtaskd-metrics.service")
            #expect(
                journal.output.contains("node-exporter is a link of user \(BoxUser.uid)"),
                "\(journal)")
            try Installation.succeed(Installation.shell("touch /etc/logrotate.d/bgtaskd.prom"))
            try Installation.succeed(Installation.make("uninstall"))
            let left = try Installation.shell(
                "cd /etc/logrotate.d && stat -c %s bgtaskd.prom && rm bgtaskd.prom")
            #expect(left.line == "0")
        }

        @Test("are not written where node_exporter has no folder, and nothing fails there")
        func withoutFolder() throws {
            _ = try Installation.shell("rm -r /var/lib/prometheus")
            try Installation.succeed(Box.execRaw("systemctl", "start", "bgtaskd-metrics.service"))
            #expect(
                try Installation.property("ConditionResult", of: "bgtaskd-metrics.service") == "no")
        }

        @Test("are off until they are wanted, and gone when bgtaskd is removed")
        func timer() throws {
            let timer = "bgtaskd-metrics.timer"
            #expect(try Box.execRaw("systemctl", "is-enabled", timer).line == "disabled")
            try Installation.succeed(Box.execRaw("systemctl", "enable", "--quiet", "--now", timer))
            #expect(try Box.execRaw("systemctl", "is-active", timer).line == "active")
            #expect(
                try Installation.property("Triggers", of: timer) == "bgtaskd-metrics.service")
            _ = try Self.measure()
            try Installation.succeed(Installation.make("uninstall"))
            #expect(try Box.execRaw("systemctl", "is-active", timer).line == "inactive")
            #expect(try Installation.shell("ls -A \(Self.folder)").output.isEmpty)
            let links = try Installation.shell("find /etc/systemd -name 'bgtaskd-metrics*'")
            #expect(links.output.isEmpty)
        }
    }
}
