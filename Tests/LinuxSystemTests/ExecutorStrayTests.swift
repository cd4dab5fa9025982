import CExecutor
import CLinux
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// Processes that leave the group of their command, and how bgtask-executor finds them.
    @Suite(.enabled(if: Kind.refusal == nil && geteuid() == 0, "another group needs root"))
    struct ExecutorStrayTests {
        private let peer: ExecutorPeer
        private let elsewhere: DelegatedGroup

        init() throws {
            peer = try ExecutorPeer()
            elsewhere = try DelegatedGroup()
        }

        /// A line of a script: its shell goes elsewhere.
        private var leave: String { "echo $$ >\(elsewhere.folder)/cgroup.procs" }

        /// Starts a command, and waits until it has written something.
        private func start(
            _ command: UInt64, _ script: String, until word: String = "ready"
        ) throws -> ExecutorPeer.Heard {
            #expect(
                try peer.start(command, ExecutorWork(script: script)) { $0.grace = 60_000_000_000 }
                    == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: command)
            var text = ""
            try started.read(into: &text, until: word)
            return started
        }

        private func left() throws -> [pid_t] { try elsewhere.processes().compactMap { pid_t($0) } }

        private static func name(_ record: executor_record) -> String {
            var record = record
            return withUnsafeBytes(of: &record.text) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
        }

        @Test("who has left is told of once, gets signals, and is killed with the command")
        func child() throws {
            let script = """
                sh -c '\(leave); trap "echo got" TERM; echo ready; while :; do sleep 0.05; done' &
                trap '' TERM; wait
                """
            let started = try start(1, script)
            let stray = try #require(left().first)
            let serial = try peer.order(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGTERM) }
            #expect(try peer.wait(EXECUTOR_DONE) { $0.record.serial == serial }.record.code == 0)
            let told = try peer.wait(EXECUTOR_LEFT).record
            #expect(told.command == 1 && told.number == 0)
            #expect(elsewhere.folder.hasSuffix(Self.name(told)))
            var text = ""
            try started.read(into: &text, until: "got")
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try left().isEmpty)
            #expect(kill(stray, 0) != 0)
            #expect(try !peer.list().contains { $0.kind == EXECUTOR_LEFT })
        }

        @Test("a command is over when those are that left it, whose parents are gone")
        func orphans() throws {
            let script = """
                for i in 1 2 3 4 5 6 7 8; do
                (sh -c 'echo one; \(leave); trap "" TERM; exec sleep 1000' &)
                done
                while [ $(wc -l <\(elsewhere.folder)/cgroup.procs) -lt 8 ]; do sleep 0.05; done
                echo ready; read line
                """
            let started = try start(1, script + "; exit 3")
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try left().isEmpty)
            #expect(try started.text().isEmpty)
            #expect(try peer.forget(1) == 0)
        }

        @Test("a command that has left its group itself gets signals, and is killed")
        func main() throws {
            let script = "\(leave); trap 'echo got' TERM; echo ready; while :; do sleep 0.05; done"
            let started = try start(1, script)
            let serial = try peer.order(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGTERM) }
            let answer = try peer.wait(EXECUTOR_DONE) { $0.record.serial == serial }.record
            #expect(answer.code == 0 && answer.number == 1)
            var text = ""
            try started.read(into: &text, until: "got")
            #expect(try peer.wait(EXECUTOR_LEFT).record.command == 1)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            #expect(try peer.wait(EXECUTOR_EXITED, of: 1).record.code == SIGKILL)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try left().isEmpty)
        }

        @Test("those who have left stand still with the command, and go on with it")
        func frozen() throws {
            let script = "sh -c '\(leave); echo ready; exec sleep 1000' & wait"
            _ = try start(1, script)
            let stray = try #require(left().first)
            func wait(_ isWished: (UInt8) -> Bool) throws {
                let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
                while true {
                    var processes = clx_processes()
                    defer { clx_processes_free(&processes) }
                    clx_processes_read(&processes)
                    let found = try #require(clx_processes_find(&processes, stray))
                    if isWished(UInt8(bitPattern: found.pointee.state)) { return }
                    guard MonotonicClock.now() < deadline else { throw TimedOut(events: []) }
                    poll(nil, 0, 1)
                }
            }
            // At once: a thaw may come before those are all known that were stopped.
            for _ in 0..<50 {
                #expect(try peer.code(EXECUTOR_FREEZE, 1) == 0)
                try wait { $0 == UInt8(ascii: "T") }
                #expect(try peer.code(EXECUTOR_THAW, 1) == 0)
                try wait { $0 != UInt8(ascii: "T") }
            }
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try left().isEmpty)
        }

        @Test("one of no command is killed, and told of")
        func nobody() throws {
            // Its user has no command, its parents are gone, and it has a session of its own.
            let become = "exec setsid setpriv --reuid=5 --regid=5 --clear-groups sleep 1000"
            let script = """
                (sh -c '\(leave); \(become)' &)
                until grep -qs sleep /proc/$(cat \(elsewhere.folder)/cgroup.procs)/comm
                do sleep 0.05; done; echo ready; read line
                """
            _ = try start(1, script)
            let told = try peer.wait(EXECUTOR_LEFT).record
            #expect(told.command == 0 && told.number == 5)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }

        @Test("told to end, it does when the last one is gone that has left")
        func exit() throws {
            _ = try start(1, "sh -c '\(leave); echo ready; exec sleep 1000' & wait")
            #expect(try peer.code(EXECUTOR_EXIT) == 0)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            #expect(peer.end() == 0)
            #expect(try left().isEmpty)
        }

        @Test("another command goes on while one with strays ends")
        func others() throws {
            let sleeper = "sh -c '\(leave); echo ready; exec sleep 1000' & wait"
            _ = try start(1, sleeper)
            _ = try start(2, sleeper)
            #expect(try left().count == 2)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try left().count == 1)
            #expect(try peer.code(EXECUTOR_FREEZE, 2) == 0)
            #expect(try peer.code(EXECUTOR_KILL, 2) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 2)
            #expect(try left().isEmpty)
        }
    }
}
