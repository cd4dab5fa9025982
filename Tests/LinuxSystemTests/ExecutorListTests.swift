import CExecutor
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// What a daemon finds that comes to an executor with commands.
    @Suite struct ExecutorListTests {
        private static func notes(_ record: executor_record) -> [UInt64] {
            var record = record
            return withUnsafeBytes(of: &record.notes) { Array($0.bindMemory(to: UInt64.self)) }
        }

        @Test(
            "who is welcome learns what the executor is, and sees the groups of its commands",
            .enabled(if: Kind.refusal == nil))
        func welcome() throws {
            let peer = try ExecutorPeer(patience: 7)
            let welcome = try #require(peer.welcome)
            #expect(welcome.record.pid == peer.processID)
            #expect(welcome.record.grace == 7_000_000_000)
            var record = welcome.record
            let version = withUnsafeBytes(of: &record.text) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            #expect(version == EXECUTOR_PROGRAM_VERSION)
            #expect(try peer.hello(grace: 5).record.grace == 5)
            #expect(try peer.hello().record.grace == 7_000_000_000)
            #expect(try peer.start(1, ExecutorWork("sleep", "1000")) == 0)
            let place = try peer.wait(EXECUTOR_STARTED, of: 1).record.place
            let group = openat(welcome.descriptors[0], "command-\(place)", O_RDONLY | O_DIRECTORY)
            #expect(group >= 0)
            close(group)
        }

        @Test(
            "what a daemon wants kept with a command is given to the next one",
            arguments: ExecutorPeer.Home.possible)
        func notes(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(
                try peer.start(1, ExecutorWork("sleep", "1000")) {
                    $0.notes = (1, 2, 3, 4, 5, 6, 7, .max)
                } == 0)
            let place = try peer.wait(EXECUTOR_STARTED, of: 1).record.place
            let first = try #require(peer.list().first).record
            #expect(Self.notes(first) == [1, 2, 3, 4, 5, 6, 7, .max] && first.place == place)
            // What is refused changes nothing.
            let wrong = try peer.code(EXECUTOR_SET_DEADLINES, 1) {
                ($0.number, $0.notes.0) = (1, 9)
            }
            #expect(wrong == EAGAIN)
            #expect(try peer.code(EXECUTOR_SET_DEADLINES, 1) { $0.notes.1 = 8 } == 0)
            let second = try #require(peer.list().first).record
            #expect(Self.notes(second) == [0, 8, 0, 0, 0, 0, 0, 0])
        }

        @Test(
            "a list tells all that is true of a command, told before or not",
            arguments: ExecutorPeer.Home.possible)
        func truths(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            var work = ExecutorWork(script: "trap '' TERM; echo ready; sleep 1000")
            work.handler = ["no-such-program"]
            _ = try peer.startReady(1, work)
            let now = UInt64(MonotonicClock.now())
            #expect(try peer.code(EXECUTOR_SET_DEADLINES, 1) { $0.handler_at = now } == 0)
            let over = try peer.wait(EXECUTOR_NOT_STARTED, of: 1)
            #expect(over.has(EXECUTOR_OF_HANDLER))
            #expect(
                try peer.code(EXECUTOR_SET_DEADLINES, 1) {
                    ($0.number, $0.limit_at) = (1, now)
                } == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try peer.start(2, ExecutorWork("sleep", "1000")) == 0)
            _ = try peer.wait(EXECUTOR_STARTED, of: 2)
            #expect(try peer.code(EXECUTOR_FREEZE, 2) == 0)
            _ = try peer.wait(EXECUTOR_FROZEN, of: 2)
            #expect(try peer.start(3, ExecutorWork("no-such-program")) == 0)
            _ = try peer.wait(EXECUTOR_NOT_STARTED, of: 3)
            for _ in 0..<2 {
                let list = try peer.list()
                func kinds(_ command: UInt64) -> [executor_kind] {
                    list.filter { $0.record.command == command }.map(\.kind)
                }
                #expect(
                    kinds(1) == [
                        EXECUTOR_ENTRY, EXECUTOR_HANDLER_FIRED, EXECUTOR_LIMIT_FIRED,
                        EXECUTOR_EXITED, EXECUTOR_NOT_STARTED, EXECUTOR_GONE,
                    ])
                #expect(kinds(2) == [EXECUTOR_ENTRY, EXECUTOR_FROZEN])
                #expect(kinds(3) == [EXECUTOR_ENTRY, EXECUTOR_NOT_STARTED])
                for heard in list.dropLast() {
                    let isNow = heard.record.moment >= now
                    #expect(isNow || heard.kind == EXECUTOR_ENTRY, "\(heard.kind.rawValue)")
                }
                peer.hangUp()
                try peer.connect()
            }
        }

        @Test(
            "an entry says whether a handler's command runs", arguments: ExecutorPeer.Home.possible)
        func handler(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            var work = ExecutorWork(script: "trap '' TERM; echo ready; sleep 1000")
            work.handler = ["sh", "-c", "echo handles; sleep 1000"]
            var (started, text) = try peer.startReady(1, work)
            #expect(
                try !#require(peer.list().first { $0.kind == EXECUTOR_ENTRY }).has(
                    EXECUTOR_HANDLER_RUNS))
            let now = UInt64(MonotonicClock.now())
            #expect(try peer.code(EXECUTOR_SET_DEADLINES, 1) { $0.handler_at = now } == 0)
            try started.read(into: &text, until: "handles")
            let entry = try #require(peer.list().first { $0.kind == EXECUTOR_ENTRY })
            #expect(entry.has(EXECUTOR_HANDLER_RUNS) && entry.descriptors.count == 2)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(
                try !#require(peer.list().first { $0.kind == EXECUTOR_ENTRY }).has(
                    EXECUTOR_HANDLER_RUNS))
        }

        @Test(
            "a list of many ends, whatever of them is forgotten meanwhile",
            arguments: ExecutorPeer.Home.possible)
        func forgotten(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let count: UInt64 = 600
            for command in 1...count {
                #expect(try peer.start(command, ExecutorWork("no-such-program")) == 0)
            }
            for command in 1...count { _ = try peer.wait(EXECUTOR_NOT_STARTED, of: command) }
            try peer.order(EXECUTOR_LIST)
            for command in stride(from: count, to: 1, by: -1) {
                try peer.order(EXECUTOR_FORGET, command) { $0.attempt = 1 }
                _ = try peer.wait(EXECUTOR_DONE)
            }
            _ = try peer.wait(EXECUTOR_LISTED)
            #expect(try peer.list().count == 3)
        }
    }
}
