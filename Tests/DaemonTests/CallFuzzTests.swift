import CallFuzz
import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// Calls made from the descriptions of the interfaces; `make fuzz-live` makes them for longer.
@Suite("Calls at the extremes and at random", .serialized)
struct CallFuzzTests {
    private static let settings = """
        queue.slots = 8
        queue.groups.fuzzed.slots = 2
        limits.queueDepthPerOwnerMax = 2000
        limits.endedHeldMax = 1000
        store.historyMax = 2000
        daemon.logLevel = "warning"
        """

    /// A daemon, and who calls it: an ordinary user beside another one, where the tests are root's.
    private struct Stage {
        let mode: ContainmentMode
        let daemon: DaemonProcess
        private let user: TestUser?
        private let other: TestUser?

        init(_ mode: ContainmentMode, in folder: TemporaryFolder? = nil) throws {
            self.mode = mode
            let isRoot = geteuid() == 0
            user = isRoot ? .games : nil
            other = isRoot ? .backup : nil
            daemon = try DaemonProcess(
                mode, settings: CallFuzzTests.settings,
                in: folder ?? (isRoot ? .passable() : TemporaryFolder()),
                arguments: isRoot ? ["--system"] : [])
        }

        func fuzz(seed: UInt64) -> CallFuzz {
            let (path, user) = (daemon.socketPath, user)
            return CallFuzz(seed: seed) {
                try? user.map { try $0.connect(to: path) } ?? RawConnection.connect(to: path)
            }
        }

        func connect() throws -> VarlinkClient {
            try user.map { try daemon.connect(as: $0) } ?? daemon.connect()
        }

        /// Says what the daemon said where it takes no connections any more.
        func reached(_ body: () throws -> Void) throws {
            do {
                try body()
            } catch {
                Issue.record("it runs: \(daemon.child.isRunning); it said:\n\(daemon.log)")
                throw error
            }
        }

        /// Expects that the daemon lives, and serves somebody else.
        func expectServed(after fuzz: CallFuzz, _ seed: UInt64) throws {
            let calls = (fuzz.surprises + fuzz.recent).joined(separator: "\n")
            let story = "seed \(seed):\n\(calls)\n\(daemon.log)"
            try #require(daemon.child.isRunning, "\(story)")
            #expect(fuzz.counts.surprises == 0, "\(story)")
            let client = try other.map { try daemon.connect(as: $0) } ?? daemon.connect()
            let id = try client.begin()
            #expect(try client.ask(Tasks.End.self) { $0.id = id }.outcome == .completed)
        }

        /// Ends what the calls have left.
        func clearAway() throws {
            let client = try connect()
            for application in try client.ask(Applications.List.self).applications
            where application.state != .notRunning {
                try client.order(Applications.Terminate.self, application.id)
            }
            try eventually("all tasks end") {
                let tasks = try client.ask(Tasks.List.self).tasks ?? []
                for task in tasks { _ = try? client.ask(Tasks.Cancel.self) { $0.id = task.id } }
                return tasks.isEmpty
            }
        }
    }

    @Test("a number just outside of its range is refused by its name, for each number of each call")
    func outside() throws {
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        for number in BoundedField.numbers {
            let range = try #require(number.field.range)
            let (below, noneBelow) = range.lowerBound.subtractingReportingOverflow(1)
            let (above, noneAbove) = range.upperBound.addingReportingOverflow(1)
            for outside in (noneBelow ? [] : [below]) + (noneAbove ? [] : [above]) {
                let text = try #require(SystematicCalls.text(of: number, String(outside)))
                try connection.send(frame: text)
                let reply = try #require(try connection.nextReply())
                #expect(RemoteError(reply).refuses(number.name), "\(text)")
            }
        }
        try daemon.connect().ask(SystemdService.Ping.self)
    }

    @Test(
        "a daemon takes every field at its extremes, random sequences and a kill between them",
        arguments: ContainmentMode.available)
    func extremes(mode: ContainmentMode) throws {
        let seed: UInt64 = 1
        let first = try Stage(mode)
        let before = DaemonUse(first.daemon)
        let fuzz = first.fuzz(seed: seed)
        try first.reached {
            try fuzz.callAtRandom(Effort.choose(1000, 20_000))
            try fuzz.callSystematically()
        }
        try first.expectServed(after: fuzz, seed)
        // How many are answered before the connection is given up is a matter of speed.
        #expect(fuzz.counts.answers["ok", default: 0] > 0, "\(fuzz.counts)")
        #expect(fuzz.counts.answers["not JSON"] == nil)
        fuzz.hangUp()
        try first.daemon.kill()

        let second = try Stage(mode, in: first.daemon.folder)
        let memory = Processes.status("VmRSS", of: second.daemon.processID)
        try second.reached { try fuzz.callAtRandom(Effort.choose(2000, 20_000)) }
        try second.expectServed(after: fuzz, seed)
        fuzz.hangUp()
        try second.clearAway()
        try eventually("descriptors are closed: \(before), \(DaemonUse(second.daemon))") {
            // Pools of groups, sockets and threads stay.
            DaemonUse(second.daemon).descriptors.count <= before.descriptors.count + 40
        }
        let growth = Processes.status("VmRSS", of: second.daemon.processID) - memory
        #expect(growth < 32 << 10, "grown by \(growth) KiB")
    }
}
