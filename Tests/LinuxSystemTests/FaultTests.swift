import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// A daemon or a supervisor that is killed.
    @Suite struct FaultTests {
        /// Starts a daemon with tasks, and waits until they run.
        private func startDaemon(
            _ kind: Kind,
            stateFolder: String,
            tasks: Int,
            harness: Harness
        ) throws -> (any TaskProcesses, Int32) {
            let task = try harness.makeTask()
            var process = try task.start(
                LaunchRequest(arguments: [
                    try builtProgram("process-test-daemon"), "hold", kind.rawValue, stateFolder,
                    "\(tasks)", try builtProgram("process-test-child"), "daemonize-and-stay",
                ])
            )
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().contains("ready") }
            // Each has its command and its daemonized grandchild.
            try harness.waitFor {
                try processes(running: "process-test-child").count == 2 * tasks
            }
            let daemons = try processes(running: "process-test-daemon")
            return (task, try #require(daemons.first))
        }

        @Test("a daemon that is killed takes its supervised tasks along")
        func daemonKilledWithSupervisors() throws {
            let harness = try Harness(.supervisor)
            let (task, daemon) = try startDaemon(
                .supervisor,
                stateFolder: "/",
                tasks: 3,
                harness: harness
            )
            #expect(kill(daemon, SIGKILL) == 0)
            try harness.waitFor { try processes(running: "process-test-child").isEmpty }
            try harness.waitUntilGone(task)
            #expect(try processes(running: "bgtask-supervisor").isEmpty)
            task.close()
        }

        @Test(
            "what a killed daemon left in its cgroups is found and killed by the next",
            .enabled(if: Kind.refusal == nil)
        )
        func daemonKilledWithCgroups() throws {
            let folder = try TemporaryFolder()
            let harness = try Harness(.supervisor)
            let (task, daemon) = try startDaemon(
                .cgroup,
                stateFolder: folder.path,
                tasks: 3,
                harness: harness
            )
            #expect(kill(daemon, SIGKILL) == 0)
            try harness.waitFor { !isAlive(daemon) }
            let left = try processes(running: "process-test-child")
            #expect(left.count == 6, "\(left), \(harness.events)")

            let tree = try CgroupTree(stateFolder: folder.path)
            let found = try tree.killLeftovers()
            #expect(found.count == 6)
            #expect(try processes(running: "process-test-child").isEmpty)
            #expect(try tree.killLeftovers().count == 0)
            try tree.remove()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test(
            "a supervisor that is killed leaves nothing behind",
            arguments: ["daemonize-and-stay", "bomb"]
        )
        func supervisorKilled(mode: String) throws {
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            var process = try task.start(
                LaunchRequest(
                    arguments: [try builtProgram("process-test-child"), mode, "50"])
            )
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().contains("\n") }
            let supervisor = try #require(try processes(running: "bgtask-supervisor").first)
            #expect(kill(supervisor, SIGKILL) == 0)
            try harness.waitUntilGone(task)
            #expect(try processes(running: "process-test-child").isEmpty)
            #expect(try adoptedOrphans(known: []).isEmpty)
            // The bomb's first process may have exited by itself.
            if mode != "bomb" {
                #expect(harness.events.contains { $0.what == .exited(index: 0, .signal(SIGKILL)) })
            }
            task.close()
        }

        @Test("a stopped supervisor still obeys a kill")
        func supervisorStopped() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            _ = try task.start(LaunchRequest(arguments: ["sleep", "1000"]))
            try harness.wait { if case .started = $0.what { true } else { false } }
            let supervisor = try #require(try processes(running: "bgtask-supervisor").first)
            #expect(kill(supervisor, SIGSTOP) == 0)
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test("a supervisor shrugs off every signal but SIGKILL")
        func supervisorIgnoresSignals() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            _ = try task.start(LaunchRequest(arguments: ["sleep", "1000"]))
            try harness.wait { if case .started = $0.what { true } else { false } }
            let supervisor = try #require(try processes(running: "bgtask-supervisor").first)
            for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE, SIGALRM] {
                #expect(kill(supervisor, number) == 0)
            }
            try task.signal(SIGTERM)
            try harness.waitUntilGone(task)
            #expect(harness.events.contains { $0.what == .exited(index: 0, .signal(SIGTERM)) })
            task.close()
        }

        @Test(
            "2,000 launches leave descriptors, groups, children and memory as before",
            .enabled(if: !isSanitized, "a sanitizer keeps what was freed for a while"),
            arguments: Kind.available
        )
        func soak(kind: Kind) throws {
            let folder = try TemporaryFolder()
            let outcome = try Harness(.supervisor).run(
                try builtProgram("process-test-daemon"),
                "soak",
                kind.rawValue,
                folder.path,
                "2000"
            )
            #expect(outcome.output.hasSuffix("clean\n"), "\(outcome.output)")
        }
    }
}
