import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("What one owner gets of the log and of the room for output")
struct AllowanceTests {
    @Test("entries over the rate are left out, counted, and said")
    func entriesOverTheRate() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.auditRatePerOwnerMax = 5")
        let client = try daemon.connect()
        let countMax = 200
        for _ in 0..<countMax { _ = try client.call(Tasks.End.self, Tasks.End.Input()) }
        try daemon.waitForLog("Entries about a user's tasks were not logged")
        try eventually("all are logged or counted; the log says:\n\(daemon.log)") {
            let lines = daemon.log.split(separator: "\n")
            let logged = lines.count { $0.contains("The invalid task 0 was ended") }
            return logged + daemon.leftOut("were not logged") == countMax && logged < countMax
        }
    }

    @Test("lines of all tasks of an owner over the rate are left out, counted, and said")
    func linesOverTheRate() throws {
        // Each task's lines come in one read, and a second can only begin between two of them.
        let daemon = try DaemonProcess(.supervisor, settings: "limits.logRatePerOwnerMax = 10")
        let client = try daemon.connect()
        for _ in 0..<2 { _ = try client.ended(try client.submit(["seq", "1001", "1100"])) }
        try eventually("all are logged or counted; the log says:\n\(daemon.log)") {
            let lines = daemon.log.split(separator: "\n")
            let logged = lines.count { $0.contains("info 10") || $0.contains("info 1100 ") }
            return logged <= 20 && logged + daemon.leftOut("output were not logged") == 200
        }
    }

    @Test("that lines were left out is an entry about their owner, as others are")
    func notedLinesOverTheRate() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: """
                limits.logRatePerOwnerMax = 1
                limits.auditRatePerOwnerMax = 5
                queue.slots = 120
                """)
        let client = try daemon.connect()
        let countMax = 60
        let go = Go(daemon)
        // With one line of them in the log, each has others that it was spared.
        let tasks = try (0..<countMax).map { _ in try client.submit(go.command("seq 3")) }
        try go.give()
        for id in tasks { _ = try client.ended(id) }
        var said = 0
        try eventually("all are logged or counted; the log says:\n\(daemon.log)") {
            let lines = daemon.log.split(separator: "\n")
            said = lines.count { $0.contains("output were not logged") }
            let missed = daemon.leftOut("Entries about a user's tasks were not")
            let others = lines.count { $0.contains("Task ") && $0.contains("(test) ") }
            // Each has begun and ended too.
            return said + others + missed == 3 * countMax || said == countMax
        }
        #expect(said < countMax)
    }

    @Test(
        "another's many ended tasks take neither a task's outcome away nor its output",
        .enabled(if: geteuid() == 0))
    func forgetting() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "store.historyMax = 5\nstore.outputBytesMax = 0")
        let small = try daemon.connect(as: .backup)
        let kept = try small.submit(["echo", "kept"])
        _ = try small.ended(kept)
        let big = try daemon.connect(as: .games)
        let tasks = try (0..<20).map { _ in try big.submit(["echo", "much"]) }
        for id in tasks { try LeakTests.waitForEnd(of: id, on: big) }
        #expect(try small.show(kept).outcome == .completed)
        #expect(try daemon.text(of: kept, as: .backup) == "kept\n")
        // What memory has forgotten the disk may still know, but here no output.
        #expect(throws: (any Error).self) { try daemon.text(of: tasks[0], as: .games) }
        #expect(try daemon.text(of: tasks[19], as: .games) == "much\n")
    }

    @Test(
        "refused connections of one user are counted, and leave another's in the log",
        .enabled(if: geteuid() == 0))
    func refusals() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let countMax = 100
        for _ in 0..<countMax { try Self.breakProtocol(daemon, as: .games) }
        try Self.breakProtocol(daemon, as: .backup)
        try daemon.waitForLog("BGTASK_OWNER=34 ")
        try eventually("all are named or counted; the log says:\n\(daemon.log)") {
            let lines = daemon.log.split(separator: "\n").filter { $0.contains("BGTASK_OWNER=5 ") }
            let named = lines.count { $0.contains("broke the protocol") }
            let counted = daemon.leftOut("were not logged one by one", of: .games)
            return named < countMax && named + counted == countMax
        }
    }

    private static func breakProtocol(_ daemon: DaemonProcess, as user: TestUser) throws {
        let connection = try RawConnection(daemon, as: user)
        try connection.send(frame: "no call")
        _ = try connection.readToEnd()
    }

    @Test("what tasks of an owner print over their rate waits in their pipes, and all of it comes")
    func sharedOutputRate() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "limits.outputRatePerOwnerMax = 65536")
        let client = try daemon.connect()
        let tasks = try (0..<2).map { _ in try client.submit(["head", "-c", "230000", "/dev/zero"])
        }
        let ended = try tasks.map { try client.ended($0) }
        #expect(ended.map(\.outcome) == [.completed, .completed])
        for id in tasks {
            let pieces = try daemon.output(of: id)
            #expect(
                pieces.reduce(0) { $0 + $1.text.utf8.count + ($1.dropped ?? 0) } == 230_000)
        }
    }

    @Test(
        "ended output makes room for its own owner's, not for another's",
        .enabled(if: geteuid() == 0))
    func eviction() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor,
            settings: "limits.outputTotalBytesMax = 20000\nstore.outputBytesMax = 0")
        let small = try daemon.connect(as: .backup)
        let kept = try small.submit(["echo", "kept"])
        _ = try small.ended(kept)
        let big = try daemon.connect(as: .games)
        let tasks = try (0..<10).map { _ in try big.submit(["head", "-c", "6000", "/dev/zero"]) }
        for id in tasks { _ = try big.ended(id) }
        #expect(try daemon.text(of: kept, as: .backup) == "kept\n")
        #expect(try daemon.output(of: tasks[0], as: .games).compactMap(\.dropped) == [6000])
        #expect(try daemon.text(of: tasks[9], as: .games).utf8.count == 6000)
    }
}
