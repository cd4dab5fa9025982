import BudgetCore
import DaemonShell
import Glibc
import LinuxSystem
import TaskAPI
import TestKit
import Testing

@Suite("The sockets of commands over one daemon's end and the next one's start")
struct NotifyHandOverTests {
    private let folder = StateFolder()
    private let owner = OwnerID(rawValue: geteuid())
    private let id = TaskID(rawValue: 1)

    /// Those that nobody is about to remove.
    private var sockets: [String] {
        names(inFolder: folder.path + "/socket.notify").filter { !$0.contains(".removed-") }
    }

    /// A daemon's sockets.
    private struct Daemon {
        let scene: Scene
        let pool: NotifySocketPool
    }

    private func daemon(opens: Bool = true) throws -> Daemon {
        let scene = try Scene()
        let pool = NotifySocketPool(
            scene.core, scene.poll, scene.closers, scene.accounts, scene.log)
        if opens { try open(pool) }
        return Daemon(scene: scene, pool: pool)
    }

    private func open(_ pool: NotifySocketPool) throws {
        pool.open(
            try Configuration(
                scope: .user, config: nil, socket: folder.path + "/socket",
                stateFolder: folder.path + "/state", environment: [:]))
    }

    /// What the executor keeps of a socket.
    private final class Kept {
        let path: String
        private let descriptor: Int32

        init(_ socket: TaskNotifySocket) throws {
            path = socket.path
            descriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
            try #require(descriptor >= 0)
        }

        deinit { close(descriptor) }

        func given() -> OwnedDescriptor { OwnedDescriptor(dup(descriptor)) }
    }

    private func take(_ kept: Kept, _ daemon: Daemon) -> TaskNotifySocket? {
        daemon.pool.takeOver(kept.given(), for: id, of: owner)
    }

    /// - Returns: whether it was taken.
    private func send(_ text: String, to path: String) throws -> Bool {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        try #require(number >= 0)
        defer { close(number) }
        let bytes = Array(text.utf8)
        let count = withSocketAddress(path) {
            sendto(number, bytes, bytes.count, Int32(MSG_DONTWAIT), $0, $1)
        }
        return count == bytes.count
    }

    /// Reads what the tasks have said.
    private func read(_ daemon: Daemon) throws {
        _ = try daemon.scene.poll.poll()
        daemon.pool.readReady()
    }

    @Test("the path stays, and what is said between the two is heard by the second")
    func handOver() throws {
        let executor = try leave()
        let path = executor.path
        #expect(sockets == ["1"])
        let second = try daemon()
        #expect(sockets == ["1"])
        let found = try #require(take(executor, second))
        #expect(found.path == path && found.task == id)
        #expect(try send("STATUS=later", to: path))
        try read(second)
        #expect(found.hasMessage, "it waits until the begin of its task is told")
        second.pool.started(found)
        #expect(found.hasMessage)
        try read(second)
        #expect(!found.hasMessage)
        #expect(found.takeNotice()?.notice.status == "later")
        // The next has another path, and that of the first is not used twice.
        try give(second)
        #expect(sockets.count == 2 && sockets.contains("1"))
        second.pool.giveBack(found)
        #expect(sockets.count == 2)
    }

    @Test("with the last one that was taken over goes the folder")
    func stop() throws {
        let executor = try leave()
        let second = try daemon()
        try giveBack(executor, second)
        second.pool.close()
        #expect(!names(inFolder: folder.path).contains("socket.notify"))
    }

    /// Gives another task a socket.
    private func give(_ daemon: Daemon) throws {
        let next = try #require(daemon.pool.take(for: TaskID(rawValue: 3), of: owner))
        #expect(next.path != folder.path + "/socket.notify/1")
    }

    private func giveBack(_ kept: Kept, _ daemon: Daemon) throws {
        daemon.pool.giveBack(try #require(take(kept, daemon)))
    }

    /// Leaves what a daemon leaves that hands over: of two sockets the one that a task has.
    private func leave() throws -> Kept {
        let first = try daemon()
        let socket = try #require(first.pool.take(for: id, of: owner))
        first.pool.giveBack(try #require(first.pool.take(for: TaskID(rawValue: 2), of: owner)))
        first.pool.started(socket)
        let executor = try Kept(socket)
        #expect(sockets == ["1", "2"])
        first.pool.handOver()
        #expect(try send("STATUS=between", to: executor.path))
        // What the first does at its end takes nothing away any more.
        try read(first)
        first.pool.drain(socket)
        first.pool.giveBack(socket)
        first.pool.close()
        return executor
    }

    @Test("after a kill those that the executor has stay too, and no others")
    func killed() throws {
        let executor = try kill()
        #expect(sockets == ["1", "2"])
        let second = try daemon()
        #expect(sockets == ["1"])
        #expect(try send("STATUS=a", to: executor.path))
        let found = try #require(take(executor, second))
        #expect(found.path == executor.path)
    }

    @Test("it does not matter whether the folder is opened first")
    func order() throws {
        let executor = try kill()
        let second = try daemon(opens: false)
        let found = try #require(take(executor, second))
        try open(second.pool)
        #expect(sockets == ["1"])
        #expect(try send("STATUS=a", to: executor.path))
        second.pool.started(found)
        try read(second)
        #expect(found.takeNotice()?.notice.status == "a")
    }

    /// Leaves what a daemon leaves that is killed: two sockets, of which the executor has one.
    private func kill() throws -> Kept {
        let first = try daemon()
        let socket = try #require(first.pool.take(for: id, of: owner))
        let other = try #require(first.pool.take(for: TaskID(rawValue: 2), of: owner))
        let executor = try Kept(socket)
        for socket in [socket, other] {
            socket.leave()
            socket.unfollow(in: first.scene.poll)
        }
        return executor
    }

    @Test("what a task says before its begin is told waits for that, also where its start fails")
    func starting() throws {
        let daemon = try daemon()
        let socket = try #require(daemon.pool.take(for: id, of: owner))
        #expect(try send("STATUS=early", to: socket.path))
        for _ in 0..<3 { try read(daemon) }
        #expect(socket.hasMessage && socket.rests)
        daemon.pool.giveBack(socket)
        #expect(!socket.hasMessage && !socket.rests)
        let again = try #require(daemon.pool.take(for: TaskID(rawValue: 2), of: owner))
        #expect(again === socket)
        #expect(try send("STATUS=next", to: socket.path))
        daemon.pool.started(again)
        try read(daemon)
        #expect(again.takeNotice()?.notice.status == "next")
    }

    @Test("what is no such socket is not taken")
    func others() throws {
        let daemon = try daemon()
        func take(_ number: Int32) throws -> TaskNotifySocket? {
            try #require(number >= 0)
            return daemon.pool.takeOver(OwnedDescriptor(number), for: id, of: owner)
        }
        #expect(try take(Glibc.open("/dev/null", O_RDONLY)) == nil)
        #expect(try take(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)) == nil)
        #expect(try take(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)) == nil)
        #expect(try take(socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)) == nil)
    }
}
