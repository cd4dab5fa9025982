import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// What a command of another user is and has.
    @Suite(.enabled(if: geteuid() == 0)) struct OtherUserTests {
        /// Lines of /proc/PID/status that differ between any two runs of one program.
        private static let differing: Set<String> = [
            // Whose numbers these are; and the session, which is the task's own here and the
            // caller's under runuser.
            "Tgid", "Pid", "PPid", "NStgid", "NSpid", "NSpgid", "NSsid",
            // The room in the table of descriptors, which a child has from its parent.
            "FDSize",
            // With a limit in it, which runuser takes from process 1 (pam_limits(8)).
            "SigQ",
            // Pages that happened to be there.
            "VmPeak", "VmSize", "VmHWM", "VmRSS", "RssAnon", "RssFile", "VmPTE", "VmData", "VmStk",
            "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches",
        ]

        private func lines(_ status: String) -> [String: String] {
            let pairs = status.split(separator: "\n").map { line in
                let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
            return Dictionary(pairs) { first, _ in first }
        }

        @Test(
            "a command is to the kernel what runuser makes of it",
            arguments: Kind.available,
            [("games", OtherUser.games), ("backup", OtherUser.backup)]
        )
        func status(kind: Kind, user: (name: String, identity: LaunchRequest.User)) throws {
            let harness = try Harness(kind)
            let command = ["cat", "/proc/self/status"]
            let path = "/usr/sbin:/usr/bin:/sbin:/bin"
            let theirs = try harness.run(
                LaunchRequest(
                    arguments: ["runuser", "-u", user.name, "--"] + command, searchPath: path))
            let ours = try harness.run(LaunchRequest(arguments: command, user: user.identity))
            #expect(theirs.exit == .status(0), "\(theirs.error)")
            let (expected, actual) = (lines(theirs.output), lines(ours.output))
            for key in [
                "Uid", "Gid", "Groups", "CapBnd", "Seccomp", "NoNewPrivs", "SigBlk", "Umask",
            ] {
                #expect(actual[key] != nil)
            }
            #expect(Set(actual.keys) == Set(expected.keys))
            for (key, value) in expected where !Self.differing.contains(key) {
                #expect(actual[key] == value, "\(key)")
            }
        }

        @Test(
            "environment, descriptors and standing are those of runuser",
            arguments: Kind.available
        )
        func surroundings(kind: Kind) throws {
            let harness = try Harness(kind)
            let environment = [
                "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "SHELL=/bin/sh", "HOME=/usr/games",
                "USER=games", "LOGNAME=games",
            ]
            for command in [
                "cat /proc/$$/environ | tr '\\0' '\\n' | sort",
                "ls /proc/self/fd", "readlink /proc/self/fd/0", "umask",
                "cat /proc/self/oom_score_adj", "cut -d' ' -f18,19,40,41 /proc/self/stat", "id",
            ] {
                let shell = ["/bin/sh", "-c", command]
                let theirs = try harness.run(
                    LaunchRequest(
                        arguments: ["/sbin/runuser", "-u", "games", "--"] + shell,
                        environment: environment))
                let ours = try harness.run(
                    LaunchRequest(
                        arguments: shell, environment: environment, user: OtherUser.games))
                #expect(ours.output == theirs.output, "\(command)")
                #expect(!ours.output.isEmpty && ours.error.isEmpty, "\(command): \(ours.error)")
            }
        }

        private static let opening = """
            echo one > /dev/stderr; echo two > /proc/self/fd/1; echo three > /dev/fd/2
            echo four > /dev/stdout
            """

        @Test("a command of one's own can open its output", arguments: Kind.available)
        func openOutput(kind: Kind) throws {
            let outcome = try Harness(kind).run(
                LaunchRequest(arguments: ["sh", "-c", Self.opening]))
            #expect(outcome.output == "two\nfour\n")
            #expect(outcome.error == "one\nthree\n")
        }

        @Test("that of another user has sockets, which none can open", arguments: Kind.available)
        func socketOutput(kind: Kind) throws {
            let outcome = try Harness(kind).run(
                LaunchRequest(
                    arguments: ["sh", "-c", "echo five; echo six >&2; " + Self.opening],
                    user: OtherUser.games))
            #expect(outcome.output == "five\n")
            #expect(outcome.error.hasPrefix("six\n"))
            #expect(outcome.error.contains("No such device or address"))
        }

        @Test("each command has a session keyring of its own", arguments: Kind.available)
        func keyring(kind: Kind) throws {
            let harness = try Harness(kind)
            let folder = try SharedFolder(harness)
            let child = try folder.install("process-test-child")
            var keyrings: [String] = []
            for user in [OtherUser.games, OtherUser.games, OtherUser.backup, nil] {
                let outcome = try harness.run(
                    LaunchRequest(arguments: [child, "session-keyring"], user: user))
                #expect(outcome.exit == .status(0))
                keyrings.append(outcome.output)
            }
            if keyrings[0] != "none\n" { #expect(Set(keyrings).count == 4, "\(keyrings)") }
        }

        /// Runs a command as user 34 under a daemon that a shell has prepared.
        private func run(
            _ kind: Kind,
            prelude: String,
            _ command: String...
        ) throws -> String {
            let folder = try TemporaryFolder()
            let outcome = try Harness(.supervisor).run(
                LaunchRequest(
                    arguments: [
                        "/bin/sh", "-c", "\(prelude) \"$@\"", "sh",
                        try builtProgram("process-test-daemon"), "as", kind.rawValue, folder.path,
                        "34",
                    ] + command,
                    searchPath: "/usr/bin:/bin"))
            #expect(outcome.exit == .status(0), "\(outcome.error)")
            return outcome.output
        }

        @Test(
            "a command inherits no nice value below 0 and no real-time policy",
            .enabled(if: hasCapabilities(23), "it takes CAP_SYS_NICE"),
            arguments: Kind.available
        )
        func processorAdvantages(kind: Kind) throws {
            // Fields of proc_pid_stat(5): the nice value and the policy.
            let show = "cut -d' ' -f19,41 /proc/$$/stat"
            let nicer = "renice -n -5 -p $$ >/dev/null; \(show); exec"
            #expect(try run(kind, prelude: nicer, "sh", "-c", show) == "-5 0\n0 0\n")
            // A group may be without real-time, and then nothing of it can be inherited.
            let realTime = "chrt -r -p 10 $$ 2>/dev/null; exec"
            #expect(try run(kind, prelude: realTime, "sh", "-c", show) == "0 0\n")
            let humbler = "renice -n 5 -p $$ >/dev/null; chrt -b -p 0 $$; exec"
            #expect(try run(kind, prelude: humbler, "sh", "-c", show) == "5 3\n")
        }

        @Test(
            "a command inherits no oom_score_adj below 0, and cannot set one",
            .enabled(if: hasCapabilities(24), "it takes CAP_SYS_RESOURCE"),
            arguments: Kind.available
        )
        func memoryAdvantage(kind: Kind) throws {
            let show = "cat /proc/$$/oom_score_adj"
            let lower = "(echo -1 > /proc/self/oom_score_adj) 2>/dev/null || echo refused"
            let safer = "choom -n -900 -p $$ >/dev/null; \(show); exec"
            let output = try run(kind, prelude: safer, "sh", "-c", "\(show); \(lower)")
            #expect(output == "-900\n0\nrefused\n")
        }

        @Test("an oom_score_adj above 0 is inherited", arguments: Kind.available)
        func memoryDisadvantage(kind: Kind) throws {
            let prelude = "echo 300 > /proc/self/oom_score_adj; exec"
            let output = try run(kind, prelude: prelude, "cat", "/proc/self/oom_score_adj")
            #expect(output == "300\n")
        }

        @Test(
            "a daemon that is not root keeps its capabilities from its commands",
            .enabled(if: hasCapabilities(1, 2, 5, 6, 7), "it takes the usual capabilities of root")
        )
        func capabilities() throws {
            let set = "+chown,+dac_override,+dac_read_search,+kill,+setuid,+setgid"
            let prelude = """
                exec setpriv --reuid 5 --regid 60 --clear-groups --inh-caps=\(set) \
                --ambient-caps=\(set)
                """
            let status = try run(.supervisor, prelude: prelude, "cat", "/proc/self/status")
            #expect(status.contains("Uid:\t34\t34\t34\t34\n"), "\(status)")
            for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
                #expect(status.contains("\(set):\t0000000000000000\n"), "\(status)")
            }
            let denied = try run(.supervisor, prelude: prelude, "/root/x")
            #expect(denied == "failed: cannot run \"/root/x\": Permission denied\n")
        }
    }
}
