import CExecutor
import CLinux
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// bgtask-executor with real processes.
    @Suite struct ExecutorTests {
        @Test(
            "a command runs in a group of its own, and is told of until it is forgotten",
            arguments: ExecutorPeer.Home.possible)
        func course(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(
                try peer.start(
                    7, ExecutorWork(script: "cat /proc/self/cgroup; cat /proc/$PPID/comm; exit 3"))
                    == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 7)
            let exited = try peer.wait(EXECUTOR_EXITED, of: 7)
            #expect(exited.record.code == 3 && !exited.has(EXECUTOR_BY_SIGNAL))
            #expect(exited.record.pid == started.record.pid)
            #expect(exited.record.moment >= started.record.moment)
            let gone = try peer.wait(EXECUTOR_GONE, of: 7)
            #expect(gone.record.cpu_us > 0)
            let text = try started.text()
            let group = "/executor/command-\(started.record.place)\n"
            #expect(text.contains(group) == (home == .groups))
            #expect(text.hasSuffix("\nbgtask-superv\n") == (home == .supervisors))
            #expect((started.record.place != 0) == (home == .groups))
            #expect((started.record.supervisor != 0) == (home == .supervisors))
            #expect(try peer.start(7, ExecutorWork("true")) == EEXIST)
            #expect(try peer.code(EXECUTOR_FORGET, 7) { $0.attempt = 2 } == ESTALE)
            #expect(try peer.forget(7) == 0)
            #expect(try peer.forget(7) == ENOENT)
            #expect(try peer.start(7, ExecutorWork("true")) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 7)
        }

        @Test(
            "what cannot be started says at which step and why",
            arguments: ExecutorPeer.Home.possible)
        func notStarted(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(try peer.start(1, ExecutorWork("no-such-program")) == 0)
            let failed = try peer.wait(EXECUTOR_NOT_STARTED, of: 1).record
            #expect(failed.number == CLX_STAGE_EXEC.rawValue && failed.code == ENOENT)
            var work = ExecutorWork("true")
            work.directory = "/no/such/folder"
            #expect(try peer.start(2, work) == 0)
            let other = try peer.wait(EXECUTOR_NOT_STARTED, of: 2).record
            #expect(other.number == CLX_STAGE_DIRECTORY.rawValue && other.code == ENOENT)
            #expect(try peer.forget(1) == 0)
        }

        @Test(
            "a work that somebody could still change is not started",
            arguments: ExecutorPeer.Home.possible)
        func unsealed(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let folder = try TemporaryFolder()
            let bytes = ExecutorWork("true").bytes
            let file = open(folder.path + "/file", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(file) }
            #expect(write(file, bytes, bytes.count) == bytes.count)
            let code = try peer.code(EXECUTOR_START, 1, descriptors: [file]) {
                ($0.attempt, $0.number) = (1, 15)
            }
            #expect(code == 0)
            #expect(try peer.wait(EXECUTOR_NOT_STARTED, of: 1).record.code == EPERM)
        }

        @Test(
            "the handler runs and the limit kills while nobody reads what is told of it",
            arguments: ExecutorPeer.Home.possible)
        func times(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let now = UInt64(MonotonicClock.now())
            var work = ExecutorWork(
                script: "trap 'echo warned' TERM; echo ready; while :; do sleep 0.05; done")
            work.handler = ["echo", "handler"]
            let handlerAt = now + 300_000_000
            #expect(try peer.start(1, work) { $0.handler_at = handlerAt } == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1)
            // From here to its end nothing is taken from the socket.
            var text = ""
            try started.read(into: &text, until: "warned\n")
            try started.read(into: &text, until: "handler\n")
            let limitAt = UInt64(MonotonicClock.now()) + 100_000_000
            _ = try peer.order(EXECUTOR_SET_DEADLINES, 1) {
                ($0.number, $0.limit_at) = (1, limitAt)
            }
            let gone = try peer.wait(EXECUTOR_GONE, of: 1).record
            let handler = try peer.wait(EXECUTOR_HANDLER_FIRED, of: 1).record
            #expect(handler.number == 1 && handler.moment >= handlerAt)
            let limit = try peer.wait(EXECUTOR_LIMIT_FIRED, of: 1).record
            #expect(limit.moment >= limitAt && gone.moment >= limit.moment)
            let main = try peer.wait(EXECUTOR_EXITED, of: 1) { !$0.has(EXECUTOR_OF_HANDLER) }
            #expect(main.record.code == SIGKILL && main.has(EXECUTOR_BY_SIGNAL))
            let ran = try peer.wait(EXECUTOR_EXITED, of: 1) { $0.has(EXECUTOR_OF_HANDLER) }
            // A shell that has echoed may be killed before it ends.
            #expect(ran.record.code == 0 || ran.record.code == SIGKILL)
        }

        @Test(
            "a handler fires once though its limit is due in the same moment, and before it",
            arguments: ExecutorPeer.Home.possible)
        func sameTime(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let dueAt = UInt64(MonotonicClock.now()) + 300_000_000
            #expect(
                try peer.start(1, ExecutorWork(script: "sleep 60")) {
                    ($0.handler_at, $0.limit_at) = (dueAt, dueAt)
                } == 0)
            let handler = try peer.wait(EXECUTOR_HANDLER_FIRED, of: 1).record
            #expect(handler.number == 1 && handler.moment >= dueAt)
            let limit = try peer.wait(EXECUTOR_LIMIT_FIRED, of: 1).record
            #expect(limit.moment >= handler.moment)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }

        @Test(
            "each freeze and thaw is told once, by its answer or by what follows",
            arguments: ExecutorPeer.Home.possible)
        func freezes(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            _ = try peer.startReady(1, ExecutorWork(script: "echo ready; sleep 1000"))
            let orders = [EXECUTOR_FREEZE, EXECUTOR_FREEZE, EXECUTOR_THAW, EXECUTOR_THAW]
            for order in Array(repeating: orders, count: 10).joined() {
                let serial = try peer.order(order, 1)
                let answer = try peer.wait(EXECUTOR_DONE) { $0.record.serial == serial }.record
                #expect(answer.code == 0 && answer.number != EXECUTOR_FREEZE_UNKNOWN.rawValue)
                guard answer.number == EXECUTOR_FREEZE_FOLLOWS.rawValue else { continue }
                // A second one of the order before would say the opposite.
                let told = try peer.wait(EXECUTOR_FROZEN, of: 1)
                #expect(told.has(EXECUTOR_IS_FROZEN) == (order == EXECUTOR_FREEZE))
                #expect(told.record.code == 0)
            }
        }

        @Test(
            "what was asked to end is not frozen any more, and has its grace",
            arguments: ExecutorPeer.Home.possible)
        func drained(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let work = ExecutorWork(script: "trap '' TERM; echo ready; sleep 1000")
            _ = try peer.startReady(1, work, graceSeconds: 60)
            _ = try peer.order(EXECUTOR_DRAIN)
            #expect(try peer.code(EXECUTOR_FREEZE, 1) == ECANCELED)
            _ = try peer.wait(EXECUTOR_HANDLER_FIRED, of: 1)
            #expect(try peer.code(EXECUTOR_THAW, 1) == 0)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }

        @Test(
            "a daemon that does not know of a handler yet does not set its times",
            arguments: ExecutorPeer.Home.possible)
        func deadlines(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let work = ExecutorWork(script: "trap '' TERM; echo ready; sleep 1000")
            _ = try peer.startReady(1, work)
            let now = UInt64(MonotonicClock.now())
            #expect(try peer.code(EXECUTOR_SET_DEADLINES, 1) { $0.handler_at = now } == 0)
            #expect(try peer.wait(EXECUTOR_HANDLER_FIRED, of: 1).record.number == 1)
            #expect(try peer.code(EXECUTOR_SET_DEADLINES, 1) { $0.handler_at = now } == EAGAIN)
            // Never a second one, unless it is asked for.
            #expect(
                try peer.code(EXECUTOR_SET_DEADLINES, 1) {
                    ($0.number, $0.handler_at) = (1, now)
                } == 0)
            #expect(
                try peer.code(EXECUTOR_SET_DEADLINES, 1) {
                    ($0.number, $0.handler_at) = (1, now)
                    $0.flags = EXECUTOR_HANDLER_AGAIN.rawValue
                } == 0)
            #expect(try peer.wait(EXECUTOR_HANDLER_FIRED, of: 1).record.number == 2)
            #expect(
                try peer.code(EXECUTOR_SET_DEADLINES, 1) {
                    ($0.number, $0.limit_at) = (2, now)
                } == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try peer.code(EXECUTOR_SET_DEADLINES, 1) { $0.number = 2 } == ESRCH)
        }

        @Test(
            "commands go on without a daemon, and the next one has all of them with their output",
            arguments: ExecutorPeer.Home.possible)
        func handOver(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let script = "head -c 200000 /dev/zero | tr '\\0' x; echo done"
            #expect(try peer.start(1, ExecutorWork(script: script)) == 0)
            #expect(try peer.start(2, ExecutorWork(script: "echo out; echo err >&2; exit 4")) == 0)
            let pid = try peer.wait(EXECUTOR_STARTED, of: 1).record.pid
            _ = try peer.wait(EXECUTOR_STARTED, of: 2)
            peer.hangUp()
            try peer.connect()
            let list = try peer.order(EXECUTOR_LIST)
            let first = try peer.wait(EXECUTOR_ENTRY, of: 1)
            let second = try peer.wait(EXECUTOR_ENTRY, of: 2)
            let listed = try peer.wait(EXECUTOR_LISTED).record
            #expect(listed.serial == list && listed.number == 2)
            #expect(first.has(EXECUTOR_HAS_STARTED) && first.record.pid == pid)
            // A full pipe waits for its next reader.
            var text = ""
            try first.read(into: &text, until: "done\n")
            #expect(text == String(repeating: "x", count: 200_000) + "done\n")
            #expect(try peer.wait(EXECUTOR_EXITED, of: 1).record.code == 0)
            if !second.has(EXECUTOR_IS_GONE) { _ = try peer.wait(EXECUTOR_GONE, of: 2) }
            #expect(try second.text() == "out\n" && second.text(1) == "err\n")
        }

        @Test(
            "where no daemon comes back each command has its handler and its grace",
            arguments: ExecutorPeer.Home.possible)
        func alone(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home, patience: 0)
            let script = "trap 'echo warned; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
            var (started, text) = try peer.startReady(
                1, ExecutorWork(script: script), graceSeconds: 60)
            peer.hangUp()
            try started.read(into: &text, until: "warned")
            try peer.connect()
            try peer.order(EXECUTOR_LIST)
            let entry = try peer.wait(EXECUTOR_ENTRY, of: 1)
            #expect(entry.record.number == 1)
            if !entry.has(EXECUTOR_IS_GONE) { _ = try peer.wait(EXECUTOR_GONE, of: 1) }
        }

        @Test(
            "a frozen command stays frozen without a daemon, and a signal thaws it",
            arguments: ExecutorPeer.Home.possible)
        func frozen(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(try peer.start(1, ExecutorWork("sleep", "1000")) == 0)
            _ = try peer.wait(EXECUTOR_STARTED, of: 1)
            #expect(try peer.code(EXECUTOR_FREEZE, 1) == 0)
            #expect(try peer.wait(EXECUTOR_FROZEN, of: 1).has(EXECUTOR_IS_FROZEN))
            peer.hangUp()
            try peer.connect()
            try peer.order(EXECUTOR_LIST)
            #expect(try peer.wait(EXECUTOR_ENTRY, of: 1).has(EXECUTOR_IS_FROZEN))
            let serial = try peer.order(EXECUTOR_SIGNAL, 1) { $0.number = UInt32(SIGTERM) }
            let answer = try peer.wait(EXECUTOR_DONE) { $0.record.serial == serial }.record
            #expect(answer.code == 0 && answer.number == (home == .groups ? 1 : 0))
            #expect(try peer.wait(EXECUTOR_EXITED, of: 1).record.code == SIGTERM)
        }

        @Test(
            "a handler's command that begins in a frozen one goes on with it",
            arguments: ExecutorPeer.Home.possible)
        func frozenHandler(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            var work = ExecutorWork("sleep", "1000")
            work.handler = ["echo", "handles"]
            // No signal, which would thaw it.
            #expect(try peer.start(1, work) { $0.number = 0 } == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1)
            #expect(try peer.code(EXECUTOR_FREEZE, 1) == 0)
            #expect(try peer.wait(EXECUTOR_FROZEN, of: 1).has(EXECUTOR_IS_FROZEN))
            let now = UInt64(MonotonicClock.now())
            #expect(try peer.code(EXECUTOR_SET_DEADLINES, 1) { $0.handler_at = now } == 0)
            _ = try peer.wait(EXECUTOR_HANDLER_FIRED, of: 1)
            #expect(try #require(peer.list().first).has(EXECUTOR_IS_FROZEN))
            #expect(try peer.code(EXECUTOR_THAW, 1) == 0)
            #expect(try !peer.wait(EXECUTOR_FROZEN, of: 1).has(EXECUTOR_IS_FROZEN))
            let ended = try peer.wait(EXECUTOR_EXITED, of: 1)
            #expect(ended.has(EXECUTOR_OF_HANDLER) && ended.record.code == 0)
            #expect(try started.text() == "handles\n")
        }

        @Test(
            "the daemonized are in the group, and end with it",
            arguments: ExecutorPeer.Home.possible)
        func daemonized(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(try peer.start(1, ExecutorWork(script: "setsid sleep 1000 & exit 0")) == 0)
            #expect(try peer.wait(EXECUTOR_EXITED, of: 1).record.code == 0)
            #expect(try peer.forget(1) == EBUSY)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try peer.forget(1) == 0)
        }

        @Test(
            "who sends what is no order is hung up on, and what runs goes on",
            arguments: ExecutorPeer.Home.possible)
        func hostile(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            #expect(try peer.start(1, ExecutorWork("sleep", "1000")) == 0)
            _ = try peer.wait(EXECUTOR_STARTED, of: 1)
            for bytes in [
                [0], [UInt8](repeating: 0x55, count: 192), [UInt8](repeating: 0, count: 4096),
            ] {
                peer.send(bytes)
                #expect(try peer.isHungUp())
                peer.hangUp()
                try peer.connect()
            }
            #expect(try peer.code(EXECUTOR_START, 2) { ($0.attempt, $0.number) = (1, 15) } == EBADF)
            #expect(try peer.code(EXECUTOR_KILL, 3) == ENOENT)
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
        }

        @Test(
            "at its own end each command has its handler, and the next one tells how all have ended",
            arguments: ExecutorPeer.Home.possible)
        func stop(home: ExecutorPeer.Home) throws {
            let peer = try ExecutorPeer(home)
            let script = "trap 'echo warned; exit 6' TERM; echo ready; while :; do sleep 0.05; done"
            #expect(
                try peer.start(1, ExecutorWork(script: script)) { $0.grace = 60_000_000_000 } == 0)
            #expect(try peer.start(2, ExecutorWork("no-such-program")) == 0)
            #expect(try peer.start(3, ExecutorWork("true")) == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1)
            var text = ""
            try started.read(into: &text, until: "ready")
            _ = try peer.wait(EXECUTOR_NOT_STARTED, of: 2)
            _ = try peer.wait(EXECUTOR_GONE, of: 3)
            #expect(try peer.forget(3) == 0)
            kill(peer.processID, SIGTERM)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try peer.isHungUp())
            #expect(try (text + started.text()).contains("warned"))

            for _ in 0..<2 {
                try peer.restart()
                try peer.order(EXECUTOR_LIST)
                let ended = try peer.wait(EXECUTOR_ENTRY, of: 1)
                #expect(ended.record.code == 6 && ended.record.number == 1)
                #expect(ended.has(EXECUTOR_IS_GONE) && ended.has(EXECUTOR_HAS_EXITED))
                let failed = try peer.wait(EXECUTOR_ENTRY, of: 2)
                #expect(failed.record.code == ENOENT && failed.has(EXECUTOR_HAS_FAILED))
                #expect(try peer.wait(EXECUTOR_LISTED).record.number == 2)
                #expect(try peer.start(1, ExecutorWork("true")) == EEXIST)
                kill(peer.processID, SIGTERM)
                #expect(try peer.isHungUp())
            }
            try peer.restart()
            #expect(try peer.forget(1) == 0 && peer.forget(2) == 0)
            kill(peer.processID, SIGTERM)
            #expect(try peer.isHungUp())
            try peer.restart()
            try peer.order(EXECUTOR_LIST)
            #expect(try peer.wait(EXECUTOR_LISTED).record.number == 0)
        }
    }
}
