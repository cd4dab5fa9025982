import CExecutor
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// Commands of bgtask-executor whose processes have a supervisor and no group.
    @Suite struct ExecutorSupervisorTests {
        private let peer: ExecutorPeer

        init() throws { peer = try ExecutorPeer(.supervisors) }

        /// Starts a command that has a child in a session of its own, and waits until both run.
        ///
        /// - Returns: its supervisor, itself, and that child.
        private func startPair(_ command: UInt64) throws -> (pid_t, pid_t, pid_t) {
            let script = "setsid sh -c 'echo $$; exec sleep 1000' & wait"
            #expect(try peer.start(command, ExecutorWork(script: script)) == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: command)
            var text = ""
            try started.read(into: &text, until: "\n")
            let child = try #require(pid_t(text.dropLast()))
            return (pid_t(started.record.supervisor), started.record.pid, child)
        }

        private func waitFor(_ isSo: () throws -> Bool) throws {
            let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
            while try !isSo() {
                guard MonotonicClock.now() < deadline else { throw TimedOut(events: []) }
                poll(nil, 0, 1)
            }
        }

        @Test("a supervisor that is killed leaves nothing of its command, and all of others")
        func killed() throws {
            let (supervisor, main, child) = try startPair(1)
            let (_, otherMain, otherChild) = try startPair(2)
            #expect(kill(supervisor, SIGKILL) == 0)
            let exited = try peer.wait(EXECUTOR_EXITED, of: 1)
            #expect(exited.record.code == SIGKILL && exited.has(EXECUTOR_BY_SIGNAL))
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(!isAlive(main) && !isAlive(child))
            #expect(isAlive(otherMain) && isAlive(otherChild))
            #expect(try peer.forget(1) == 0)
            #expect(try peer.code(EXECUTOR_KILL, 2) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 2)
            #expect(!isAlive(otherMain) && !isAlive(otherChild))
        }

        @Test("a supervisor that is stopped holds up nobody, and its command is killed")
        func stopped() throws {
            let (supervisor, main, child) = try startPair(1)
            #expect(kill(supervisor, SIGSTOP) == 0)
            // More than its socket takes, of which none is waited for.
            var codes: Set<Int32> = []
            for _ in 0..<100_000 where !codes.contains(EAGAIN) {
                codes.insert(try peer.code(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGCONT) })
            }
            #expect(codes == [0, EAGAIN])
            #expect(try peer.start(2, ExecutorWork("true")) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 2)
            let now = UInt64(MonotonicClock.now())
            #expect(try peer.code(EXECUTOR_SET_DEADLINES, 1) { $0.limit_at = now } == 0)
            _ = try peer.wait(EXECUTOR_LIMIT_FIRED, of: 1)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(!isAlive(main) && !isAlive(child))
        }

        @Test("a supervisor that a debugger holds is killed with its command, after some time")
        func traced() throws {
            let (supervisor, main, child) = try startPair(1)
            // Glibc's module leaves out ptrace(2), as it does all with an open list of arguments.
            typealias Trace = @convention(c) (CLong, CLong, CLong, CLong) -> CLong
            let trace = unsafeBitCast(try #require(dlsym(nil, "ptrace")), to: Trace.self)
            let (seize, interrupt) = (0x4206, 0x4207)
            #expect(trace(seize, Int(supervisor), 0, 0) == 0)
            #expect(trace(interrupt, Int(supervisor), 0, 0) == 0)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            // Its tracer is told of its end first.
            var status: Int32 = 0
            while waitpid(supervisor, &status, 0) == supervisor, status & 0x7f != SIGKILL {}
            #expect(try peer.wait(EXECUTOR_EXITED, of: 1).record.code == SIGKILL)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(!isAlive(main) && !isAlive(child))
        }

        @Test("all ends with an executor that is killed, and the next one finds nothing of it")
        func orphaned() throws {
            let (_, main, child) = try startPair(1)
            let (supervisor, otherMain, otherChild) = try startPair(2)
            #expect(kill(supervisor, SIGSTOP) == 0)
            kill(peer.processID, SIGKILL)
            try peer.restart()
            for process in [main, child, otherMain, otherChild] { #expect(!isAlive(process)) }
            #expect(try peer.list().count == 1)
        }

        @Test("a freeze that cannot be completed is undone and told")
        func frozen() throws {
            let program = try builtProgram("process-test-child")
            #expect(try peer.start(1, ExecutorWork(program, "wait-for-vfork")) == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1)
            var text = ""
            try started.read(into: &text, until: "\n")
            // What is told of vfork(2) is told before it.
            let children = "/proc/\(started.record.pid)/task/\(started.record.pid)/children"
            try waitFor { try !contents(of: children).isEmpty }
            #expect(try peer.code(EXECUTOR_FREEZE, 1) == 0)
            let told = try peer.wait(EXECUTOR_FROZEN, of: 1)
            #expect(!told.has(EXECUTOR_IS_FROZEN) && told.record.code == ETIMEDOUT)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }

        @Test("a tree that starts processes all the time freezes whole, and goes on")
        func forking() throws {
            let program = try builtProgram("process-test-child")
            #expect(try peer.start(1, ExecutorWork(program, "spawn", "8", "0")) == 0)
            _ = try peer.wait(EXECUTOR_STARTED, of: 1)
            for _ in 0..<3 {
                #expect(try peer.code(EXECUTOR_FREEZE, 1) == 0)
                let frozen = try peer.wait(EXECUTOR_FROZEN, of: 1)
                #expect(frozen.has(EXECUTOR_IS_FROZEN))
                #expect(try peer.code(EXECUTOR_THAW, 1) == 0)
                let thawed = try peer.wait(EXECUTOR_FROZEN, of: 1)
                #expect(!thawed.has(EXECUTOR_IS_FROZEN) && thawed.record.code == 0)
            }
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            #expect(try peer.wait(EXECUTOR_GONE, of: 1).record.cpu_us > 0)
        }

        @Test("nothing of the executor's own is open in a command")
        func descriptors() throws {
            #expect(try peer.start(1, ExecutorWork("ls", "/proc/self/fd")) == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            // The last is the folder that is listed.
            #expect(try started.text() == "0\n1\n2\n3\n")
        }
    }

    /// An executor that a daemon has started for itself.
    @Suite struct ExecutorJoinedTests {
        @Test(
            "all of its commands end at once with its daemon, and the ends of others are kept",
            arguments: ExecutorPeer.Home.possible)
        func end(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(joined: home)
            let script = "trap '' TERM; setsid sleep 1000 & echo ready; wait"
            let started = try peer.startReady(
                1, ExecutorWork(script: script), graceSeconds: 600
            ).started
            #expect(try peer.code(EXECUTOR_FREEZE, 1) == 0)
            _ = try peer.wait(EXECUTOR_FROZEN, of: 1)
            for key in [3, 4] {
                #expect(try peer.start(UInt64(key), ExecutorWork("true")) == 0)
                _ = try peer.wait(EXECUTOR_GONE, of: UInt64(key))
            }
            // What it has ordered last is obeyed before.
            let file = ExecutorWork("sleep", "1000").file()
            defer { close(file) }
            try peer.order(EXECUTOR_START, 2, descriptors: [file]) { $0.attempt = 1 }
            try peer.order(EXECUTOR_FORGET, 4) { $0.attempt = 1 }
            peer.hangUp()
            try peer.restart()
            #expect(!isAlive(started.record.pid))
            let list = try peer.list()
            let kinds = list.filter { $0.record.command == 3 }.map(\.kind)
            #expect(kinds == [EXECUTOR_ENTRY, EXECUTOR_EXITED, EXECUTOR_GONE])
            #expect(Set(list.map(\.record.command)).subtracting([0]) == [3])
        }

        @Test("it ends with a daemon that has said nothing, and cannot begin anew")
        func refused() throws {
            let peer = try ExecutorPeer(joined: .supervisors)
            #expect(
                try peer.code(EXECUTOR_EXIT) { $0.flags = EXECUTOR_AGAIN.rawValue } == EINVAL)
            #expect(try peer.start(1, ExecutorWork("true")) == 0)
            peer.hangUp()
            #expect(peer.end() == 0)
        }
    }

    /// An executor that goes over to a newer version of its program.
    @Suite struct ExecutorAgainTests {
        @Test(
            "told to, it runs its program anew when no command runs, and keeps what has ended",
            arguments: ExecutorPeer.Home.possible)
        func again(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let first = try #require(peer.welcome).record.instance
            #expect(try peer.start(1, ExecutorWork("sleep", "1000")) == 0)
            _ = try peer.wait(EXECUTOR_STARTED, of: 1)
            #expect(try peer.code(EXECUTOR_EXIT) { $0.flags = EXECUTOR_AGAIN.rawValue } == 0)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            let gone = try peer.wait(EXECUTOR_GONE, of: 1).record
            #expect(try peer.isHungUp())
            peer.hangUp()
            try peer.connect()
            let welcome = try #require(peer.welcome).record
            #expect(welcome.pid == peer.processID && welcome.instance != first)
            #expect(
                try peer.list().first { $0.kind == EXECUTOR_GONE }?.record.moment == gone.moment)
            #expect(try peer.forget(1) == 0)
            // Once more, at once.
            #expect(try peer.code(EXECUTOR_EXIT) { $0.flags = EXECUTOR_AGAIN.rawValue } == 0)
            #expect(try peer.isHungUp())
            peer.hangUp()
            try peer.connect()
            #expect(try #require(peer.welcome).record.instance != welcome.instance)
            #expect(try peer.start(1, ExecutorWork("true")) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }
    }
}
