import BudgetCore
import TaskStore
import Testing

@Suite("The history stays within its bounds")
struct PruningTests {
    private let folder: Folder
    private let store: TaskStore

    init() throws {
        folder = try Folder()
        store = try folder.open()
    }

    private func end(_ ids: ClosedRange<UInt64>) throws {
        try store.apply(
            ids.map { id in
                var task = Samples.task(id)
                task.work.command.append(String(repeating: "x", count: 500))
                task.end = Samples.end(Int(id))
                return .submitted(task)
            })
    }

    private func pruneAll(_ bounds: HistoryBounds, at seconds: Int) throws -> [Int] {
        var steps: [Int] = []
        while true {
            let step = try store.prune(to: bounds, at: Samples.time(seconds), rowsMax: 100)
            if step.isComplete { return steps }
            steps.append(step.removed)
        }
    }

    private func identifiers() throws -> [UInt64] {
        try store.historyReader().history(countMax: 10_000).tasks.map(\.id.rawValue).reversed()
    }

    @Test("what is too many goes, the oldest ends first, in small steps; live tasks stay")
    func byCount() throws {
        try store.apply([.submitted(Samples.task(5000))])
        try end(1...450)
        #expect(
            try pruneAll(HistoryBounds(countMax: 100, ageMax: nil), at: 450) == [100, 100, 100, 50])
        #expect(try identifiers() == Array(351...450))
        #expect(try store.endedCount() == 100)
        #expect(try store.live().count == 1)
        #expect(try pruneAll(HistoryBounds(countMax: 0, ageMax: nil), at: 450).reduce(0, +) == 100)
        #expect(try store.endedCount() == 0)
    }

    @Test("what is too old goes, and a clock that was set back keeps more for a while")
    func byAge() throws {
        try end(1...50)
        let bounds = HistoryBounds(countMax: 1000, ageMax: .seconds(10))
        #expect(try pruneAll(bounds, at: 5) == [])
        #expect(try pruneAll(bounds, at: 50) == [39])
        #expect(try identifiers() == Array(40...50))
    }

    @Test("attempts go with their task")
    func attempts() throws {
        var task = Samples.task(1)
        task.startedAt = Samples.time(1)
        let again = StoredRequeue(end: Samples.end(2, .failed), attempt: 2)
        try store.apply([
            .submitted(task), .requeued(task.id, again), .ended(task.id, Samples.end(3)),
        ])
        _ = try pruneAll(HistoryBounds(countMax: 0, ageMax: nil), at: 3)
        #expect(try Visitor(folder.database).rows("SELECT count(*) FROM attempts") == ["0"])
    }

    @Test("a file that many tasks pass through does not grow, and is cut when the bounds are")
    func fileSize() throws {
        let bounds = HistoryBounds(countMax: 2000, ageMax: nil)
        try end(1...2500)
        _ = try pruneAll(bounds, at: 0)
        try store.checkpoint()
        let size = Folder.size(folder.database)
        for round in UInt64(0)..<10 {
            try end(2501 + round * 500...3000 + round * 500)
            _ = try pruneAll(bounds, at: 0)
            try store.checkpoint()
        }
        #expect(Folder.size(folder.database) <= size + size / 4)
        _ = try pruneAll(HistoryBounds(countMax: 10, ageMax: nil), at: 0)
        try store.checkpoint()
        #expect(Folder.size(folder.database) <= 1_500_000)
        #expect(try Visitor(folder.database).rows("PRAGMA integrity_check") == ["ok"])
    }

    @Test("pruning comes to an end in a file that cannot be cut")
    func uncut() throws {
        try store.close()
        try Visitor(folder.database).execute("PRAGMA auto_vacuum = NONE; VACUUM")
        let store = try folder.open()
        try store.apply(
            (UInt64(1)...4000).map { id in
                var task = Samples.task(id)
                task.work.command.append(String(repeating: "x", count: 500))
                task.end = Samples.end(Int(id))
                return .submitted(task)
            })
        let bounds = HistoryBounds(countMax: 1, ageMax: nil)
        var steps = 0
        while try !store.prune(to: bounds, at: Samples.time(0)).isComplete { steps += 1 }
        #expect(steps == 8)
    }

    @Test("the log is brought into the database before it grows large")
    func logSize() throws {
        var sizeMax = 0
        for round in UInt64(0)..<100 {
            try end(1 + round * 100...100 + round * 100)
            try store.checkpointIfDue()
            sizeMax = max(sizeMax, Folder.size(folder.database + "-wal"))
        }
        #expect(Folder.size(folder.database) > 5_000_000)
        #expect(sizeMax < 8_000_000)
    }
}
