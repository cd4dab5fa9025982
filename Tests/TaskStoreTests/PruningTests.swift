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
        while case let step = try store.prune(to: bounds, at: Samples.time(0)), !step.isComplete {
            steps += 1
        }
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

    // MARK: - Owners

    private static let alice = OwnerID(rawValue: 1001)
    private static let bob = OwnerID(rawValue: 1002)

    /// Ended tasks of an owner, each with so long a command.
    private func end(_ ids: ClosedRange<UInt64>, of owner: OwnerID, length: Int = 20) throws {
        try store.apply(
            ids.map { id in
                var task = Samples.task(id, owner: owner.rawValue)
                task.work.command = ["true", String(repeating: "x", count: length)]
                task.end = Samples.end(Int(id))
                return .submitted(task)
            })
    }

    private func identifiers(of owner: OwnerID) throws -> [UInt64] {
        try store.historyReader().history(HistoryFilter(owner: owner), countMax: 10_000)
            .tasks.map(\.id.rawValue).reversed()
    }

    @Test("of too many those of the owner with most go, and never another's, however old")
    func byOwner() throws {
        try end(1...30, of: .root)
        try end(31...60, of: Self.bob)
        try end(1001...1500, of: Self.alice)
        let bounds = HistoryBounds(countMax: 100, ageMax: nil)
        _ = try pruneAll(bounds, at: 0)
        #expect(try identifiers(of: .root) == Array(1...30))
        #expect(try identifiers(of: Self.bob) == Array(31...60))
        #expect(try identifiers(of: Self.alice) == Array(1461...1500))
        // Those who have as much as another lose in turn.
        try end(61...70, of: Self.bob)
        try end(2001...2050, of: Self.alice)
        _ = try pruneAll(bounds, at: 0)
        #expect(try identifiers(of: .root) == Array(1...30))
        #expect(try identifiers(of: Self.bob) == Array(36...70))
        #expect(try identifiers(of: Self.alice) == Array(2016...2050))
    }

    @Test("uids that are given to a user count as that user's")
    func byAccount() throws {
        try end(1...30, of: Self.bob)
        for uid in UInt32(0)..<40 {
            let first = 1000 + UInt64(uid) * 10
            try end(first...first + 9, of: OwnerID(rawValue: 100_000 + uid))
        }
        let grant = Accounts.Grant(uids: 100_000...165_535, user: Self.alice)
        let bounds = HistoryBounds(countMax: 100, ageMax: nil, accounts: Accounts([grant]))
        _ = try pruneAll(bounds, at: 0)
        #expect(try identifiers(of: Self.bob) == Array(1...30))
        #expect(try store.endedCount() == 100)
    }

    @Test("of too many bytes those of the owner with most go, and the file stays within them")
    func byBytes() throws {
        try end(1...300, of: Self.bob)
        let bounds = HistoryBounds(countMax: 100_000, bytesMax: 1 << 20, ageMax: nil)
        for round in UInt64(0)..<8 {
            try end(10_000 + round * 200...10_199 + round * 200, of: Self.alice, length: 3900)
            _ = try pruneAll(bounds, at: 0)
            try store.checkpoint()
        }
        #expect(try identifiers(of: Self.bob) == Array(1...300))
        let alices = try identifiers(of: Self.alice)
        #expect(alices.count > 150 && alices == Array((11_600 - UInt64(alices.count))...11_599))
        #expect(Folder.size(folder.database) < 3 << 20, "\(Folder.size(folder.database))")
        // Another store counts the same.
        try store.close()
        let again = try folder.open()
        #expect(try again.prune(to: bounds, at: Samples.time(0)).removed == 0)
        #expect(try again.endedCount() == 300 + alices.count)
    }

    /// The names of which a success of an owner is kept.
    private func successes(of owners: OwnerID...) throws -> [String] {
        let owners = owners.map { "\($0.rawValue)" }.joined(separator: ", ")
        return try Visitor(folder.database).rows(
            "SELECT name FROM last_successes WHERE owner IN (\(owners)) ORDER BY ended_at_us")
    }

    @Test("successes that are kept for an interval count too, and the oldest of who has most go")
    func bySuccesses() throws {
        let sub = OwnerID(rawValue: 100_000)
        let grant = Accounts.Grant(uids: 100_000...165_535, user: Self.alice)
        let bounds = HistoryBounds(
            countMax: 100_000, bytesMax: 1 << 20, ageMax: nil, accounts: Accounts([grant]))
        func succeed(_ ids: ClosedRange<UInt64>, of owner: OwnerID) throws {
            try store.apply(
                ids.map { id in
                    let name = String(repeating: "n", count: 200) + "\(id)"
                    var task = Samples.task(id, name: name, owner: owner.rawValue)
                    task.queueing.minimumInterval = .seconds(8_640_000)
                    task.end = Samples.end(Int(id))
                    return .submitted(task)
                })
        }
        try succeed(1...30, of: Self.bob)
        for round in UInt64(0)..<4 {
            let first = 1000 + round * 1000
            try succeed(first...first + 499, of: Self.alice)
            try succeed(first + 500...first + 999, of: sub)
            _ = try pruneAll(bounds, at: 5000)
        }
        let alices = try successes(of: Self.alice, sub)
        #expect(alices.count < 4000)
        #expect(alices.count > 1000)
        #expect(try successes(of: Self.alice).last?.hasSuffix("n4499") == true)
        #expect(try successes(of: sub).last?.hasSuffix("n4999") == true)
        #expect(try successes(of: Self.bob).count == 30)
        #expect(try identifiers(of: Self.bob) == Array(1...30))
        #expect(Folder.size(folder.database) < 4 << 20, "\(Folder.size(folder.database))")
        // A store that counts all of them anew comes to the same.
        try store.close()
        let again = try folder.open()
        while try !again.prune(to: bounds, at: Samples.time(5000)).isComplete {}
        #expect(try successes(of: Self.alice, sub) == alices)
    }

    @Test("what ends while the rows are counted is counted once")
    func whileCounting() throws {
        let live = Array(UInt64(1)...50) + Array(2000...2050)
        try store.apply(
            live.map { .submitted(Samples.task($0, owner: Self.alice.rawValue)) })
        try end(101...1600, of: Self.bob, length: 500)
        let bounds = HistoryBounds(countMax: 100_000, bytesMax: 400_000, ageMax: nil)
        // The first step has counted a thousand.
        let first = try store.prune(to: bounds, at: Samples.time(0))
        #expect(first.removed == 0 && !first.isComplete)
        try end(500_000...500_100, of: Self.alice)
        try store.apply(live.map { .ended(TaskID(rawValue: $0), Samples.end(1)) })
        _ = try pruneAll(bounds, at: 0)
        let left = try store.endedCount()
        #expect((300..<1300).contains(left))
        #expect(try identifiers(of: Self.alice).count == 202)
        // A store that has counted all of them from the beginning comes to the same.
        try store.close()
        let again = try folder.open()
        while try !again.prune(to: bounds, at: Samples.time(0)).isComplete {}
        #expect(try again.endedCount() == left)
    }

    @Test("what is kept of an ended task is short, whatever was submitted")
    func keptShort() throws {
        var task = Samples.task(1)
        task.work.command = [String(repeating: "é", count: 100_000), "x"]
        task.work.directory = "/" + String(repeating: "日", count: 1300)
        task.work.submitter.groups = SubmitterGroups(
            primary: 7, supplementary: (0..<60_000).map { 100_000 + $0 })
        try store.apply([.submitted(task), .ended(task.id, Samples.end(1))])
        let kept = try #require(try store.historyReader().task(task.id))
        #expect(kept == task.ended(Samples.end(1)))
        let size = try Visitor(folder.database).rows(
            "SELECT length(CAST(command || directory || supplementary_gids AS BLOB)) FROM tasks")
        #expect(Int(size.first ?? "") ?? .max < 3500, "\(size)")
    }
}
