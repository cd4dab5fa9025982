import CExecutor
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// Groups of bgtask-executor that are used again, which is where the kernel counts no memory in them.
    @Suite(.enabled(if: Kind.refusal == nil)) struct ExecutorPoolTests {
        private let peer: ExecutorPeer
        private let tree: Int32

        init() throws {
            peer = try ExecutorPeer()
            tree = try #require(peer.welcome?.descriptors.first)
        }

        private func start(_ command: UInt64, _ work: ExecutorWork) throws -> executor_record {
            #expect(try peer.start(command, work) == 0)
            return try peer.wait(EXECUTOR_STARTED, of: command).record
        }

        /// Runs a command to its end.
        private func run(
            _ work: ExecutorWork
        ) throws -> (started: executor_record, gone: executor_record) {
            let started = try start(1, work)
            let gone = try peer.wait(EXECUTOR_GONE, of: 1).record
            #expect(try peer.forget(1) == 0)
            return (started, gone)
        }

        private func exists(_ path: String) -> Bool { faccessat(tree, path, F_OK, 0) == 0 }

        private func isCounted(_ place: UInt64) -> Bool { exists("command-\(place)/memory.peak") }

        @Test("a group is used again, and what was used in it before does not count")
        func again() throws {
            let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
            let first = try run(ExecutorWork(script: script))
            #expect(first.started.cpu_us == 0)
            let second = try start(2, ExecutorWork("sleep", "1000"))
            let isAgain = second.place == first.started.place
            #expect(isAgain != isCounted(second.place))
            #expect(isAgain ? second.cpu_us >= first.gone.cpu_us : second.cpu_us == 0)
            let entry = try #require(peer.list().first).record
            #expect(entry.cpu_us == second.cpu_us && entry.place == second.place)
            // Two at a time have a group each.
            #expect(try start(3, ExecutorWork("true")).place != second.place)
            #expect(try peer.code(EXECUTOR_KILL, 2) == 0)
            #expect(try peer.wait(EXECUTOR_GONE, of: 2).record.cpu_us < first.gone.cpu_us)
            // None is left at its end.
            kill(peer.processID, SIGTERM)
            #expect(peer.end() == 0)
            for place in 1...4 { #expect(!exists("command-\(place)")) }
        }

        @Test("a group is not used again before its command is forgotten")
        func remembered() throws {
            let first = try start(1, ExecutorWork("true")).place
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            let isCounted = isCounted(first)
            #expect(try start(2, ExecutorWork("sleep", "1000")).place != first)
            #expect(try peer.forget(1) == 0)
            #expect(try (start(3, ExecutorWork("true")).place == first) != isCounted)
        }

        @Test("a group is not used again that was killed or frozen, or has others below")
        func worn() throws {
            let orders: [(UInt64) throws -> Void] = [
                { _ in _ = try peer.code(EXECUTOR_KILL, 2) },
                { _ in
                    #expect(try peer.code(EXECUTOR_FREEZE, 2) == 0)
                    _ = try peer.wait(EXECUTOR_FROZEN, of: 2)
                    _ = try peer.code(EXECUTOR_SIGNAL, 2) { $0.number = UInt32(SIGTERM) }
                },
                { place in
                    #expect(mkdirat(tree, "command-\(place)/below", 0o755) == 0)
                    _ = try peer.code(EXECUTOR_SIGNAL, 2) { $0.number = UInt32(SIGTERM) }
                },
            ]
            for order in orders {
                let place = try start(2, ExecutorWork("sleep", "1000")).place
                try order(place)
                _ = try peer.wait(EXECUTOR_GONE, of: 2)
                #expect(try peer.forget(2) == 0)
                #expect(!exists("command-\(place)"))
                #expect(try run(ExecutorWork("true")).started.place != place)
            }
        }

        @Test(
            "a group is not used again in which somebody has changed something, also for a moment",
            arguments: [
                ("true", true), ("echo 3 > $group/cgroup.max.depth", false),
                ("chmod 600 $group/cgroup.procs; chmod 644 $group/cgroup.procs", false),
                ("mkdir $group/below; rmdir $group/below", false),
            ])
        func changed(_ script: String, isAsNew: Bool) throws {
            let folder = "/proc/\(getpid())/fd/\(tree)"
            let group = "group=\(folder)/$(sed -n 's|^0::.*/||p' /proc/self/cgroup)"
            let first = try run(ExecutorWork(script: "\(group); set -e; \(script)")).started
            let isCounted = isCounted(first.place)
            let second = try start(2, ExecutorWork("true"))
            #expect((second.place == first.place) == (isAsNew && !isCounted))
        }

        @Test("a group with another bound of processes is another")
        func bounds() throws {
            var work = ExecutorWork("true")
            work.processesMax = 20
            let first = try run(work).started.place
            let isCounted = isCounted(first)
            #expect(try (run(work).started.place == first) != isCounted)
            work.processesMax = 21
            #expect(try run(work).started.place != first)
        }
    }
}
