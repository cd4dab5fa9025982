import BudgetCore
import TaskStore
import Testing

@Suite("By which executor a command is started, and for which folder")
struct ExecutorTests {
    private let folder: Folder
    private let executor = ExecutorInstance(high: 1, low: .max)

    init() throws {
        folder = try Folder()
    }

    @Test("is known while the attempt lasts, also after another opening, and not afterwards")
    func attempt() throws {
        let store = try folder.open()
        func known() throws -> [ExecutorInstance?] { try store.live().map(\.executor) }
        let id = TaskID(rawValue: 1)
        let start = StoreChange.started(id, at: Samples.time(1), executor: executor)
        try store.apply([.submitted(Samples.task(1)), start])
        #expect(try known() == [executor])
        try store.apply([.startUndone(id)])
        #expect(try known() == [nil])
        try store.apply([start, .cancelling(id)])
        #expect(try known() == [executor])
        try store.apply([
            .requeued(id, StoredRequeue(end: Samples.end(2, .failed), attempt: 2))
        ])
        #expect(try known() == [nil])
        try store.apply([.started(id, at: Samples.time(3))])
        #expect(try known() == [nil])
        try store.apply([.startUndone(id), start])
        try store.close()
        let again = try folder.open()
        #expect(try again.live().map(\.executor) == [executor])
        try again.apply([.ended(id, Samples.end(4))])
        #expect(try again.historyReader().task(id)?.executor == nil)
        #expect(try Visitor(folder.database).rows("SELECT executor FROM tasks") == [""])
    }

    @Test("is written with a task that starts at once")
    func atOnce() throws {
        var tasks = (1...9).map { Samples.task($0) }
        for index in tasks.indices where index % 2 == 0 {
            tasks[index].startedAt = Samples.time(1)
            tasks[index].executor = ExecutorInstance(high: UInt64(index), low: 0)
        }
        let store = try folder.open()
        try store.apply(tasks.map { .submitted($0) })
        #expect(try store.live() == tasks)
        let texts = try Visitor(folder.database).rows("SELECT executor FROM tasks WHERE id = 3")
        #expect(texts == ["00000000000000020000000000000000"])
    }

    @Test(
        "a text that is no such number is said to be damaged",
        arguments: ["", "1", String(repeating: "g", count: 32), String(repeating: "A", count: 32)])
    func damage(text: String) throws {
        try folder.open().apply([
            .submitted(Samples.task(1)),
            .started(TaskID(rawValue: 1), at: Samples.time(1), executor: executor),
        ])
        try Visitor(folder.database).execute(
            "UPDATE tasks SET executor = '\(text)'; UPDATE folder_identity SET number = '\(text)'")
        let store = try folder.open()
        #expect(throws: StoreError.self) { try store.live() }
        #expect(throws: StoreError.self) { try store.identity() }
    }

    @Test("a folder has a number of its own, always the same, and never 0")
    func identity() throws {
        let identity = try folder.open().identity()
        #expect(try folder.open().identity() == identity)
        #expect(try Folder().open().identity() != identity)
        try Visitor(folder.database).execute(
            "UPDATE folder_identity SET number = '\(String(repeating: "0", count: 32))'")
        #expect(throws: StoreError.self) { try folder.open().identity() }
        try Visitor(folder.database).execute("DELETE FROM folder_identity")
        #expect(throws: StoreError.self) { try folder.open().identity() }
    }
}
