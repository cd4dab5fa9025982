import Foundation
import Testing

extension SystemTests {
    /// `make install` over a version that is there.
    @Suite("make install over an earlier version")
    struct UpgradeTests {
        init() throws {
            try Installation.prepare()
            try Installation.install()
        }

        private func isNew() throws -> Bool {
            let compared = try Installation.shell(
                """
                cmp /usr/local/bin/bgtaskd \(Installation.programs)/bgtaskd &&
                cmp "/proc/$(systemctl show -P MainPID bgtaskd)/exe" \(Installation.programs)/bgtaskd
                """)
            return compared.status == 0
        }

        @Test("leaves commands alone, gives held tasks their grace, and the new daemon goes on")
        func runningTasks() throws {
            try Installation.succeed(
                Installation.shell(
                    """
                    bgtaskctl run --name polite --budget 600s --grace 2s -- sleep 7001
                    bgtaskctl run --name stubborn --budget 600s --grace 2s -- \
                        sh -c 'trap "" TERM; sleep 7002; sleep 7003'
                    systemd-run --quiet --collect --unit=holder \
                        bgtaskctl hold --name held --budget 600s --grace 2s -- sleep 7004
                    """))
            try Box.wait(for: "3", from: "sh", "-c", "pgrep -fc '^sleep 700[124]'")
            let processes = try Box.execRaw("pgrep", "-f", "^sleep 700[12]").output
            _ = try Installation.shell("echo '# own' >>/etc/bgtaskd/bgtaskd.toml")
            let run = "_SYSTEMD_INVOCATION_ID=\(try Installation.property("InvocationID"))"
            try Installation.makeNewVersion()
            #expect(try !isNew())
            let made = try Installation.make("install")
            try Installation.succeed(made)

            #expect(try isNew())
            #expect(made.output.contains("kept /etc/bgtaskd/bgtaskd.toml"))
            #expect(try Box.execRaw("tail", "-n1", "/etc/bgtaskd/bgtaskd.toml").line == "# own")
            // What held a task stops its command once it knows of the end.
            try Box.wait(for: "0", from: "sh", "-c", "pgrep -fc '^sleep 7004'")
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 700").output == processes)
            #expect(try Installation.property("NRestarts") == "0")
            try Box.wait(
                for: "1", from: "sh", "-c",
                "journalctl --sync; journalctl -o json \(run) BGTASK_ID=3 BGTASK_OUTCOME=interrupted | wc -l"
            )
            // The new daemon has them in its hands.
            _ = try Box.execRaw("bgtaskctl", "cancel", "1", "2")
            _ = try Box.execRaw("bgtaskctl", "wait", "1", "2")
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 700").status == 1)
            #expect(try Box.execRaw("bgtaskctl", "run", "--wait", "--", "true").line == "4")
        }

        @Test("starts nothing that did not run")
        func idle() throws {
            try Installation.install()
            #expect(try Installation.property("ActiveState") == "inactive")
            #expect(try Installation.property("ActiveState", of: "bgtaskd.socket") == "active")
        }

        @Test("changes nothing where the new daemon refuses the settings")
        func refusedSettings() throws {
            let first = try Box.execRaw("bgtaskctl", "run", "--wait", "--", "true")
            try Installation.succeed(first)
            let process = try Installation.property("MainPID")
            _ = try Installation.shell("echo 'slotz = 1' >>/etc/bgtaskd/bgtaskd.toml")
            try Installation.makeNewVersion()
            let made = try Installation.make("install")
            #expect(made.status != 0)
            #expect(made.errors.contains("slotz: unknown key"))
            #expect(made.errors.contains("nothing was changed"))
            #expect(try !isNew())
            #expect(try Installation.property("MainPID") == process)
        }

        @Test("is not held up by settings that demand control groups, which its own shell has not")
        func demandedGroups() throws {
            let settings = "[daemon]\\ncontainment = \"cgroup\"\\n"
            try Installation.succeed(
                Installation.shell(
                    """
                    mkdir /etc/bgtaskd/bgtaskd.toml.d
                    printf '\(settings)' >/etc/bgtaskd/bgtaskd.toml.d/own.toml
                    bgtaskctl run --wait -- true
                    """))
            let checked = try Box.execRaw("bgtaskd", "--system", "--check-config")
            #expect(checked.status == 0, "\(checked)")
            #expect(checked.output.contains("not from here: "), "\(checked)")
            // As the reload of newer versions of systemd, in a group beside the daemon's.
            let control = try Box.exec("/usr/local/bin/bgtaskd", "--system", "--check-config")
            #expect(control.status == 0, "\(control)")
            try Installation.makeNewVersion()
            try Installation.install()
            #expect(try isNew())
        }

        @Test("leaves a socket disabled that its operator has disabled")
        func disabled() throws {
            try Installation.succeed(
                Box.execRaw("systemctl", "--quiet", "disable", "--now", "bgtaskd.socket"))
            try Installation.install()
            #expect(try Box.execRaw("systemctl", "is-enabled", "bgtaskd.socket").line == "disabled")
            #expect(try Installation.property("ActiveState", of: "bgtaskd.socket") == "inactive")
        }
    }
}
