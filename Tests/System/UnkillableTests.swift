import Foundation
import TestKit
import Testing

extension SystemTests {
    /// Processes that hang in the kernel, which SIGKILL does not end, and what becomes of everybody else.
    ///
    /// What systemd may wait for is made ten minutes, more than a command here is given: who waits for that fails.
    @Suite("A process that cannot be killed")
    struct UnkillableTests {
        private typealias Stage = OutlivingStage
        private static let patience = "[Service]\nTimeoutStopSec=10min\n"

        private func begin() throws {
            try Stage.begin(dropIn: Self.patience, executorDropIn: Self.patience)
        }

        /// Starts a command that hangs.
        ///
        /// - Returns: its process.
        private func hang() throws -> String {
            let run = try Service.call(
                "run --budget 600s --grace 1s -- cat \(SilentFileSystem.file)")
            try #require(run.status == 0, "\(run)")
            return try SilentFileSystem.waitForHanging()
        }

        private func expectService() throws {
            #expect(try Service.call("run --wait -- sh -c 'exit 7'").status == 7)
        }

        private func kill(_ unit: String) throws {
            try Installation.succeed(
                Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "KILL", unit))
        }

        @Test("holds up nobody after an end of what runs commands", arguments: [true, false])
        func executor(isKilled: Bool) throws {
            try SilentFileSystem.with(.read) {
                try begin()
                let process = try hang()
                let executor = try Stage.process(of: Stage.executor)
                if isKilled {
                    try kill(Stage.executor)
                } else {
                    try Installation.succeed(
                        Box.execRaw("systemctl", "restart", Stage.executor))
                }
                try expectService()
                #expect(try Stage.process(of: Stage.executor) != executor)
                #expect(try SilentFileSystem.isHanging(process))
            }
        }

        @Test("holds up nobody after an end of the daemon", arguments: [true, false])
        func daemon(isKilled: Bool) throws {
            try SilentFileSystem.with(.read) {
                try begin()
                try expectService()
                let daemon = try Stage.process(of: Service.name)
                let process = try SilentFileSystem.hang(
                    in: "/sys/fs/cgroup/bgtaskd.slice/\(Service.name)")
                try Installation.succeed(Box.execRaw("kill", "-KILL", process))
                if isKilled {
                    try kill(Service.name)
                } else {
                    try Installation.succeed(Box.execRaw("systemctl", "restart", Service.name))
                }
                try expectService()
                #expect(try Stage.process(of: Service.name) != daemon)
                #expect(try SilentFileSystem.isHanging(process))
            }
        }

        @Test("does not keep what runs commands from its end")
        func stop() throws {
            try SilentFileSystem.with(.read) {
                try begin()
                let process = try hang()
                try Installation.succeed(Box.execRaw("systemctl", "stop", Stage.executor))
                #expect(try Installation.property("Result", of: Stage.executor) == "success")
                #expect(try SilentFileSystem.isHanging(process))
            }
        }

        @Test("or can: all that is left of commands is killed, also where nothing comes after")
        func others() throws {
            let once = "[Service]\nRestart=no\n"
            try Stage.begin(dropIn: once, executorDropIn: once)
            _ = try Stage.run()
            // Nobody calls the executor, and so its socket starts no other.
            try kill(Service.name)
            try Service.wait(for: "failed", of: "ActiveState")
            #expect(try Stage.isAlive())
            try kill(Stage.executor)
            try Stage.waitForEnd()
            #expect(try Stage.process(of: Stage.executor) == "0")
        }

        @Test("or can: without --executor nothing outlives a daemon that is killed")
        func alone() throws {
            try Stage.begin(
                dropIn: """
                    [Service]
                    Restart=no
                    ExecStart=
                    ExecStart=\(Programs.path("bgtaskd")) --system
                    """)
            _ = try Stage.run()
            let group = try Installation.shell("cat /proc/$(cat \(Stage.folder)/process)/cgroup")
            #expect(group.output.contains("/\(Service.name)/"), "\(group)")
            try kill(Service.name)
            try Service.wait(for: "failed", of: "ActiveState")
            try Stage.waitForEnd()
        }

        @Test("of a user holds up nothing of that user's daemon either")
        func user() throws {
            defer { try? BoxUser.stop() }
            try Installation.prepare()
            try BoxUser.linger()
            try Installation.install()
            for unit in ["bgtaskd", "bgtask-executor"] {
                try Box.write(Self.patience, to: "/etc/systemd/user/\(unit).service.d/test.conf")
            }
            try SilentFileSystem.with(.read) {
                try Installation.succeed(
                    BoxUser.shell(
                        """
                        systemctl --user daemon-reload
                        systemctl --user --quiet enable --now bgtaskd.socket
                        bgtaskctl --user run --budget 600s --grace 1s -- cat \(SilentFileSystem.file)
                        """))
                let process = try SilentFileSystem.waitForHanging()
                for order in ["kill --kill-who=main -s KILL", "restart"] {
                    try Installation.succeed(
                        BoxUser.shell("systemctl --user \(order) bgtask-executor"))
                    let run = try BoxUser.shell("bgtaskctl --user run --wait -- sh -c 'exit 7'")
                    #expect(run.status == 7, "\(order): \(run)")
                    #expect(try SilentFileSystem.isHanging(process))
                }
            }
        }
    }
}

/// A file system in the box that does not answer (Tests/Helpers/silent-file-system).
enum SilentFileSystem {
    enum Silence: String {
        case read, flush
    }

    private static let folder = "/run/silent"
    static let file = "\(folder)/mount/file"

    /// Mounts it. What hangs in it goes on at the end.
    static func with(_ silence: Silence, _ body: () throws -> Void) throws {
        try Installation.succeed(
            Installation.shell(
                """
                [ -e /dev/fuse ] || mknod -m 666 /dev/fuse c 10 229
                mkdir -p \(folder)/mount && : >\(folder)/said &&
                systemd-run --quiet --collect --unit=silent --property=StandardOutput=append:\(folder)/said \
                    \(Programs.path("silent-file-system")) hang-\(silence.rawValue) \(folder)/mount &&
                until grep -q ready \(folder)/said; do sleep 0.05; done
                """))
        defer { _ = try? Box.execRaw("systemctl", "stop", "silent.service") }
        try body()
    }

    /// Waits until a process hangs.
    ///
    /// - Returns: that process.
    static func waitForHanging() throws -> String {
        let waited = try Installation.shell(
            "until sed -n 's/^hangs //p' \(folder)/said | grep .; do sleep 0.05; done")
        try Installation.succeed(waited)
        return waited.line
    }

    /// Has a process hang in a control group.
    ///
    /// - Returns: that process.
    static func hang(in group: String) throws -> String {
        try Installation.succeed(
            Installation.shell(
                // A dollar of the shell's is two of systemd's.
                """
                systemd-run --quiet --collect sh -c 'echo $$$$ >\(group)/cgroup.procs; exec cat \(file)'
                """))
        return try waitForHanging()
    }

    /// Whether a process is in a wait that nothing ends.
    static func isHanging(_ process: String) throws -> Bool {
        try Installation.shell("grep -q '^State:.D' /proc/\(process)/status").status == 0
    }
}
