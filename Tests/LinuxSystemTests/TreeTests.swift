import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// What a task starts beside its command, and how it ends.
    @Suite struct TreeTests {
        /// Starts the child program and reads the pid that its daemonized part prints.
        private func startDaemonized(
            _ mode: String,
            _ harness: Harness
        ) throws -> (TestTask, Int32, Reader) {
            let task = try harness.makeTask()
            var process = try task.start(
                LaunchRequest(arguments: [try builtProgram("process-test-child"), mode])
            )
            let reader = Reader(process.takeStandardOutput())
            try harness.waitFor { try reader.read().contains("\n") }
            let line = reader.text.prefix { $0 != "\n" }
            return (task, try #require(Int32(line)), reader)
        }

        @Test("a daemonized grandchild gets the task's signals", arguments: Kind.available)
        func signalReachesDaemonized(kind: Kind) throws {
            let harness = try Harness(kind)
            let (task, processID, reader) = try startDaemonized("daemonize", harness)
            try harness.wait { $0.what == .exited(index: 0, .status(0)) }
            #expect(isAlive(processID))
            #expect(!harness.events.contains { $0.what == .gone })
            try task.signal(SIGTERM)
            try harness.waitUntilGone(task)
            #expect(try reader.read().hasSuffix("signalled\n"))
            #expect(!isAlive(processID))
            task.close()
        }

        @Test(
            "what a process starts in answer to a signal does not get that",
            arguments: Kind.available)
        func handlerIsSpared(kind: Kind) throws {
            let harness = try Harness(kind)
            let script = """
                trap 'sh -c "sleep 0.02" && sleep 0.02 && exit 42; exit 1' TERM
                echo ready
                while :; do sleep 0.05; done
                """
            for _ in 0..<40 {
                let task = try harness.makeTask()
                var process = try task.start(LaunchRequest(arguments: ["sh", "-c", script]))
                let reader = Reader(process.takeStandardOutput())
                try harness.waitFor { try reader.read().contains("ready") }
                try task.ask(SIGTERM)
                try harness.waitUntilGone(task)
                #expect(
                    harness.events.contains {
                        $0.task == task.identifier && $0.what == .exited(index: 0, .status(42))
                    })
                task.close()
            }
        }

        @Test("kill ends a daemonized grandchild and its command", arguments: Kind.available)
        func killReachesDaemonized(kind: Kind) throws {
            let harness = try Harness(kind)
            let (task, processID, _) = try startDaemonized("daemonize-and-stay", harness)
            try task.kill()
            try harness.waitUntilGone(task)
            #expect(!isAlive(processID))
            #expect(harness.events.contains { $0.what == .exited(index: 0, .signal(SIGKILL)) })
            task.close()
        }

        @Test(
            "a command that ends while orders are on their way still tells its end",
            arguments: Kind.available
        )
        func endBesideOrders(kind: Kind) throws {
            let harness = try Harness(kind)
            for _ in 0..<40 {
                let task = try harness.makeTask()
                _ = try task.start(LaunchRequest(arguments: ["true"]))
                for _ in 0..<20 { try task.signal(SIGCONT) }
                try harness.waitUntilGone(task)
                let told = harness.events.filter { $0.task == task.identifier }.map(\.what)
                #expect(told.contains(.exited(index: 0, .status(0))), "\(told)")
                task.close()
            }
        }

        @Test(
            "the exit of a command that ended before the kill is not lost",
            arguments: Kind.available
        )
        func exitBeforeKill(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.makeTask()
            _ = try task.start(LaunchRequest(arguments: ["sh", "-c", "exit 5"]))
            try harness.waitFor { harness.startedProcessID != nil }
            let command = try #require(harness.startedProcessID)
            // Without a look at the events, where the exit waits now.
            let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
            while isAlive(command), MonotonicClock.now() < deadline { poll(nil, 0, 1) }
            try task.kill()
            try harness.waitUntilGone(task)
            let exits = harness.events.filter { $0.what == .exited(index: 0, .status(5)) }
            #expect(exits.count == 1, "\(harness.events)")
            task.close()
        }

        @Test("a fork bomb is ended", arguments: Kind.available)
        func forkBomb(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.makeTask()
            var process = try task.start(
                LaunchRequest(
                    arguments: [try builtProgram("process-test-child"), "bomb", "200"])
            )
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().contains("full") }
            try task.kill()
            try harness.waitUntilGone(task)
            #expect(try processes(running: "process-test-child").isEmpty)
            task.close()
        }

        @Test("closing a task that runs ends it without another event", arguments: Kind.available)
        func closeEnds(kind: Kind) throws {
            let harness = try Harness(kind)
            let (task, processID, _) = try startDaemonized("daemonize-and-stay", harness)
            harness.events = []
            task.close()
            try harness.waitFor { !isAlive(processID) }
            #expect(harness.events.isEmpty)
        }

        @Test(
            "a frozen task is told to be frozen, and still can be killed",
            .enabled(if: Kind.refusal == nil)
        )
        func freeze() throws {
            let harness = try Harness(.cgroup)
            let task = try harness.makeTask()
            _ = try task.start(LaunchRequest(arguments: ["sleep", "1000"]))
            for frozen in [true, false, true] {
                harness.events = []
                try task.setFrozen(frozen)
                try harness.wait { $0.what == .frozen(frozen) }
            }
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test("a kill right behind the start ends what was started", arguments: Kind.available)
        func killDuringStart(kind: Kind) throws {
            let harness = try Harness(kind)
            for _ in 0..<50 {
                let task = try harness.makeTask()
                _ = try task.start(
                    LaunchRequest(
                        arguments: [
                            try builtProgram("process-test-child"), "daemonize-and-stay",
                        ])
                )
                try task.kill()
                try harness.waitUntilGone(task)
                task.close()
            }
            #expect(try processes(running: "process-test-child").isEmpty)
        }

        @Test("what runs after a kill is not killed with it", arguments: Kind.available)
        func afterKill(kind: Kind) throws {
            let harness = try Harness(kind)
            for _ in 0..<20 {
                let task = try harness.makeTask()
                _ = try task.start(LaunchRequest(arguments: ["sleep", "1000"]))
                try task.kill()
                try harness.waitUntilGone(task)
                task.close()
                #expect(try harness.run("true").exit == .status(0))
            }
        }
    }
}

/// Collects what a pipe gives.
final class Reader {
    private let pipe: OwnedDescriptor
    private(set) var text = ""

    init(_ pipe: consuming OwnedDescriptor) {
        self.pipe = pipe
    }

    var descriptor: Int32 { pipe.rawValue }

    func read() throws -> String {
        text += try readAvailable(pipe)
        return text
    }
}

/// The processes that run a program of this build, zombies left out.
func processes(running name: String) throws -> [Int32] {
    let path = try builtProgram(name)
    return try contents(ofFolder: "/proc").compactMap { Int32($0) }.filter { processID in
        let line = (try? contents(of: "/proc/\(processID)/cmdline")) ?? ""
        return line.split(separator: "\0").first == path[...]
    }
}
