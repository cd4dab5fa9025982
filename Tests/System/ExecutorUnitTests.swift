import Foundation
import TestKit
import Testing

extension SystemTests {
    /// bgtask-executor under systemd, before any daemon has called it.
    @Suite("bgtask-executor as a service")
    struct ExecutorUnitTests {
        private static let name = "bgtask-executor.service"
        private static let folder = "/sys/fs/cgroup/bgtaskd.slice/\(name)"

        init() throws {
            try InstalledUnits.remove()
            try InstalledUnits.start()
        }

        private func property(_ property: String, of unit: String = name) throws -> String {
            try Installation.property(property, of: unit)
        }

        private func start() throws {
            try Installation.succeed(Box.execRaw("systemctl", "start", Self.name))
        }

        @Test("is ready when it says so, and tells its state")
        func ready() throws {
            try start()
            #expect(try property("ActiveState") == "active")
            #expect(try property("SubState") == "running")
            #expect(try property("Type") == "notify")
            #expect(try property("NotifyAccess") == "main")
            #expect(try property("StatusText") != "")
        }

        @Test("has a group that is delegated, itself in a leaf of it and the commands beside that")
        func delegation() throws {
            try start()
            #expect(try property("Delegate") == "yes")
            let process = try property("MainPID")
            let group = try Box.execRaw("sed", "-n", "s/^0:://p", "/proc/\(process)/cgroup")
            #expect(group.line == "/bgtaskd.slice/\(Self.name)/executor")
            #expect(try Box.execRaw("test", "-d", "\(Self.folder)/commands").status == 0)
            #expect(try Box.execRaw("cat", "\(Self.folder)/cgroup.procs").output.isEmpty)
        }

        @Test("is stopped with a grace, killed last, and started again where it has failed")
        func settings() throws {
            // Before that its watchdog is off.
            try start()
            let expected = [
                "KillMode": "process", "TimeoutStopUSec": "30s", "WatchdogUSec": "30s",
                "Restart": "on-failure", "StartLimitIntervalUSec": "0",
                "OOMPolicy": "continue", "OOMScoreAdjust": "-900", "Slice": "bgtaskd.slice",
                "LimitNOFILE": "524288", "LimitNOFILESoft": "524288",
            ]
            for (name, value) in expected { #expect(try property(name) == value, "\(name)") }
            #expect(try property("TasksMax") != "infinity")
            // It is to end later than the daemon, which is to end later than commands.
            #expect(try property("OOMScoreAdjust", of: Service.name) == "-500")
        }

        @Test("and bgtaskd.service leave each other alone, whatever becomes of one of them")
        func ties() throws {
            #expect(try property("Wants", of: Service.name).contains(Self.name))
            let after = try property("After", of: Service.name).split(separator: " ")
            #expect(after.contains("bgtask-executor.service"))
            #expect(after.contains("bgtask-executor.socket"))
            let tight = [
                "Requires", "Requisite", "BindsTo", "PartOf", "Upholds", "Conflicts",
                "RequiredBy", "BoundBy", "ConsistsOf", "PropagatesStopTo", "StopPropagatedFrom",
                "PropagatesReloadTo", "JoinsNamespaceOf",
            ]
            for tie in tight {
                #expect(!(try property(tie, of: Service.name).contains("executor")), "\(tie)")
                let tied = try property(tie)
                #expect(!tied.contains("bgtaskd.service"), "\(tie)")
                #expect(!tied.contains("bgtaskd.socket"), "\(tie)")
            }
        }

        /// The daemon takes a process for confined that has less than itself.
        @Test("takes nothing from commands that bgtaskd.service does not take from applications")
        func filter() throws {
            for name in ["SystemCallFilter", "KeyringMode", "NoNewPrivileges", "UMask"] {
                #expect(try property(name) == property(name, of: Service.name), "\(name)")
            }
            #expect(
                try property("CapabilityBoundingSet")
                    == property("CapabilityBoundingSet", of: Service.name))
        }

        @Test("has a folder for its state and a socket that are root's alone")
        func files() throws {
            try start()
            let modes = try Installation.shell(
                "stat -c '%a %U' /var/lib/bgtask-executor /run/bgtask-executor /run/bgtask-executor/socket"
            )
            #expect(modes.line == "700 root\n700 root\n600 root", "\(modes)")
        }

