import Glibc
import LinuxSystem
import Testing

/// All tests, one after the other: some count this process's descriptors.
@Suite(.serialized, OwnProcess()) enum LinuxTests {}

extension LinuxTests {
    @Suite struct LaunchTests {
        @Test(
            "a cgroup can be had here, so that the tests below cover it",
            .enabled(if: Kind.refusal == nil, "no cgroup can be had: \(Kind.refusal ?? "")")
        )
        func cgroupIsAvailable() {
            #expect(Kind.available.contains(.cgroup))
        }

        @Test("an exit status comes back", arguments: Kind.available, [0, 1, 77, 255])
        func exitStatus(kind: Kind, status: Int32) throws {
            let outcome = try Harness(kind).run("sh", "-c", "exit \(status)")
            #expect(outcome.exit == .status(status))
            #expect(outcome.whats.last == .gone)
        }

        @Test("a command that dies of a signal says which", arguments: Kind.available)
        func deathBySignal(kind: Kind) throws {
            let outcome = try Harness(kind).run("sh", "-c", "kill -USR1 $$")
            #expect(outcome.exit == .signal(SIGUSR1))
        }

        @Test("output and error come apart", arguments: Kind.available)
        func output(kind: Kind) throws {
            let outcome = try Harness(kind).run("sh", "-c", "echo one; echo two >&2; cat")
            #expect(outcome.output == "one\n")
            #expect(outcome.error == "two\n")
        }

        @Test(
            "an output is at its end when its command is, closed before or not",
            arguments: Kind.available, ["exec >&- 2>&-", "true"])
        func outputEnds(kind: Kind, command: String) throws {
            let harness = try Harness(kind)
            let task = try harness.makeTask()
            defer { task.close() }
            let request = LaunchRequest(arguments: ["sh", "-c", "echo one; \(command)"])
            var process = try task.start(request)
            let output = process.takeStandardOutput()
            try harness.waitUntilGone(task)
            var bytes = [UInt8](repeating: 0, count: 16)
            #expect(read(output.rawValue, &bytes, bytes.count) == 4)
            #expect(read(output.rawValue, &bytes, bytes.count) == 0)
        }

        @Test("several commands start at once, and again")
        func startsAtOnce() throws {
            let harness = try Harness(Kind.available[0])
            for _ in 0..<2 {
                var tasks: [TestTask] = []
                for _ in 0..<9 {
                    tasks.append(try harness.makeTask())
                    _ = try tasks[tasks.count - 1].start(LaunchRequest(arguments: ["true"]))
                }
                for task in tasks {
                    try harness.waitUntilGone(task)
                    task.close()
                }
            }
            let exits = harness.events.filter { $0.what == .exited(index: 0, .status(0)) }
            #expect(exits.count == 18)
        }

        @Test("the environment is what was asked for, and nothing else", arguments: Kind.available)
        func environment(kind: Kind) throws {
            let harness = try Harness(kind)
            var request = LaunchRequest(arguments: ["env"], environment: ["A=1", "B=x y=z"])
            #expect(try harness.run(request).output == "A=1\nB=x y=z\n")
            request.environment = []
            #expect(try harness.run(request).output == "")
        }

        @Test(
            "a child sees clean signals, session, umask and descriptors",
            arguments: Kind.available
        )
        func surroundings(kind: Kind) throws {
            signal(SIGPIPE, SIG_IGN)
            var blocked = sigset_t()
            sigemptyset(&blocked)
            sigaddset(&blocked, SIGUSR2)
            pthread_sigmask(SIG_BLOCK, &blocked, nil)
            defer { pthread_sigmask(SIG_UNBLOCK, &blocked, nil) }
            let leaked = open("/dev/null", O_RDONLY)
            defer { close(leaked) }

            let harness = try Harness(kind)
            let status = try harness.run("cat", "/proc/self/status").output
            for set in ["SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"] {
                #expect(status.contains("\(set):\t0000000000000000\n"), "\(status)")
            }
            #expect(status.contains("Umask:\t0022\n"))
            #expect(try harness.run("ls", "/proc/self/fd").output == "0\n1\n2\n3\n")
            #expect(try harness.run("readlink", "/proc/self/fd/0").output == "/dev/null\n")
            // Fields of proc_pid_stat(5): pid, name, state, parent, group, session.
            let fields = try harness.run("cat", "/proc/self/stat").output.split(separator: " ")
            #expect(fields[0] == fields[4])
            #expect(fields[0] == fields[5])
        }

