import BudgetCore
import TaskStore
import TestKit
import Testing

/// Rule 33 in docs/architecture.md.
@Suite("What ended tasks were submitted with is kept with them")
struct SubmissionTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    @Test(
        "33: all that a task was submitted with is there after its end, for its owner alone",
        arguments: 1...Effort.choose(60, 1000))
    func whole(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TaskStore.open(path: "", durability: .memory)
        let reader = try store.historyReader()
        var task = Samples.task(seed, using: &random)
        if Bool.random(using: &random) {
            task.work.command.append(String(repeating: "é", count: 3000))
        }
        if Bool.random(using: &random) {
            task.work.directory = "/" + String(repeating: "d", count: 2000)
        }
        let end = Samples.end(9, using: &random)
        try store.apply([.submitted(task), .ended(task.id, end)])
        let kept = try #require(try reader.submission(task.id, of: task.owner))
        #expect(kept.isWhole)
        var expected = task
        expected.end = end
        expected.executor = nil
        // Whose groups it ran with is known of its submitter, who may be in others now.
        expected.work.submitter = kept.task.work.submitter
        #expect(kept.task == expected)
        #expect(try reader.submission(task.id, of: OwnerID(rawValue: 4711)) == nil)
        #expect(try reader.submission(TaskID(rawValue: seed + 1), of: task.owner) == nil)
    }

    @Test("a task that has nothing beyond its row takes no other")
    func plain() throws {
        let store = try folder.open()
        let task = Samples.task(1)
        try store.apply([.submitted(task), .ended(task.id, Samples.end(1))])
        #expect(try Visitor(folder.database).rows("SELECT count(*) FROM submissions") == ["0"])
        #expect(try store.historyReader().submission(task.id, of: task.owner)?.isWhole == true)
    }

    @Test("it goes with its task, and its bytes count as those of its owner")
    func pruned() throws {
        let store = try folder.open()
        let input = String(repeating: "A", count: 100_000)
        func end(_ ids: ClosedRange<UInt64>, of owner: UInt32, _ input: String?) throws {
            for id in ids {
                var task = Samples.task(id, owner: owner)
                task.work.input = input
                try store.apply([.submitted(task), .ended(task.id, Samples.end(Int(id)))])
            }
        }
        try end(1...50, of: 1001, nil)
        try end(51...100, of: 1000, input)
        let bounds = HistoryBounds(countMax: 100_000, bytesMax: 1 << 20, ageMax: nil)
        while try !store.prune(to: bounds, at: Samples.time(100)).isComplete {}
        let visitor = try Visitor(folder.database)
        let kept = try visitor.rows("SELECT count(*), min(task) FROM submissions").joined()
        #expect(kept == "10|91")
        let owners = try visitor.rows("SELECT owner, count(*) FROM tasks GROUP BY owner")
        #expect(owners == ["1000|10", "1001|50"])
        let none = HistoryBounds(countMax: 0, ageMax: nil)
        while try !store.prune(to: none, at: Samples.time(100)).isComplete {}
        #expect(try visitor.rows("SELECT count(*) FROM submissions") == ["0"])
    }

    @Test("of what ended under an earlier version it is said that it was not kept")
    func earlier() throws {
        let visitor = try Visitor(folder.database)
        try visitor.execute(
            "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                + Schema.steps[..<6].joined()
                + "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 6; "
                + "INSERT INTO tasks (id, owner, name, profile, grace_ms, is_cut_by_lifetime, "
                + "command, priority, submitted_at_us, queued_at_us, attempt, ended_at_us, outcome, used_ms) "
                + "VALUES (3, 1000, 'a', 'default', 5000, 0, '[\"true\"]', 0, 10, 10, 1, 12, 0, 1)")
        let owner = OwnerID(rawValue: 1000)
        let reader = try folder.open().historyReader()
        #expect(try reader.submission(TaskID(rawValue: 3), of: owner)?.isWhole == false)
    }
}
