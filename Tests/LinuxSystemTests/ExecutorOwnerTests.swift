import CExecutor
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// Whose the commands are, and what becomes of what a daemon has ordered that is gone.
    @Suite struct ExecutorOwnerTests {
        private static func instance(_ peer: ExecutorPeer) -> [UInt64] {
            guard let words = peer.welcome?.record.instance else { return [] }
            return [words.0, words.1]
        }

        @Test(
            "nobody else is welcome while commands of one owner are not forgotten",
            arguments: ExecutorPeer.Home.possible)
        func busy(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let first = Self.instance(peer)
            #expect(try peer.start(1, ExecutorWork("true")) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            peer.hangUp()
            try peer.connect()
            #expect(Self.instance(peer) == first)
            peer.hangUp()
            try refuses(peer, owner: (3, 4))
            peer.owner = (1, 2)
            try peer.connect()
            #expect(try peer.forget(1) == 0)
            peer.hangUp()
            peer.owner = (3, 4)
            try peer.connect()
            #expect(Self.instance(peer) != first)
        }

        /// Another owner is told to go, and is hung up on.
        private func refuses(_ peer: ExecutorPeer, owner: (UInt64, UInt64)) throws {
            peer.owner = owner
            try peer.dial()
            let answer = try peer.hello()
            #expect(answer.kind == EXECUTOR_DONE && answer.record.code == EBUSY)
            #expect(try peer.isHungUp())
            peer.hangUp()
        }

        @Test(
            "who does not come back in time keeps the next owner out no more",
            arguments: ExecutorPeer.Home.possible)
        func givenUp(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(try peer.start(1, ExecutorWork("sleep", "1000")) == 0)
            _ = try peer.wait(EXECUTOR_STARTED, of: 1)
            // A millisecond: what runs is ended then, and is over before it is forgotten.
            #expect(try peer.hello(grace: 1_000_000).kind == EXECUTOR_WELCOME)
            peer.hangUp()
            peer.owner = (3, 4)
            let end = MonotonicClock.now() + 120_000_000_000
            repeat {
                peer.hangUp()
                try peer.dial()
                try #require(MonotonicClock.now() < end)
            } while try peer.hello().kind != EXECUTOR_WELCOME
            #expect(try peer.list().map(\.kind) == [EXECUTOR_LISTED])
            #expect(try peer.start(1, ExecutorWork("true")) == 0)
        }

        @Test("one who is connected keeps another owner out, also without commands")
        func served() throws {
            let peer = try ExecutorPeer()
            let connection = peer.leave()
            try refuses(peer, owner: (3, 4))
            peer.goOn(connection)
            #expect(try peer.start(1, ExecutorWork("true")) == 0)
        }

        @Test(
            "who does not own the commands, or says nothing, takes no daemon's place",
            arguments: ExecutorPeer.Home.possible)
        func candidates(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(try peer.start(1, ExecutorWork("sleep", "1000")) == 0)
            let connection = peer.leave()
            try peer.dial()
            let silent = peer.leave()
            defer { close(silent) }
            try refuses(peer, owner: (3, 4))
            peer.goOn(connection)
            peer.owner = (1, 2)
            #expect(try peer.code(EXECUTOR_THAW, 1) == 0)
            // Its own successor does, who was there before it left.
            let old = peer.leave()
            try peer.connect()
            #expect(try peer.code(EXECUTOR_THAW, 1) == 0)
            peer.goOn(old)
            #expect(try peer.isHungUp())
        }

        @Test(
            "ends that were kept on disk have their owner and their moments",
            arguments: ExecutorPeer.Home.possible)
        func restored(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let work = ExecutorWork("true")
            #expect(try peer.start(1, work) { $0.notes = (1, 2, 3, 4, 5, 6, 7, 8) } == 0)
            let gone = try peer.wait(EXECUTOR_GONE, of: 1).record
            kill(peer.processID, SIGTERM)
            let owner = peer.owner
            #expect(try peer.isHungUp())
            try peer.restart()
            let list = try peer.list()
            #expect(list.map(\.kind).contains(EXECUTOR_EXITED))
            #expect(list.first?.record.notes.7 == 8)
            #expect(list.first { $0.kind == EXECUTOR_GONE }?.record.moment == gone.moment)
            peer.hangUp()
            peer.owner = (3, 4)
            try peer.dial()
            #expect(try peer.hello().record.code == EBUSY)
            peer.hangUp()
            peer.owner = owner
            try peer.connect()
            #expect(try peer.forget(1) == 0)
            // Nothing is left on disk of what was forgotten.
            kill(peer.processID, SIGKILL)
            try peer.restart()
            #expect(try peer.list().count == 1)
        }

        @Test(
            "what a daemon has ordered before its end is obeyed, read or not",
            arguments: [true, false], ExecutorPeer.Home.possible)
        func unread(_ hasEnded: Bool, home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let file = ExecutorWork("sleep", "1000").file()
            defer { close(file) }
            // An answer that nobody reads makes the end of the connection an error.
            try peer.order(EXECUTOR_KILL, 9)
            try peer.waitForWord()
            try peer.suspend()
            for command in UInt64(1)...100 {
                try peer.order(EXECUTOR_START, command, descriptors: [file]) {
                    ($0.attempt, $0.number) = (1, 15)
                }
            }
            let old = peer.leave()
            if hasEnded { close(old) }
            defer { if !hasEnded { close(old) } }
            try peer.dial()
            peer.resume()
            let welcome = try peer.hello()
            #expect(welcome.kind == EXECUTOR_WELCOME && welcome.record.number == 100)
        }

        @Test(
            "told to, it ends when no command runs, and starts none",
            arguments: ExecutorPeer.Home.possible)
        func exit(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(try peer.start(1, ExecutorWork("sleep", "1000")) == 0)
            _ = try peer.wait(EXECUTOR_STARTED, of: 1)
            #expect(try peer.code(EXECUTOR_EXIT) == 0)
            #expect(try peer.start(2, ExecutorWork("true")) == ECANCELED)
            peer.hangUp()
            // Who comes back takes that back.
            try peer.connect()
            #expect(try peer.start(2, ExecutorWork("true")) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 2)
            #expect(try peer.code(EXECUTOR_EXIT) == 0)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(peer.end() == 0)
            try peer.restart()
            #expect(try peer.list().count { $0.kind == EXECUTOR_ENTRY } == 2)
        }
    }
}
