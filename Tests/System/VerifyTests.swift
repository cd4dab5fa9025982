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

        @Test("have nothing that systemd-analyze verify objects to", arguments: ["system", "user"])
        func verify(scope: String) throws {
            let folder = "/usr/local/lib/systemd/\(scope)"
            let verified = try Installation.shell(
                """
                XDG_RUNTIME_DIR=/run systemd-analyze --\(scope) --man=no verify \
                    \(folder)/bgtaskd.socket \(folder)/bgtaskd.service
                """)
            #expect(verified == Box.Result(status: 0, output: "", errors: ""))
        }

        @Test("are judged by systemd-analyze security")
        func security() throws {
            let judged = try Box.execRaw(
                "systemd-analyze", "security", "--no-pager", "bgtaskd.service")
            #expect(judged.status == 0)
            #expect(judged.output.contains("Overall exposure level for bgtaskd.service: "))
        }

        /// What a process has of the things that it cannot get rid of.
        private static let inherited = """
            grep -E '^(NoNewPrivs|Seccomp.*|Cap.*):' /proc/self/status
            for space in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$space; done
            umask; ulimit -Sn; cat /proc/self/oom_score_adj
            """

        @Test("take nothing from a task that root's own programs have")
        func unrestricted() throws {
            let task = try Box.execRaw(
                "bgtaskctl", "run", "--wait", "--follow", "--", "sh", "-c", Self.inherited)
            #expect(task.status == 0, "\(task)")
            let own = try Box.exec("sh", "-c", Self.inherited)
            #expect(own.output.contains("NoNewPrivs:\t0"), "\(own)")
            // The first line is the task's id.
            #expect(
                task.output.split(separator: "\n").dropFirst().joined(separator: "\n") == own.line)
        }
    }
}
