import Glibc
import TaskAPI
import Testing
import Varlink

/// What one user has left in the history makes room for the others where the disk is full.
@Suite(
    "The history on a full disk", .serialized,
    .enabled(
        if: SmallDisk.refusal == nil, "no file system can be mounted: \(SmallDisk.refusal ?? "")"))
struct FullDiskHistoryTests {
    /// In base64 it takes a third more, and moves from one table to another at the end.
    private static let input = Base64Text.of(zeros: 1 << 20)

    /// What the disk has after a kill -9 is all that was acknowledged.
    private func expectKept(_ ids: [Int], _ daemon: DaemonProcess) throws {
        try daemon.kill()
        let next = try start(in: daemon.folder)
        let client = try next.connect(as: .backup)
        for id in ids { try #require(try client.show(id).state == .queued) }
    }

    private func start(in folder: TemporaryFolder) throws -> DaemonProcess {
        chmod(folder.path, 0o711)
        return try DaemonProcess(.supervisor, in: folder, arguments: ["--system"])
    }

    /// A disk with a daemon of everybody, one of whose users has a task that has ended.
    private func begin() throws -> (SmallDisk, DaemonProcess, own: VarlinkClient, ended: Int) {
        let disk = try SmallDisk(megabytes: 24)
        let daemon = try start(in: disk.folder)
        let own = try daemon.connect(as: .backup)
        let ended = try own.submit(["true"])
        #expect(try own.ended(ended).outcome == .completed)
        return (disk, daemon, own, ended)
    }

    /// Submits a command that does not start, and takes some bytes.
    private func submitLater(_ client: VarlinkClient, bytes: Int = 0) throws(ClientError) -> Int {
        try submitLater(client) {
            $0.environment = ["A": String(repeating: "x", count: bytes)]
        }
    }

    /// The same for any work; again where the disk has not answered for long, as on a machine with too much to do.
    private func submitLater(
        _ client: VarlinkClient, after earliestBegin: Int = 3_600_000,
        _ fill: (inout Tasks.Work) -> Void
    ) throws(ClientError) -> Int {
        while true {
            do throws(ClientError) {
                return try client.submit(["true"]) {
                    $0.earliestBeginMs = earliestBegin
                    fill(&$0)
                }
            } catch {
                guard case .remote(let refusal) = error, "\(refusal)".contains(Self.slowness) else {
                    throw error
                }
                poll(nil, 0, 50)
            }
        }
    }

    private static let slowness = "the disk has not answered"

    /// What the log says of tasks that could not be stored, but for want of an answer.
    private func refusals(_ daemon: DaemonProcess) -> [Substring] {
        daemon.log.split(separator: "\n").filter {
            $0.contains("tasks cannot be stored") && !$0.contains(Self.slowness)
        }
    }

    @Test("inputs of one user that come and go leave room for all submissions of another")
    func inputs() throws {
        let (disk, daemon, own, ended) = try begin()
        let heavy = try daemon.connect(as: .games)
        for _ in 0..<20 {
            let id = try submitLater(heavy) { $0.input = Self.input }
            _ = try heavy.ask(Tasks.Cancel.self) { $0.id = id }
        }
        let ids = try (0..<60).map { _ in try submitLater(own) }
        #expect(refusals(daemon) == [])
        #expect(try own.ask(Tasks.History.self).tasks?.map(\.id) == [ended])
        try expectKept(ids, daemon)
        withExtendedLifetime(disk) {}
    }

    @Test("on a disk that others have filled the oldest of who has most goes, and no other")
    func filled() throws {
        let (disk, daemon, own, ended) = try begin()
        let heavy = try daemon.connect(as: .games)
        var left: [Int] = []
        for number in 0..<40 {
            let id = try submitLater(heavy, after: 3_600_000 + number) {
                $0.input = String(Self.input.prefix(100_000))
            }
            _ = try heavy.ask(Tasks.Cancel.self) { $0.id = id }
            left.append(id)
        }
        try disk.fill()
        let ids = try (0..<60).map { _ in try submitLater(own, bytes: 50_000) }
        #expect(refusals(daemon) == [])
        try daemon.waitForLog("ended tasks are forgotten, since the disk is full")
        let kept = try heavy.ask(Tasks.History.self).tasks?.map(\.id) ?? []
        #expect(kept.count < 40)
        #expect(kept == left.suffix(kept.count).reversed())
        #expect(try own.ask(Tasks.History.self).tasks?.map(\.id) == [ended])
        disk.makeRoom()
        try expectKept(ids, daemon)
    }

    @Test("where nothing is left to let go a submission is refused, and taken when there is room")
    func nothingLeft() throws {
        let disk = try SmallDisk(megabytes: 24)
        let daemon = try start(in: disk.folder)
        let client = try daemon.connect(as: .backup)
        try disk.fill()
        var (ids, refusal): ([Int], RemoteError?) = ([], nil)
        while refusal == nil, ids.count < 1000 {
            do throws(ClientError) {
                ids.append(try submitLater(client, bytes: 50_000))
            } catch .remote(let error) {
                refusal = error
            }
        }
        #expect(refusal?.name == Tasks.NotAccepting.name)
        disk.makeRoom()
        try daemon.waitForLog("tasks are stored again")
        try expectKept(ids + [submitLater(client)], daemon)
    }
}

/// Text as `Work.input` wants it.
private enum Base64Text {
    static func of(zeros count: Int) -> String {
        String(repeating: "AAAA", count: count / 3) + ["", "AA==", "AAA="][count % 3]
    }
}
