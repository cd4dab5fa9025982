import Foundation
import TestKit
import Testing

extension SystemTests {
    /// From the built programs to a service, and back to nothing.
    @Suite("make install")
    struct InstallTests {
        /// Each test begins with a box that never saw bgtaskd, and programs that are built.
        init() throws {
            try Installation.prepare()
        }

        @Test("says what is not built, and changes nothing")
        func unbuilt() throws {
            let before = try Installation.listing()
            let made = try Installation.make("install BUILD=/root/nothing")
            #expect(made.status != 0)
            #expect(made.errors.contains("/root/nothing/bgtaskd is not built; run `make build`"))
            #expect(try Installation.listing() == before)
        }

        @Test("does not take the socket from a daemon that somebody started by hand")
        func startedByHand() throws {
            try Installation.succeed(
                Box.execRaw(
                    "systemd-run", "--quiet", "--unit=by-hand", "--property=Type=notify",
                    "--property=Delegate=yes", "\(Programs.path("bgtaskd"))", "--system"))
            let made = try Installation.make("install")
            #expect(made.status != 0)
            #expect(made.errors.contains("a bgtaskd that systemd did not start is running"))
            #expect(try Box.execRaw("test", "-e", "/usr/local/bin/bgtaskd").status == 1)
            try Installation.succeed(Box.execRaw("systemctl", "stop", "by-hand"))
            try Installation.install()
        }

        @Test("fills a folder with exactly what `make files` lists")
        func folder() throws {
            let before = try Installation.listing()
            try Installation.succeed(Installation.make("install DESTDIR=/root/stage"))
            let found = try Installation.shell("find /root/stage ! -type d | sort").line
            #expect(
                try Installation.make("files DESTDIR=/root/stage | sort").line == found)
            for file in [
                "usr/local/bin/bgtaskctl", "etc/bgtaskd/bgtaskd.toml",
                "usr/local/share/bgtaskd/org.bgtaskd.Tasks.varlink",
            ] {
                #expect(found.contains("/root/stage/\(file)"))
            }
            let modes = try Installation.shell("find /root/stage -printf '%m %y\\n' | sort -u").line
            #expect(modes == "644 f\n755 d\n755 f")

            try Installation.succeed(Installation.make("uninstall DESTDIR=/root/stage"))
            #expect(try Installation.shell("find /root/stage ! -type d").output.isEmpty)
            _ = try Installation.shell("rm -r /root/stage")
            #expect(try Installation.listing() == before)
        }

        @Test("makes units for the programs' place and for the version of systemd")
        func units() throws {
            let make = "install PREFIX=/usr DESTDIR=/root/stage SYSTEMD_VERSION"
            let unit = "/root/stage/usr/lib/systemd/user/bgtaskd.service"
            defer { _ = try? Installation.shell("rm -r /root/stage") }

            try Installation.succeed(Installation.make("\(make)=252"))
            let older = try Installation.shell("grep -E '^(Type|Exec)' \(unit)").line
            #expect(
                older == """
                    Type=notify
                    ExecStart=/usr/bin/bgtaskd --user --executor %t/bgtask-executor/socket
                    ExecReload=/usr/bin/bgtaskctl --user reload
                    """)

            let backtracer = "swift-backtrace=/usr/libexec/bgtaskd/swift-backtrace"
            #expect(try Installation.shell("grep -c \(backtracer)$ \(unit)").line == "1")

