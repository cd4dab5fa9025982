import CExecutor
import CLinux
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// What bgtask-executor does to processes that their own user may not signal.
    @Suite(.enabled(if: geteuid() == 0, "a command of another user needs root"))
    struct ExecutorRightsTests {
        private let shared: SharedFolder

        init() throws { shared = try SharedFolder(Harness(.supervisor)) }

        /// Starts a command of a user's, one of whose processes is root's.
        ///
        /// - Returns: the numbers of root's and of the user's own.
        private func start(_ peer: ExecutorPeer) throws -> (root: pid_t, own: pid_t) {
            let child = try shared.install("process-test-child")
            #expect(chmod(child, 0o4755) == 0)
            var work = ExecutorWork(script: "\(child) become-root & echo own $$; exec sleep 1000")
            work.user = OtherUser.games.user
            let (started, first) = try peer.startReady(1, work)
            var text = first
            try started.read(into: &text, until: "own")
            let words = text.split { $0 == " " || $0 == "\n" }
            func number(behind word: String) throws -> pid_t {
                let index = try #require(words.firstIndex { $0 == word })
                return try #require(pid_t(words[words.index(after: index)]))
            }
            return (try number(behind: "ready"), try number(behind: "own"))
        }

        private func state(_ process: pid_t) -> UInt8? {
            var status = clx_process()
            guard clx_process_read(process, &status) else { return nil }
            return UInt8(bitPattern: status.state)
        }

        private func isAlive(_ process: pid_t) -> Bool {
            state(process).map { $0 != UInt8(ascii: "Z") } ?? false
        }

        @Test(
            "a signal reaches whom its user could send it, and one that ends reaches all",
            arguments: ExecutorPeer.Home.possible)
        func signals(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let (root, own) = try start(peer)
            #expect(try peer.code(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGSTOP) } == 0)
            try waitUntil { state(own) == UInt8(ascii: "T") }
            #expect(state(root) != UInt8(ascii: "T"))
            #expect(try peer.code(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGCONT) } == 0)
            #expect(try peer.code(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGUSR1) } == 0)
            #expect(try peer.wait(EXECUTOR_EXITED, of: 1).record.code == SIGUSR1)
            #expect(isAlive(root))
            // Root's alone is left.
            let code = try peer.code(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGUSR1) }
            #expect(code == (home == .groups ? EPERM : 0))
            #expect(isAlive(root))
            #expect(try peer.code(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGTERM) } == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(!isAlive(root))
        }

        @Test(
            "who could not be stopped by its user is not frozen, and nobody with it",
            arguments: ExecutorPeer.Home.possible)
        func freeze(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let (root, own) = try start(peer)
            #expect(try peer.code(EXECUTOR_FREEZE, 1) == 0)
            let refused = try peer.wait(EXECUTOR_FROZEN, of: 1)
            #expect(refused.record.code == EPERM && !refused.has(EXECUTOR_IS_FROZEN))
            #expect(state(own) != UInt8(ascii: "T") && state(root) != UInt8(ascii: "T"))
            #expect(try !peer.list().contains { $0.has(EXECUTOR_IS_FROZEN) })
            kill(root, SIGKILL)
            try waitUntil { !isAlive(root) }
            #expect(try peer.code(EXECUTOR_FREEZE, 1) == 0)
            #expect(try peer.wait(EXECUTOR_FROZEN, of: 1).has(EXECUTOR_IS_FROZEN))
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }

        @Test(
            "of many processes a turn signals some, and the next ones the others",
            .enabled(if: Kind.refusal == nil, "takes control groups"))
        func crowd() throws {
            let peer = try ExecutorPeer()
            let child = try builtProgram("process-test-child")
            _ = try peer.startReady(1, ExecutorWork(child, "orphans", "300", "0"))
            let serial = try peer.order(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGUSR1) }
            let answer = try peer.wait(EXECUTOR_DONE) { $0.record.serial == serial }.record
            #expect(answer.code == 0 && answer.number > 0 && answer.number < 100)
            // None of them is killed.
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }
    }
}
