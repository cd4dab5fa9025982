import BudgetCore
import Glibc
import TaskStore
import Testing

@Suite("Opening makes a store, or refuses in one plain line and leaves the file as it is")
struct OpeningTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// Expects a refusal that changes no byte.
    private func expectRefusal(_ cause: StoreError.Cause, saying words: String) {
        let before = Folder.bytes(folder.database)
        let error = folder.refusal()
        #expect(error?.cause == cause)
        #expect(error?.mayHeal == false)
        let text = error?.description ?? ""
        #expect(text.contains(words) && text.contains(folder.database), "\(text)")
        #expect(!text.contains("\n"))
        #expect(Folder.bytes(folder.database) == before)
    }

    @Test("a new file is for its owner alone, and so is what SQLite puts beside it")
    func modes() throws {
        let mask = umask(0)
        defer { umask(mask) }
        let store = try folder.open()
        try store.apply([.submitted(Samples.task(1))])
        #expect(Folder.names(folder.path) == ["tasks.db", "tasks.db-shm", "tasks.db-wal"])
        for name in Folder.names(folder.path) {
            var status = stat()
            #expect(stat(folder.path + "/" + name, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test("closing leaves the database alone, with all in it")
    func closes() throws {
        let store = try folder.open()
        try store.apply([.submitted(Samples.task(1))])
        try store.close()
        #expect(Folder.names(folder.path) == ["tasks.db"])
        #expect(try Visitor(folder.database).rows("SELECT id, name FROM tasks") == ["1|upload"])
    }

    @Test("an empty file becomes a store, of the version that is known")
    func emptyFile() throws {
        try Folder.write([], to: folder.database)
        try folder.open().apply([.submitted(Samples.task(1))])
        let visitor = try Visitor(folder.database)
        #expect(try visitor.rows("PRAGMA user_version") == ["11"])
        #expect(try visitor.rows("PRAGMA application_id") == ["\(0x6267_746B)"])
        #expect(try visitor.rows("PRAGMA journal_mode") == ["wal"])
    }

    @Test("an empty database becomes a store, as a start that was cut short leaves one")
    func emptyDatabase() throws {
        try Visitor(folder.database).execute(
            "PRAGMA journal_mode = WAL; CREATE TABLE a (b); DROP TABLE a")
        try folder.open().apply([.submitted(Samples.task(1))])
        #expect(try folder.open().live() == [Samples.task(1)])
    }

    @Test("the layout explains itself, with a unit in each name of a time or size")
    func layout() throws {
        _ = try folder.open()
        let visitor = try Visitor(folder.database)
        let schema = try visitor.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        #expect(schema.joined().contains("-- One row a run task"))
        let columns = try visitor.rows("SELECT name FROM pragma_table_info('tasks')")
        for word in ["duration", "grace", "cpu", "used", "delay", "interval", "lifetime_max"] {
            for column in columns where column.contains(word) && !column.hasPrefix("is_") {
                #expect(column.hasSuffix("_ms"))
            }
        }
    }

    @Test("a later version's file is refused by name")
    func newer() throws {
        try folder.open().close()
        try Visitor(folder.database).execute("PRAGMA user_version = 12")
        expectRefusal(
            .newer(12), saying: "written by a later bgtaskd (layout 12, this one knows 11)")
    }

    @Test("another program's database is refused")
    func foreignDatabase() throws {
        try Visitor(folder.database).execute("CREATE TABLE a (b); INSERT INTO a VALUES (1)")
        expectRefusal(.foreign, saying: "a database of another program")
        try Visitor(folder.database).execute("PRAGMA application_id = 7; DROP TABLE a")
        expectRefusal(.foreign, saying: "a database of another program")
    }

    @Test("a file that is no database is refused")
    func noDatabase() throws {
        try Folder.write(Array(String(repeating: "hello ", count: 1000).utf8), to: folder.database)
        expectRefusal(.foreign, saying: "not a store of tasks")
        try Folder.write([1, 2, 3], to: folder.database)
        expectRefusal(.foreign, saying: "not a store of tasks")
    }

    @Test("a database that lost its end is refused as damaged, with what to do")
    func truncated() throws {
        let store = try folder.open()
        try store.apply((1...500).map { .submitted(Samples.task($0)) })
        try store.close()
        truncate(folder.database, 8192)
        expectRefusal(.damaged, saying: "move the file away")
    }

    @Test("live tasks whose pages are damaged are an error, and not left out")
    func damagedPages() throws {
        let store = try folder.open()
        try store.apply((1...500).map { .submitted(Samples.task($0)) })
        try store.close()
        var bytes = Folder.bytes(folder.database)
        for index in 3 * 4096..<bytes.count { bytes[index] = 0x5A }
        try Folder.write(bytes, to: folder.database)
        let error = #expect(throws: StoreError.self) { try folder.open().live() }
        #expect(error?.cause == .damaged)
    }

    @Test("a value that makes no sense is an error that names its row and column")
    func senseless() throws {
        let store = try folder.open()
        try store.apply([.submitted(Samples.task(5))])
        try Visitor(folder.database).execute("UPDATE tasks SET command = 'true'")
        let error = #expect(throws: StoreError.self) { try store.live() }
        #expect(error?.cause == .damaged)
        #expect(error?.text.hasPrefix("the command of task 5 makes no sense; ") == true)
    }

    @Test(
        "a word of the queue that is not known is an error, for its task might run too early",
        arguments: [
            ("conditions", "[\"network\",\"sunshine\"]"), ("conditions", "network"),
            ("unique_name", "sometimes"),
        ])
    func unknownWord(column: String, value: String) throws {
        let store = try folder.open()
        try store.apply([.submitted(Samples.task(5))])
        try Visitor(folder.database).execute("UPDATE tasks SET \(column) = '\(value)'")
        let error = #expect(throws: StoreError.self) { try store.live() }
        #expect(error?.cause == .damaged)
        #expect(error?.text.hasPrefix("the \(column) of task 5 makes no sense; ") == true)
    }

    @Test("a reason that is not known is told in the words that were recorded")
    func unknownReason() throws {
        let store = try folder.open()
        let task = Samples.task(5)
        try store.apply([.submitted(task), .ended(task.id, Samples.end(1))])
        try Visitor(folder.database).execute("UPDATE tasks SET reason = 'eaten'")
        let reader = try store.historyReader()
        #expect(try reader.task(task.id)?.end?.reason == .recorded("eaten"))
    }

    @Test("what is no regular file is refused")
    func noFile() throws {
        let target = folder.path + "/elsewhere"
        try Folder.write([], to: target)
        symlink(target, folder.database)
        expectRefusal(.foreign, saying: "not a regular file")
        unlink(folder.database)
        mkdir(folder.database, 0o700)
        expectRefusal(.foreign, saying: "not a regular file")
        rmdir(folder.database)
    }

    @Test("a folder that is not there is an error that names it")
    func noFolder() throws {
        let error = #expect(throws: StoreError.self) {
            try TaskStore.open(path: "/nowhere/at/all/tasks.db", durability: .commit)
        }
        #expect(error?.description == "open /nowhere/at/all: No such file or directory")
    }

    @Test("a second store on the same file is refused for as long as the first is there")
    func second() throws {
        let first = try folder.open()
        let error = folder.refusal()
        #expect(error?.cause == .locked)
        #expect(error?.text.contains("another daemon") == true)
        try first.apply([.submitted(Samples.task(1))])
        withExtendedLifetime(first) {}
        let reader = try first.historyReader()
        #expect(folder.refusal()?.cause == .locked)
        _ = consume reader
    }

    @Test("a user may read while the store is open, and sees what is committed")
    func readable() throws {
        let store = try folder.open()
        let visitor = try Visitor(folder.database)
        try store.apply([.submitted(Samples.task(1))])
        #expect(try visitor.rows("SELECT count(*) FROM tasks") == ["1"])
        try visitor.execute("BEGIN; SELECT count(*) FROM tasks")
        try store.apply([.submitted(Samples.task(2))])
        #expect(try visitor.rows("SELECT count(*) FROM tasks") == ["1"])
        try visitor.execute("COMMIT")
        #expect(try visitor.rows("SELECT count(*) FROM tasks") == ["2"])
    }

    @Test("a user who writes holds the store up with a reason, and it goes on afterwards")
    func locked() throws {
        let store = try folder.open()
        let visitor = try Visitor(folder.database)
        try visitor.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: StoreError.self) {
            try store.apply([.submitted(Samples.task(1))])
        }
        #expect(error?.cause == .locked)
        #expect(error?.mayHeal == true)
        #expect(error?.text.hasPrefix("another process is writing to the database") == true)
        try visitor.execute("ROLLBACK")
        try store.apply([.submitted(Samples.task(1))])
        #expect(try store.live() == [Samples.task(1)])
    }

    @Test("a store in memory has no file, and can be asked the same")
    func inMemory() throws {
        let store = try TaskStore.open(path: folder.database, durability: .memory)
        try store.apply([.submitted(Samples.task(1))])
        #expect(try store.historyReader().task(Samples.task(1).id) == Samples.task(1))
        #expect(Folder.names(folder.path).isEmpty)
    }
}