        @Test("the soft limit of open files and the umask can be set", arguments: Kind.available)
        func limits(kind: Kind) throws {
            let request = LaunchRequest(
                arguments: ["sh", "-c", "ulimit -Sn; umask"],
                fileModeMask: 0o077,
                openFilesSoft: 123
            )
            #expect(try Harness(kind).run(request).output == "123\n0077\n")
        }

        @Test("a command is searched for after the change of directory", arguments: Kind.available)
        func searchPath(kind: Kind) throws {
            let harness = try Harness(kind)
            let request = LaunchRequest(
                arguments: ["true"],
                directory: "/usr",
                searchPath: "/nonexistent:/etc/passwd:bin"
            )
            #expect(try harness.run(request).exit == .status(0))
            let relative = LaunchRequest(
                arguments: ["bin/pwd"],
                directory: "/usr",
                searchPath: ""
            )
            #expect(try harness.run(relative).output == "/usr\n")
        }

        @Test(
            "a task of another user has that user's identity alone",
            .enabled(if: getuid() == 0),
            arguments: Kind.available
        )
        func user(kind: Kind) throws {
            let request = LaunchRequest(
                arguments: ["cat", "/proc/self/status"],
                user: .init(user: 1234, group: 2345, groups: [2345, 3456])
            )
            let status = try Harness(kind).run(request).output
            #expect(status.contains("Uid:\t1234\t1234\t1234\t1234\n"))
            #expect(status.contains("Gid:\t2345\t2345\t2345\t2345\n"))
            #expect(status.contains("Groups:\t2345 3456 \n"))
            #expect(status.contains("CapEff:\t0000000000000000\n"))
            #expect(status.contains("CapPrm:\t0000000000000000\n"))
        }

        @Test(
            "a start that fails says at which stage, and leaves nothing",
            arguments: Kind.available
        )
        func startErrors(kind: Kind) throws {
            let folder = try TemporaryFolder()
            let script = "\(folder.path)/file"
            close(open(script, O_CREAT | O_WRONLY, 0o755))
            let harness = try Harness(kind)
            #expect(try harness.run("true").exit == .status(0))
            harness.events = []
            let descriptors = try contents(ofFolder: "/proc/self/fd").count
            func failure(_ request: LaunchRequest) throws -> LaunchError? {
                try harness.failure(of: request)
            }
            var request = LaunchRequest(arguments: ["no such command"])
            #expect(
                try failure(request)?.description
                    == "cannot run \"no such command\": No such file or directory"
            )
            request.arguments = ["/etc/passwd"]
            #expect(
                try failure(request)
                    == LaunchError(stage: .exec, errno: EACCES, subject: "/etc/passwd")
            )
            request = LaunchRequest(arguments: ["passwd"], searchPath: "/etc:/nonexistent")
            #expect(try failure(request)?.errno == EACCES)
            request = LaunchRequest(arguments: [script])
            #expect(try failure(request)?.errno == ENOEXEC)
            request = LaunchRequest(arguments: ["true"], directory: "/nonexistent")
            #expect(
                try failure(request)
                    == LaunchError(stage: .directory, errno: ENOENT, subject: "/nonexistent")
            )
            request = LaunchRequest(arguments: ["a\0b"])
            #expect(try failure(request)?.stage == .prepare)
            #expect(try failure(LaunchRequest(arguments: []))?.errno == EINVAL)
            #expect(try failure(LaunchRequest(arguments: [""]))?.errno == ENOENT)
            try harness.waitFor {
                try contents(ofFolder: "/proc/self/fd").count <= descriptors
            }
        }

        @Test("a missing executor is said to be missing, and one that ends at once is told of")
        func missingExecutor() throws {
            let folder = try TemporaryFolder()
            let host = try ProcessHost()
            func connect(_ path: String) throws(SystemError) {
                let program = ExecutorProgram(
                    path: path, groupFolder: nil, stateFolder: folder.path + "/executor")
                _ = try host.connect(
                    .program(program), owner: ExecutorLink.Owner(high: 1, low: 2))
            }
            let missing = "/nonexistent/bgtask-executor"
            #expect(throws: SystemError(operation: "start", errno: ENOENT, subject: missing)) {
                try connect(missing)
            }
            let ended = SystemError(
                operation: "start", errno: EPIPE, subject: "/bin/false",
                detail: "it has ended with status 1")
            #expect(throws: ended) { try connect("/bin/false") }
        }
    }
}

func contents(ofFolder path: String) throws -> [String] {
    guard let folder = opendir(path) else {
        throw SystemError(operation: "opendir", errno: errno, subject: path)
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        names.append(
            withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        )
    }
    return names
}