        @Test("is started by the first call at its socket, and again after it has ended in order")
        func socket() throws {
            try Installation.succeed(
                Box.execRaw("systemctl", "start", "bgtask-executor.socket"))
            for _ in 0..<2 {
                #expect(try property("ActiveState") == "inactive")
                try Installation.succeed(
                    Installation.shell(
                        "socat -u /dev/null UNIX-CONNECT:/run/bgtask-executor/socket,type=5"))
                try Box.wait(
                    for: "active", from: "systemctl", "show", "-P", "ActiveState", Self.name)
                let process = try property("MainPID")
                try Installation.succeed(Box.execRaw("kill", process))
                try Box.wait(
                    for: "inactive", from: "systemctl", "show", "-P", "ActiveState", Self.name)
                #expect(try property("Result") == "success")
            }
            try Installation.succeed(Box.execRaw("systemctl", "stop", "bgtask-executor.socket"))
            #expect(try Box.execRaw("test", "-e", "/run/bgtask-executor/socket").status == 1)
        }

        @Test("is started again where it was killed, and where it hangs")
        func faults() throws {
            try InstalledUnits.start(executorDropIn: "[Service]\nWatchdogSec=10s\n")
            try start()
            try Installation.succeed(Box.execRaw("kill", "-KILL", property("MainPID")))
            try waitForRestart(1)
            try Installation.succeed(Box.execRaw("kill", "-STOP", property("MainPID")))
            try waitForRestart(2)
            #expect(try property("WatchdogUSec") == "10s")
        }

        @Test("is not ended for standing still while a command lives, and is when none does")
        func stall() throws {
            typealias Stage = OutlivingStage
            try Stage.begin(executorDropIn: "[Service]\nWatchdogSec=3s\n")
            let task = try Stage.run()
            try waitForWatchdog("0")
            let process = try property("MainPID")
            try Installation.succeed(Box.execRaw("kill", "-STOP", process))
            // What begins to be watched now, as long, is ended before this test goes on.
            try Installation.succeed(
                Installation.shell(
                    """
                    systemd-run --quiet --unit=witness -p WatchdogSec=3s -p TimeoutAbortSec=1s sleep 1000
                    until [ "$(systemctl show -P Result witness)" = watchdog ]; do sleep 0.05; done
                    systemctl reset-failed witness
                    """))
            #expect(try property("MainPID") == process)
            #expect(try Stage.isAlive())
            try Installation.succeed(Box.execRaw("kill", "-CONT", process))
            try Stage.letGo(task)
            try waitForWatchdog("3s")
            try Installation.succeed(Box.execRaw("kill", "-STOP", process))
            try waitForRestart(1)
        }

        private func waitForWatchdog(_ time: String) throws {
            try Box.wait(for: time, from: "systemctl", "show", "-P", "WatchdogUSec", Self.name)
        }

        private func waitForRestart(_ count: Int) throws {
            try Box.wait(
                for: "\(count)", from: "systemctl", "show", "-P", "NRestarts", Self.name)
            try Box.wait(
                for: "active", from: "systemctl", "show", "-P", "ActiveState", Self.name)
        }

        @Test("of a user is in the user's manager, with its state beside its socket")
        func user() throws {
            defer { try? BoxUser.stop() }
            try BoxUser.linger()
            try InstalledUnits.put(.user)
            let shown = try BoxUser.shell(
                """
                systemctl --user daemon-reload && systemctl --user start \(Self.name) &&
                systemctl --user show -P ActiveState \(Self.name) &&
                sed -n s/^0:://p /proc/$(systemctl --user show -P MainPID \(Self.name))/cgroup &&
                cd $XDG_RUNTIME_DIR/bgtask-executor && stat -c '%a %U' . socket
                """)
            let manager = "/user.slice/user-\(BoxUser.uid).slice/user@\(BoxUser.uid).service"
            #expect(
                shown.line == """
                    active
                    \(manager)/app.slice/\(Self.name)/executor
                    700 \(BoxUser.name)
                    600 \(BoxUser.name)
                    """, "\(shown)")
        }
    }
}
