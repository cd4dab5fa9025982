import BudgetCore
import TaskStore
import Testing

@Suite("The output that one daemon leaves to the next")
struct OutputHandOverTests {
    private let folder: Folder
    private var path: String { folder.path + "/output.db" }

    init() throws {
        folder = try Folder()
    }

    private func open() throws -> OutputDatabase {
        try OutputDatabase(path: path, first: TaskID(rawValue: 1000))
    }

    /// An output of full chunks and a rest.
    private static func output(_ id: UInt64, owner: UInt32 = 1000, bytes: Int) -> StoredOutput {
        let most = StoredOutput.Chunk.byteCountMax
        return StoredOutput(
            task: TaskID(rawValue: id), owner: OwnerID(rawValue: owner), start: 0, end: bytes,
            chunks: stride(from: 0, to: bytes, by: most).map { start in
                let count = min(most, bytes - start)
                return StoredOutput.Chunk(
                    start: start, text: Array(repeating: 97, count: count), runs: [UInt16(count)])
            })
    }

    private func live(_ ids: UInt64...) -> Set<TaskID> { Set(ids.map(TaskID.init(rawValue:))) }

    private func read(_ id: UInt64) throws -> StoredOutput? {
        let reader = try #require(try StoredOutputReader(path: path))
        return try reader.output(
            of: TaskID(rawValue: id), owner: OwnerID(rawValue: 1000), from: 0)
    }

    @Test("is taken whole, and once more where no later daemon has left anything")
    func taken() throws {
        let outputs = [Self.output(1, bytes: 0), Self.output(2, bytes: 300_000)]
        do {
            let database = try open()
            try database.keep(outputs, isHandedOver: true)
            try database.keep([Self.output(3, bytes: 5)])
            try database.close()
        }
        for isLatest in [true, false] {
            let database = try open()
            let taken = try database.takeHandedOver(of: live(1, 2, 3, 4))
            #expect(
                taken == outputs.map { HandedOverOutput(output: $0, isLatest: isLatest) })
            try database.close()
        }
        let newer = Self.output(2, bytes: 400_000)
        do {
            let database = try open()
            try database.keep([newer], isHandedOver: true)
            try database.close()
        }
        #expect(
            try open().takeHandedOver(of: live(1, 2)) == [
                HandedOverOutput(output: outputs[0], isLatest: false),
                HandedOverOutput(output: newer, isLatest: true),
            ])
    }

    @Test("is nobody's to read before its task has ended; then the whole takes its place")
    func replaced() throws {
        let database = try open()
        try database.keep([Self.output(1, bytes: 40_000)], isHandedOver: true)
        #expect(try read(1) == nil)
        let whole = Self.output(1, bytes: 10_000)
        try database.keep([Self.output(2, bytes: 10_000), whole])
        #expect(try read(1) == whole)
        // What has ended stays.
        try database.keep([Self.output(1, bytes: 50_000)], isHandedOver: true)
        #expect(try read(1) == whole)
        #expect(try database.takeHandedOver(of: live(1, 2)).isEmpty)
        let visitor = try Visitor(path)
        #expect(try visitor.rows("SELECT sum(size) FROM outputs") == ["\(database.keptBytes)"])
        // It counts from its end on: the older one goes first.
        let bounds = HistoryBounds(
            countMax: 10, ageMax: nil, outputBytesMax: database.keptBytes - 1)
        while try !database.prune(to: bounds) {}
        #expect(try database.tasks(after: .invalid, countMax: 9) == [TaskID(rawValue: 1)])
    }

    @Test("of a task that has ended meanwhile is as it was kept")
    func ended() throws {
        let database = try open()
        let output = Self.output(1, bytes: 10)
        try database.keep([output], isHandedOver: true)
        #expect(try database.takeHandedOver(of: live(2)).isEmpty)
        #expect(try read(1) == output)
    }

    @Test("goes where no output is to be kept")
    func bounds() throws {
        let database = try open()
        try database.keep([Self.output(1, bytes: 10)], isHandedOver: true)
        #expect(try database.takeHandedOver(of: live(1)).count == 1)
        let bounds = HistoryBounds(countMax: 10, ageMax: nil, outputBytesMax: 0)
        while try !database.prune(to: bounds) {}
        #expect(database.keptBytes == 0)
        #expect(try Visitor(path).rows("SELECT count(*) FROM chunks") == ["0"])
    }

    @Test("that makes no sense is lost, and not what stands beside it")
    func damage() throws {
        let database = try open()
        try database.keep(
            [Self.output(1, bytes: 10), Self.output(2, bytes: 40_000), Self.output(3, bytes: 9)],
            isHandedOver: true)
        try Visitor(path).execute(
            "UPDATE chunks SET runs = x'' WHERE task = 1; "
                + "DELETE FROM chunks WHERE task = 2 AND start_byte = 16384")
        let taken = try database.takeHandedOver(of: live(1, 2, 3))
        #expect(taken.map(\.output.task.rawValue) == [3])
    }

    @Test("a file of an earlier layout has nothing of that kind, and is brought forward")
    func migration() throws {
        let output = Self.output(1, bytes: 20_000)
        for version in 1..<OutputSchema.steps.count {
            let made = try Folder()
            let path = made.path + "/output.db"
            let visitor = try Visitor(path)
            try visitor.execute(
                OutputSchema.steps[..<version].joined()
                    + "PRAGMA application_id = \(OutputSchema.applicationID); "
                    + "PRAGMA user_version = \(version); "
                    + "INSERT INTO outputs (number, task, owner, start_byte, end_byte, size) "
                    + "VALUES (1, 7, 1000, 0, 0, 64)")
            let database = try OutputDatabase(path: path, first: TaskID(rawValue: 1000))
            #expect(try database.takeHandedOver(of: live(1, 7)).isEmpty)
            try database.keep([output], isHandedOver: true)
            #expect(try database.takeHandedOver(of: live(1, 7)).map(\.output) == [output])
            let layout = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
            _ = try open()
            #expect(try visitor.rows(layout) == Visitor(self.path).rows(layout))
        }
    }
}
