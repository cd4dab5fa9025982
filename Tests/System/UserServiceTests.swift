import Foundation
import Testing

extension SystemTests {
    /// The daemon of an ordinary user, in the user's own manager.
    @Suite("bgtaskd as a user's service")
    struct UserServiceTests {
        /// Each test begins with a manager that has just listened at the socket.
        init() throws {
            try Installation.prepare()
            try BoxUser.linger()
            try Installation.install()
            try Installation.succeed(
                BoxUser.shell("systemctl --user --quiet enable --now bgtaskd.socket"))
        }

        private func property(_ name: String) throws -> String {
            try BoxUser.shell("systemctl --user show -P \(name) bgtaskd.service").line
        }

        @Test("is started by the first call, once its user has enabled it")
        func firstCall() throws {
            defer { try? BoxUser.stop() }
            #expect(
                try BoxUser.shell("systemctl --user is-active bgtaskd.socket").line == "active")
            #expect(try property("ActiveState") == "inactive")
            #expect(try BoxUser.shell("bgtaskctl --user run --wait -- sh -c 'exit 7'").status == 7)
            #expect(try property("ActiveState") == "active")
            try Box.wait(
                for: "0 running, 0 queued", from: "setpriv", "--reuid=\(BoxUser.uid)",
                "--clear-groups", "--regid=\(BoxUser.uid)", "env",
                "XDG_RUNTIME_DIR=/run/user/\(BoxUser.uid)", "systemctl", "--user", "show", "-P",
                "StatusText", "bgtaskd.service")
            let modes = try BoxUser.shell(
                "cd $XDG_RUNTIME_DIR/bgtaskd && stat -c '%a %U' . org.bgtaskd ~/.local/state/bgtaskd"
            )
            #expect(
                modes.line == "700 bgtask-user\n600 bgtask-user\n700 bgtask-user", "\(modes)")
            #expect(
                try BoxUser.shell(
                    "bgtaskctl --socket $XDG_RUNTIME_DIR/varlink/registry/org.bgtaskd.Tasks status"
                ).status == 0)
        }

        @Test("listens in managers that start later")
        func laterManager() throws {
            defer { try? BoxUser.stop() }
            try Installation.succeed(
                Installation.shell("systemctl restart user@\(BoxUser.uid).service"))
            #expect(try BoxUser.shell("bgtaskctl --user run --wait -- sh -c 'exit 7'").status == 7)
        }

        @Test("leaves its socket to a daemon that the user has started by hand")
        func startedByHand() throws {
            defer { try? BoxUser.stop() }
            try Installation.succeed(
                BoxUser.shell(
                    """
                    systemctl --user stop bgtaskd.socket && systemd-run --user --quiet --unit=by-hand \
                        --property=Type=notify --property=Delegate=yes /usr/local/bin/bgtaskd --user
                    """))
            let made = try Installation.make("install")
            #expect(made.status == 0, "\(made)")
            #expect(made.output.contains("user 4243 has started a bgtaskd by hand"), "\(made)")
            #expect(
                try BoxUser.shell("systemctl --user is-active bgtaskd.socket").line == "inactive")
            #expect(try BoxUser.shell("bgtaskctl --user run --wait -- sh -c 'exit 7'").status == 7)
            #expect(try BoxUser.shell("systemctl --user is-active by-hand").line == "active")
        }

        @Test("keeps each task in a control group of the user's, without any login")
        func controlGroups() throws {
            defer { try? BoxUser.stop() }
            let group = try BoxUser.shell(
                "bgtaskctl --user run --follow -- sh -c 'id -un; cat /proc/self/cgroup'")
            let manager = "/user.slice/user-\(BoxUser.uid).slice/user@\(BoxUser.uid).service/"
            #expect(
                group.output.contains(
                    manager + "app.slice/bgtask-executor.service/commands/command-"), "\(group)")
            #expect(group.output.contains("\(BoxUser.name)\n"), "\(group)")
            #expect(
                try BoxUser.shell("bgtaskctl --user status --json").output
                    .contains(#""containment":"cgroup""#))
            let sessions = try Box.execRaw("loginctl", "list-sessions", "--no-legend")
            #expect(!sessions.output.contains(BoxUser.name))
        }

        @Test("tells its tasks' story in the journal")
        func journal() throws {
            defer { try? BoxUser.stop() }
            let id = try BoxUser.shell("bgtaskctl --user run -- sh -c 'echo from the task; exit 3'")
                .line
            #expect(try BoxUser.shell("bgtaskctl --user wait \(id)").status == 3)
            let run = "_SYSTEMD_INVOCATION_ID=\(try property("InvocationID"))"
            let unit = "_SYSTEMD_USER_UNIT=bgtaskd.service \(run) BGTASK_ID=\(id)"
            try Box.wait(
                for: "1", from: "sh", "-c",
                "journalctl --sync; journalctl -o json \(unit) BGTASK_OUTCOME=failed | wc -l")
            #expect(
                try Installation.shell("journalctl -o cat \(unit)").output.contains("from the task")
            )
        }

        @Test("takes good settings at a reload, and says what is wrong with bad ones")
        func reload() throws {
            defer { try? BoxUser.stop() }
            try Installation.succeed(
                BoxUser.shell("bgtaskctl --user run --wait -- true; mkdir -p ~/.config/bgtaskd"))
            let write = "echo 'slots = %' | sed '1i [queue]' >~/.config/bgtaskd/bgtaskd.toml"
            let good = write.replacingOccurrences(of: "%", with: "2")
            let reload = "systemctl --user reload bgtaskd.service"
            #expect(try BoxUser.shell("\(good) && \(reload)").status == 0)
            let bad = write.replacingOccurrences(of: "%", with: "0")
            #expect(try BoxUser.shell("\(bad) && \(reload)").status != 0)
            try Box.wait(
                for: "1", from: "sh", "-c",
                "journalctl --sync; journalctl _UID=\(BoxUser.uid) -o cat | grep -c '^bgtaskctl: .*queue.slots'"
            )
            #expect(try property("ActiveState") == "active")
        }

        @Test("ends with the user's manager, and nothing is left")
        func end() throws {
            let stubborn = "sh -c 'trap \"\" TERM; setsid sleep 7000 & sleep 7000'"
            try Installation.succeed(
                BoxUser.shell("bgtaskctl --user run --budget 60s --grace 1s -- \(stubborn)"))
            try Box.wait(for: "2", from: "sh", "-c", "pgrep -fc '^sleep 7000'")
            let run = "_SYSTEMD_INVOCATION_ID=\(try property("InvocationID"))"
            try BoxUser.stop()
            #expect(try Box.execRaw("pgrep", "-u", "\(BoxUser.uid)").status == 1)
            try Box.wait(
                for: "1", from: "sh", "-c",
                "journalctl --sync; journalctl -o json \(run) BGTASK_OUTCOME=interrupted | wc -l"
            )
        }

        @Test("is restarted by an upgrade, and gone after the uninstallation")
        func upgrade() throws {
            defer { try? BoxUser.stop() }
            try Installation.succeed(
                BoxUser.shell("bgtaskctl --user run --budget 600s --grace 1s -- sleep 7001"))
            let process = try property("MainPID")
            try Installation.makeNewVersion()
            try Installation.install()
            #expect(try property("MainPID") != process)
            #expect(try property("ActiveState") == "active")
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 7001").status == 0)
            #expect(try BoxUser.shell("bgtaskctl --user list").output.contains("sleep 7001"))

            try Installation.succeed(Installation.make("uninstall"))
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 700").status == 1)
            #expect(try Box.execRaw("pgrep", "^bgtask").status == 1)
            let left = try BoxUser.shell(
                """
                systemctl --user list-units --no-legend 'bgtask*'
                ls -d $XDG_RUNTIME_DIR/bgtask* $XDG_RUNTIME_DIR/varlink 2>/dev/null
                find /etc/systemd /usr/local -name '*bgtask*'
                """)
            #expect(left.output.isEmpty, "\(left)")
        }
    }
}
