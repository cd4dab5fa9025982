import BudgetCore
import Glibc
import TaskStore
import TestKit
import Testing

@Suite("The output of ended tasks on disk")
struct OutputDatabaseTests {
    private let folder: Folder
    private var path: String { folder.path + "/output.db" }

    init() throws {
        folder = try Folder()
    }

    private func open(first: UInt64 = 1_000_000) throws -> OutputDatabase {
        try OutputDatabase(path: path, first: TaskID(rawValue: first))
    }

    /// An output of so many bytes, some of each stream, in chunks that are full but for the last.
    private static func output(
        _ id: UInt64, owner: UInt32 = 1000, bytes: Int, droppedBytes: Int = 0
    ) -> StoredOutput {
        let most = StoredOutput.Chunk.byteCountMax
        let chunks = stride(from: 0, to: bytes, by: most).map { start in
            let count = min(most, bytes - start)
            let half = UInt16(count / 2)
            let last = UInt16(count) | 0x8000
            return StoredOutput.Chunk(
                start: droppedBytes + start,
                text: (0..<count).map { UInt8(truncatingIfNeeded: start + $0) },
                runs: half == 0 ? [last] : [half, last])
        }
        return StoredOutput(
            task: TaskID(rawValue: id), owner: OwnerID(rawValue: owner), start: droppedBytes,
            end: droppedBytes + bytes, chunks: chunks)
    }

    /// What a reader finds, page by page.
    private func read(_ output: StoredOutput, owner: UInt32? = nil) throws -> StoredOutput? {
        let reader = try #require(try StoredOutputReader(path: path))
        let owner = owner.map(OwnerID.init(rawValue:)) ?? output.owner
        var chunks: [StoredOutput.Chunk] = []
        var position = 0
        while let page = try reader.output(of: output.task, owner: owner, from: position) {
            chunks += page.chunks
            position = page.chunks.last?.end ?? page.end
            guard position < page.end else {
                return StoredOutput(
                    task: output.task, owner: owner, start: page.start, end: page.end,
                    chunks: chunks)
            }
        }
        return nil
    }

    private func kept(_ database: OutputDatabase) throws -> [UInt64] {
        try database.tasks(after: .invalid, countMax: 1000).map(\.rawValue)
    }

    private func prune(_ database: OutputDatabase, to bytes: Int, _ accounts: Accounts = Accounts())
        throws
    {
        let bounds = HistoryBounds(
            countMax: 1000, ageMax: nil, accounts: accounts, outputBytesMax: bytes)
        while try !database.prune(to: bounds) {}
    }

    @Test(
        "is read as it was written, also after the database was closed and opened",
        arguments: [0, 1, 5, 16_384, 16_385, 500_000])
    func roundTrip(bytes: Int) throws {
        let output = Self.output(7, bytes: bytes, droppedBytes: 33)
        let database = try open()
        try database.keep([Self.output(6, bytes: 9), output])
        #expect(try read(output) == output)
        try database.close()
        #expect(Folder.names(folder.path) == ["output.db"])
        let again = try open()
        #expect(try read(output) == output)
        #expect(try kept(again) == [6, 7])
    }

    @Test("has no reader before it is there")
    func absent() throws {
        #expect(try StoredOutputReader(path: path) == nil)
        #expect(Folder.names(folder.path) == [])
    }

    @Test("is another user's for nobody, and of a task without any there is nothing")
    func others() throws {
        let database = try open()
        let output = Self.output(7, bytes: 100)
        try database.keep([output])
        #expect(try read(output, owner: 1001) == nil)
        #expect(try read(Self.output(8, bytes: 100)) == nil)
        try database.forget([TaskID(rawValue: 8), output.task])
        #expect(try read(output) == nil)
        #expect(try Visitor(path).rows("SELECT count(*) FROM chunks") == ["0"])
    }

    @Test("stays as it was first kept")
    func twice() throws {
        let database = try open()
        let output = Self.output(7, bytes: 100)
        try database.keep([output])
        try database.keep([Self.output(7, bytes: 200), Self.output(8, bytes: 1)])
        #expect(try read(output) == output)
        #expect(try kept(database) == [7, 8])
    }