            try Installation.succeed(Installation.make("\(make)=253"))
            let newer = try Installation.shell("grep -E '^(Type|Exec)' \(unit)").line
            #expect(
                newer == """
                    Type=notify-reload
                    ExecStart=/usr/bin/bgtaskd --user --executor %t/bgtask-executor/socket
                    ExecReload=/usr/bin/bgtaskd --user --check-config --quiet
                    """)
            // What has no reload keeps its type, or systemd would send it SIGHUP.
            let executor = try Installation.shell(
                "grep -hE '^(Type|Exec)' /root/stage/usr/lib/systemd/*/bgtask-executor.service")
            #expect(
                executor.line == """
                    Type=notify
                    ExecStart=/usr/libexec/bgtaskd/bgtask-executor - - 60
                    ExecStopPost=-/usr/libexec/bgtaskd/bgtask-executor --kill
                    Type=notify
                    ExecStart=/usr/libexec/bgtaskd/bgtask-executor - %t/bgtask-executor 60
                    ExecStopPost=-/usr/libexec/bgtaskd/bgtask-executor --kill
                    """)
        }

        @Test("listens, and the first call starts the daemon")
        func firstCall() throws {
            try Installation.install()
            #expect(try Installation.property("ActiveState", of: "bgtaskd.socket") == "active")
            #expect(try Installation.property("ActiveState") == "inactive")
            for unit in ["bgtaskd.socket", "bgtaskd.service"] {
                #expect(try Box.execRaw("systemctl", "is-enabled", unit).line == "enabled")
            }
            #expect(try Installation.shell("bgtaskctl run --wait -- sh -c 'exit 7'").status == 7)
            #expect(try Box.execRaw("systemctl", "is-active", "bgtaskd").line == "active")
            try Box.wait(
                for: "1", from: "sh", "-c",
                #"systemctl status bgtaskd | grep -c 'Status: "0 running, 0 queued"'"#)
            #expect(
                try Installation.shell("stat -c '%a %U' /var/lib/bgtaskd").line == "700 root")
        }

        @Test("leaves no caller waiting where the daemon does not start, and says what to do then")
        func failedStart() throws {
            try Installation.install()
            _ = try Installation.shell("echo 'slotz = 1' >>/etc/bgtaskd/bgtaskd.toml")
            let first = try Box.execRaw("bgtaskctl", "run", "--wait", "--", "true")
            #expect(first.status == 125)
            #expect(first.errors.contains("closed the connection; its journal says why"))
            let second = try Box.execRaw("bgtaskctl", "run", "--wait", "--", "true")
            #expect(second.errors == first.errors)
            try Box.wait(for: "failed", from: "systemctl", "is-active", "bgtaskd.service")

            try Installation.succeed(
                Installation.shell("sed -i '$d' /etc/bgtaskd/bgtaskd.toml"))
            #expect(try Box.execRaw("bgtaskctl", "run", "--wait", "--", "true").status == 0)
        }

        @Test("is there at the next boot where systemd does not run yet, and leaves nothing there")
        func offline() throws {
            let before = try Installation.listing()
            let offline = "unshare --mount sh -c 'mount -t tmpfs none /run && exec \"$@\"' sh"
            let made = try Installation.make("install", within: offline)
            try Installation.succeed(made)
            #expect(made.output.hasSuffix("systemd is not running here, so nothing was started\n"))
            for unit in ["bgtaskd.socket", "bgtaskd.service"] {
                #expect(try Box.execRaw("systemctl", "is-enabled", unit).line == "enabled")
            }
            #expect(
                try Box.execRaw("systemctl", "--global", "is-enabled", "bgtaskd.socket").line
                    == "disabled")
            try Installation.succeed(Installation.make("uninstall", within: offline))
            let after = try Installation.listing()
            #expect(after.subtracting(before).sorted() == [])
            #expect(before.subtracting(after).sorted() == [])
        }

        @Test("is found by its interfaces' names in Varlink's registry")
        func registry() throws {
            try Installation.install()
            for interface in ["Tasks", "Applications", "Manager"] {
                let link = "/run/varlink/registry/org.bgtaskd.\(interface)"
                #expect(
                    try Box.execRaw("readlink", "-f", link).line == "/run/bgtaskd/org.bgtaskd")
                #expect(
                    try Box.execRaw("bgtaskctl", "--socket", link, "status").status == 0)
            }
        }

        @Test("teaches bash the verbs")
        func completion() throws {
            try Installation.install()
            let completed = try Box.execRaw(
                "bash", "-c",
                """
                . /usr/local/share/bash-completion/completions/bgtaskctl
                COMP_WORDS=(bgtaskctl re) COMP_CWORD=1 COMP_LINE='bgtaskctl re' COMP_POINT=12
                _bgtaskctl bgtaskctl re bgtaskctl
                echo "${COMPREPLY[@]}"
                """)
            #expect(completed.line == "restart remaining report resume reload", "\(completed)")
        }

        private func explained() throws -> String {
            try Installation.shell("journalctl --list-catalog | grep -c ' bgtaskd: '").line
        }

        @Test("teaches the journal what the daemon's entries mean, until it is undone")
        func catalog() throws {
            // What the tests of the catalog itself have put there.
            _ = try Installation.shell(
                "rm -f /usr/lib/systemd/catalog/bgtaskd.catalog; journalctl --update-catalog")
            #expect(try explained() == "0")
            try Installation.install()
            let texts = try Installation.shell(
                "grep -c '^-- ' '\(Box.project.path)/systemd/bgtaskd.catalog'")
            #expect(try explained() == texts.line)
            try Installation.succeed(Installation.make("uninstall"))
            #expect(try explained() == "0")
        }

        @Test("leaves nothing when it is undone, whatever ran, failed and was set")
        func uninstall() throws {
            let before = try Installation.listing()
            try Installation.install()
            let stubborn = "sh -c 'trap \"\" TERM; setsid sleep 7000 & sleep 7000'"
            try Installation.succeed(
                Installation.shell(
                    """
                    mkdir -p /etc/systemd/system/bgtaskd.service.d /etc/bgtaskd/bgtaskd.toml.d
                    printf '[Service]\\nNice=1\\n' >/etc/systemd/system/bgtaskd.service.d/own.conf
                    printf '[queue]\\nslots = 2\\n' >/etc/bgtaskd/bgtaskd.toml.d/own.toml
                    systemctl daemon-reload
                    bgtaskctl run --budget 60s --grace 1s -- \(stubborn)
                    """))
            try Box.wait(for: "2", from: "sh", "-c", "pgrep -fc '^sleep 7000'")
            #expect(try Installation.listing().subtracting(before).count > 20)

            try Installation.succeed(Installation.make("uninstall"))
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 7000").status == 1)
            #expect(try Box.execRaw("pgrep", "^bgtask").status == 1)
            let after = try Installation.listing()
            #expect(after.subtracting(before).sorted() == [])
            #expect(before.subtracting(after).sorted() == [])
            let units = try Installation.shell(
                "systemctl list-units --all --no-legend 'bgtask*'; find /sys/fs/cgroup -name 'bgtask*'"
            )
            #expect(units.output.isEmpty, "\(units)")
            #expect(try Installation.make("uninstall").status == 0)
        }

        /// A user may trace the programs of root's that run as the user. One of them that has root's terminal
        /// can be made to type into root's shell.
        @Test(
            "has nothing of root's terminal in what it runs as a user",
            arguments: ["install", "uninstall"])
        func terminal(verb: String) throws {
            try BoxUser.linger()
            defer { try? BoxUser.stop() }
            try Installation.install()
            let runtime = "/run/user/\(BoxUser.uid)/systemd"
            // A manager that is deaf holds systemctl up for as long as it likes.
            let deaf = """
                import os, socket, time
                os.rename('\(runtime)/private', '\(runtime)/private.own')
                deaf = socket.socket(socket.AF_UNIX)
                deaf.bind('\(runtime)/private')
                deaf.listen(64)
                open('\(runtime)/deaf', 'w').close()
                while os.path.exists('\(runtime)/deaf'): time.sleep(0.02)
                deaf.close()
                os.rename('\(runtime)/private.own', '\(runtime)/private')
                """
            let make =
                "make --silent -C '\(Box.project.path)' BUILD=\(Installation.programs) \(verb)"
            let seen = try Installation.shell(
                """
                setpriv --reuid=\(BoxUser.uid) --regid=\(BoxUser.uid) --clear-groups \
                    python3 -c "\(deaf)" &
                deaf=$!
                until [ -e \(runtime)/deaf ]; do sleep 0.05; done
                script -qec "\(make)" /root/typescript </dev/null >/dev/null 2>&1 & made=$!
                until asking=$(pgrep -o -u \(BoxUser.uid) -x systemctl); do sleep 0.05; done
                echo "terminal $(cut -d' ' -f7 /proc/$asking/stat)"
                find /proc/$asking/fd \\( -lname '/dev/pts/*' -o -lname '/dev/tty*' \\) -printf '%p %l\n'
                rm \(runtime)/deaf
                wait $deaf $made
                rm -f /root/typescript
                """)
            #expect(seen.output == "terminal 0\n", "\(seen)")
        }

        @Test("keeps the settings and the state where it is asked to")
        func keep() throws {
            try Installation.install()
            try Installation.succeed(
                Installation.shell(
                    "echo '# own' >>/etc/bgtaskd/bgtaskd.toml; bgtaskctl run --wait -- true"))
            try Installation.succeed(Installation.make("uninstall KEEP=yes"))
            #expect(try Box.execRaw("tail", "-n1", "/etc/bgtaskd/bgtaskd.toml").line == "# own")
            #expect(try Box.execRaw("ls", "/var/lib/bgtaskd").output != "")
            #expect(try Box.execRaw("test", "-e", "/usr/local/bin/bgtaskd").status == 1)
            try Installation.install()
            #expect(try Box.execRaw("tail", "-n1", "/etc/bgtaskd/bgtaskd.toml").line == "# own")
            // The ids go on.
            #expect(try Box.execRaw("bgtaskctl", "run", "--", "true").line == "2")
        }
    }
}
