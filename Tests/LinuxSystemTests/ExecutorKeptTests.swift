import CExecutor
import CTestUsers
import Glibc
import LinuxSystem
import TestKit
import Testing

/// A user can fill the socket that is kept for a daemon, and whoever has it last and closes it waits for what is in it.
@Suite("What bgtask-executor keeps of a user's")
struct ExecutorKeptTests {
    /// A socket to which a descriptor was sent, behind a message: one that lingers for ten minutes, or of a file.
    private final class Filled {
        let socket: Int32
        private let other: Int32
        private let lingering: Int32

        init(_ file: UnflushedFile?) throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0)
            (socket, other) = (ends[0], ends[1])
            try #require(send(other, "a", 1, 0) == 1)
            lingering = test_send_lingering(other, file?.path, "b", 1, 0)
            try #require(lingering >= 0)
        }

        /// The last whole descriptor of it is the executor's from then on.
        func letGo() { close(socket) }

        deinit { for end in [other, lingering] { close(end) } }
    }

    private func start(
        _ command: UInt64, _ peer: ExecutorPeer, _ file: UnflushedFile?
    ) throws -> Filled {
        let filled = try Filled(file)
        let work = ExecutorWork("true").file()
        defer { close(work) }
        let code = try peer.code(EXECUTOR_START, command, descriptors: [work, filled.socket]) {
            ($0.attempt, $0.flags) = (1, EXECUTOR_WITH_KEPT.rawValue)
        }
        try #require(code == 0)
        _ = try peer.wait(EXECUTOR_GONE, of: command)
        filled.letGo()
        return filled
    }

    @Test(
        "it is let go of by somebody else",
        arguments: ExecutorPeer.Home.possible, Lingering.possible)
    func forgotten(_ home: ExecutorPeer.Home, _ lingering: Lingering) throws {
        let file = try lingering.file()
        let peer = try ExecutorPeer(home)
        let filled = try (1...3).map { try start(UInt64($0), peer, file) }
        for command in 1...3 { #expect(try peer.forget(UInt64(command)) == 0) }
        // It has answered, and serves.
        #expect(try peer.list().count == 1)
        _ = try peer.startReady(4, ExecutorWork("echo", "ready"))
        withExtendedLifetime((filled, file)) {}
    }

    @Test(
        "neither an end nor a new begin waits for it", arguments: [false, true],
        Lingering.possible)
    func atTheEnd(again: Bool, _ lingering: Lingering) throws {
        let file = try lingering.file()
        let peer = try ExecutorPeer()
        let filled = try (1...3).map { try start(UInt64($0), peer, file) }
        #expect(
            try peer.code(EXECUTOR_EXIT) { $0.flags = again ? EXECUTOR_AGAIN.rawValue : 0 } == 0)
        if again {
            #expect(try peer.isHungUp())
            peer.hangUp()
            try peer.connect()
            #expect(try peer.list().filter { $0.kind == EXECUTOR_ENTRY }.count == 3)
        } else {
            #expect(peer.end() == 0)
        }
        withExtendedLifetime((filled, file)) {}
    }
}

/// What somebody has mounted in the folder of a process in /proc, which whoever reaps it lets go of.
@Suite(
    "What is mounted on a process", .timeLimit(.minutes(5)),
    .enabled(if: HeldMount.refusal == nil && Kind.refusal == nil))
struct ReapedMountTests {
    /// Runs a command to its end on whose process something is mounted that does not answer.
    private func hold(_ command: UInt64, _ peer: ExecutorPeer) throws -> HeldMount {
        #expect(try peer.start(command, ExecutorWork("sleep", "1000")) == 0)
        let started = try peer.wait(EXECUTOR_STARTED, of: command)
        let mount = try HeldMount(on: "/proc/\(started.record.pid)/task")
        #expect(try peer.code(EXECUTOR_KILL, command) == 0)
        _ = try peer.wait(EXECUTOR_GONE, of: command)
        return mount
    }

    private func serves(_ command: UInt64, _ peer: ExecutorPeer) throws {
        #expect(try peer.start(command, ExecutorWork("true")) == 0)
        _ = try peer.wait(EXECUTOR_GONE, of: command)
    }

    @Test("keeps nobody waiting, and neither the next executor, however this one ends")
    func killed() throws {
        let peer = try ExecutorPeer()
        var mounts = try (1...3).map { try hold($0, peer) }
        try serves(4, peer)
        kill(peer.processID, SIGKILL)
        peer.hangUp()
        let next = try peer.spawn(patience: 60)
        try peer.connect()
        try serves(5, peer)
        kill(next, SIGKILL)
        waitpid(next, nil, 0)
        peer.hangUp()
        mounts.removeAll()
    }

    @Test("keeps no executor from running its program anew")
    func again() throws {
        let peer = try ExecutorPeer()
        var mounts = try (1...3).map { try hold($0, peer) }
        for command in 1...3 { #expect(try peer.forget(UInt64(command)) == 0) }
        #expect(try peer.code(EXECUTOR_EXIT) { $0.flags = EXECUTOR_AGAIN.rawValue } == 0)
        #expect(try peer.isHungUp())
        peer.hangUp()
        try peer.connect()
        try serves(4, peer)
        let successor = try #require(peer.welcome).record.pid
        #expect(successor != peer.processID)
        mounts.removeAll()
        kill(successor, SIGKILL)
        peer.hangUp()
    }
}
