import CExecutor
import CLinux
import Glibc
import LinuxSystem
import TestKit
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
            #expect(!isAlive(stray))
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

        /// Those that read for the executor what /proc says of strays.
        private func readers() throws -> [clx_process] {
            var processes = clx_processes()
            defer { clx_processes_free(&processes) }
            try #require(clx_processes_read(&processes) == 0)
            clx_processes_keep_descendants(&processes, peer.processID, nil, 0)
            return UnsafeBufferPointer(start: processes.entries, count: processes.count).filter {
                (try? contents(of: "/proc/\($0.pid)/comm")) == "bgtask-reader\n"
            }
        }

        @Test("where those who read of strays are held up, others take over, and are ended again")
        func heldReaders() throws {
            for round in UInt64(1)...3 {
                _ = try start(round, "sh -c '\(leave); echo ready; exec sleep 1000' & wait")
                let held = try readers()
                // There is none before there is something to read.
                #expect(held.count == (round == 1 ? 0 : 1))
                for reader in held { kill(reader.pid, SIGSTOP) }
                #expect(try peer.code(EXECUTOR_KILL, round) == 0)
                _ = try peer.wait(EXECUTOR_GONE, of: round)
                #expect(try left().isEmpty)
                #expect(
                    try readers().contains { reader in !held.contains { $0.pid == reader.pid } })
                for reader in held { kill(reader.pid, SIGCONT) }
                try waitUntil { (try? readers().count) == 1 }
            }
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

        /// How often the executor has read something.
        private func reads() throws -> Int {
            try #require(ProcessStat.readCount(contents(of: "/proc/\(peer.processID)/io")))
        }

        @Test("what others leave behind is not gone through at each end, and none waits for it")
        func crowd() throws {
            let (crowd, ends) = (600, 40)
            let child = try builtProgram("process-test-child")
            _ = try peer.startReady(1, ExecutorWork(child, "orphans", "\(crowd)", "5"))
            let before = try reads()
            for command in 2..<UInt64(2 + ends) {
                var work = ExecutorWork("true")
                work.user = OtherUser.backup.user
                #expect(try peer.start(command, work) == 0)
                _ = try peer.wait(EXECUTOR_GONE, of: command)
                #expect(try peer.forget(command) == 0)
            }
            // One look at all of them alone is more.
            #expect(try (reads() - before) / ends < crowd)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }

        @Test("among many orphans too, who has left is killed before the end of a command")
        func crowdWithStray() throws {
            let child = try builtProgram("process-test-child")
            _ = try peer.startReady(1, ExecutorWork(child, "orphans", "600", "5"))
            for command in 2..<UInt64(12) {
                let script = """
                    (sh -c '\(leave); exec sleep 1000' &)
                    until grep -q . \(elsewhere.folder)/cgroup.procs; do sleep 0.05; done; echo ready
                    """
                _ = try start(command, script)
                _ = try peer.wait(EXECUTOR_GONE, of: command)
                #expect(try left().isEmpty)
            }
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }

        @Test(
            "who was seen with a command, and leaves before its end, is not taken for seen after that"
        )
        func leavesLate() throws {
            func start(
                _ command: UInt64, _ user: LaunchRequest.User, _ work: ExecutorWork
            ) throws -> (started: ExecutorPeer.Heard, text: String) {
                var work = work
                work.user = user.user
                return try peer.startReady(command, work)
            }
            func count(_ command: UInt64) throws {
                #expect(try peer.start(command, ExecutorWork("true")) == 0)
                _ = try peer.wait(EXECUTOR_GONE, of: command)
            }
            let child = try builtProgram("process-test-child")
            let script = "sh -c 'sleep 1000 & echo $!'; echo ready; exec sleep 1000"
            let leaver = try start(1, OtherUser.backup, ExecutorWork(script: script))
            // They are counted at this end, and at the next one it is known that there are many.
            try count(2)
            _ = try start(3, OtherUser.games, ExecutorWork(child, "orphans", "600", "0"))
            try count(4)
            let orphan = try #require(leaver.text.split(separator: "\n").first.map(String.init))
            try elsewhere.enter(orphan)
            kill(leaver.started.record.pid, SIGKILL)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            let told = try peer.wait(EXECUTOR_LEFT, of: 0)
            #expect("\(told.record.pid)" == orphan)
            #expect(try peer.code(EXECUTOR_KILL, 3) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 3)
        }

        /// Starts a command that has left, and is another process every so many milliseconds, beside one that makes looks at all
        /// processes slow.
        private func startHydra(_ milliseconds: Int) throws {
            let child = try builtProgram("process-test-child")
            _ = try peer.startReady(200, ExecutorWork(child, "orphans", "1200", "3"))
            let work = ExecutorWork(child, "hydra", elsewhere.folder, "\(milliseconds)")
            #expect(try peer.start(1, work) { $0.grace = 60_000_000_000 } == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1)
            var text = ""
            try started.read(into: &text, until: "ready")
        }

        @Test("who forks and ends all the time is killed where it lives", arguments: [0, 5])
        func hydra(milliseconds: Int) throws {
            try startHydra(milliseconds)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try left().isEmpty)
            #expect(try peer.code(EXECUTOR_KILL, 200) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 200)
            let events = try contents(of: elsewhere.folder + "/cgroup.events")
            #expect(events == "populated 0\nfrozen 0\n")
        }

        @Test("one that dies in the group of a command that is over has left no other command")
        func dying() throws {
            for round in 1...UInt64(20) {
                let (over, next) = (2 * round, 2 * round + 1)
                let script = "for i in $(seq 100); do sleep 1000 & done; echo ready; wait"
                _ = try peer.startReady(over, ExecutorWork(script: script))
                #expect(try peer.code(EXECUTOR_KILL, over) == 0)
                _ = try peer.wait(EXECUTOR_GONE, of: over)
                _ = try peer.start(next, ExecutorWork("sleep", "1000"))
                _ = try peer.wait(EXECUTOR_STARTED, of: next)
                // It is looked at all that is below.
                #expect(try peer.code(EXECUTOR_FREEZE, next) == 0)
                _ = try peer.wait(EXECUTOR_FROZEN, of: next)
                #expect(try peer.code(EXECUTOR_KILL, next) == 0)
                _ = try peer.wait(EXECUTOR_GONE, of: next)
            }
            #expect(try peer.list().allSatisfy { $0.kind != EXECUTOR_LEFT })
        }

        @Test("a group in which somebody else lives is left alone, and no end is told too early")
        func company() throws {
            let guest = try Guest(in: elsewhere.folder)
            try startHydra(0)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_EXITED, of: 1)
            // Others come and go meanwhile.
            for command in 2..<UInt64(32) {
                #expect(try peer.start(command, ExecutorWork("true")) == 0)
                _ = try peer.wait(EXECUTOR_GONE, of: command)
            }
            #expect(guest.isAlive)
            // It may have been found all the same.
            guest.leave()
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try left().isEmpty)
        }

        /// A process of nobody's in a group.
        private final class Guest {
            private let process: pid_t

            init(in folder: String) throws {
                let words = ["sleep", "1000"]
                var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
                defer { for pointer in pointers { free(pointer) } }
                var process: pid_t = 0
                try #require(posix_spawnp(&process, "sleep", nil, nil, &pointers, environ) == 0)
                self.process = process
                let file = try OwnedDescriptor.open(folder + "/cgroup.procs", flags: O_WRONLY)
                let text = Array("\(process)".utf8)
                try #require(write(file.rawValue, text, text.count) == text.count)
            }

            var isAlive: Bool { waitpid(process, nil, WNOHANG) == 0 }

            func leave() {
                kill(process, SIGKILL)
                waitpid(process, nil, 0)
            }

            deinit { leave() }
        }

        @Test(
            "neither the executor's own group nor that above those of commands is a place to hide",
            arguments: ["executor", "commands/hideout"])
        func hideout(name: String) throws {
            let service = try DelegatedGroup("service")
            let peer = try ExecutorPeer(service: .init(group: service.folder))
            // Beside the executor, and what closes, removes and reads for it.
            func hidden() throws -> [String] {
                try service.processes(in: "/" + name).filter {
                    let comm = try? contents(of: "/proc/\($0)/comm")
                    return comm?.hasPrefix("bgtask-") == false
                }
            }
            let folder = "\(service.folder)/\(name)"
            let script = """
                mkdir -p \(folder); echo $$ >\(folder)/cgroup.procs; (setsid sleep 1000 &)
                until grep -qs sleep $(sed 's|.*|/proc/&/comm|' \(folder)/cgroup.procs)
                do sleep 0.05; done; echo ready; exec sleep 1000
                """
            let code = try peer.start(1, ExecutorWork(script: script))
            #expect(code == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1)
            var text = ""
            try started.read(into: &text, until: "ready")
            #expect(try hidden().count == 2)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try hidden() == [])
        }
    }
}