    @Test("of who has most the oldest goes, and the others keep theirs")
    func shares() throws {
        let database = try open()
        // In the order of their ends, which is not that of the ids.
        for id in [UInt64](1...20).reversed() {
            try database.keep([Self.output(id, owner: 1000, bytes: 20_000)])
        }
        try database.keep([21, 22].map { Self.output($0, owner: 1001, bytes: 20_000) })
        try prune(database, to: 200_000)
        let left = try kept(database)
        #expect(left.suffix(2) == [21, 22])
        let own = left.dropLast(2)
        #expect((6...8).contains(own.count))
        #expect(Array(own) == Array(1...UInt64(own.count)))
        try database.close()
        // What it knows of shares is there after a restart.
        let again = try open()
        try prune(again, to: 70_000)
        #expect(try kept(again).contains(22))
        try prune(again, to: 0)
        #expect(try kept(again) == [])
        #expect(try Visitor(path).rows("SELECT count(*) FROM chunks") == ["0"])
    }

    @Test("the uids that are given to a user have one share with that user")
    func accounts() throws {
        let database = try open()
        for id in UInt64(1)...10 {
            try database.keep([Self.output(id, owner: 2000 + UInt32(id), bytes: 20_000)])
        }
        try database.keep((11...14).map { Self.output($0, owner: 1001, bytes: 20_000) })
        let grant = Accounts.Grant(uids: 2000...2999, user: OwnerID(rawValue: 1000))
        // Without the grant those of 1001 would go, who has most of all uids.
        try prune(database, to: 210_000, Accounts([grant]))
        let left = try kept(database)
        #expect(left.suffix(4) == [11, 12, 13, 14])
        #expect((9...10).contains(left.count))
    }

    @Test("room that has become free goes back to the file system")
    func room() throws {
        let database = try open()
        try database.keep((1...40).map { Self.output($0, bytes: 200_000) })
        try prune(database, to: 1_000_000)
        try database.close()
        #expect(Folder.size(path) < 3_000_000)
        #expect(try Visitor(path).rows("PRAGMA integrity_check") == ["ok"])
    }

    @Test("what an earlier store left is no new task's")
    func strangers() throws {
        let database = try open()
        try database.keep([Self.output(7, bytes: 100), Self.output(8, bytes: 100)])
        try database.close()
        #expect(try kept(open(first: 8)) == [7])
        #expect(try Visitor(path).rows("SELECT DISTINCT task FROM chunks") == ["7"])
    }

    @Test(
        "a file of something else is refused, and a row that makes no sense is said to be damaged")
    func damage() throws {
        let output = Self.output(7, bytes: 100)
        do {
            let database = try open()
            try database.keep([output])
            try database.close()
        }
        for runs in ["x''", "x'0500'", "x'6400ff00'", "x'64006400'", "x'64'"] {
            try Visitor(path).execute("UPDATE chunks SET runs = \(runs)")
            #expect(throws: StoreError.self, "\(runs)") { try read(output) }
        }
        let other = try Folder()
        try Folder.write(Array("this is not a database".utf8), to: other.path + "/output.db")
        #expect(throws: StoreError.self) {
            try OutputDatabase(path: other.path + "/output.db", first: TaskID(rawValue: 1))
        }
        let store = try folder.open()
        try store.close()
        #expect(throws: StoreError.self) {
            try OutputDatabase(path: folder.database, first: TaskID(rawValue: 1))
        }
    }

    @Test("the store knows which tasks it has, and which its bounds have removed")
    func unknown() throws {
        let store = try folder.open()
        for id in UInt64(1)...4 {
            try store.apply([.submitted(Samples.task(id))])
            if id < 4 {
                try store.apply([.ended(TaskID(rawValue: id), Samples.end(Int(id)))])
            }
        }
        let bounds = HistoryBounds(countMax: 1, ageMax: nil)
        var removed: [TaskID] = []
        var isComplete = false
        while !isComplete {
            let step = try store.prune(to: bounds, at: Samples.time(5))
            removed += step.tasks
            isComplete = step.isComplete
        }
        #expect(removed.map(\.rawValue).sorted() == [1, 2])
        let unknown = try store.unknown(of: [1, 3, 4, 5].map(TaskID.init(rawValue:)))
        #expect(unknown.map(\.rawValue) == [1, 5])
    }
}
