import BudgetCore
import TaskStore
import Testing

@Suite("A minimum interval counts from the last success, over restarts and prunings (rule 25)")
struct SuccessTests {
    private let folder: Folder
    private let store: TaskStore
    private let owner = OwnerID(rawValue: 1000)

    init() throws {
        folder = try Folder()
        store = try folder.open()
    }

    private func task(_ id: UInt64, interval: Int?) -> StoredTask {
        var task = Samples.task(id)
        task.queueing.minimumInterval = interval.map { .seconds($0) }
        return task
    }

    /// A task of the name `upload` comes and ends.
    private func run(_ id: UInt64, _ seconds: Int, _ outcome: Outcome, interval: Int?) throws {
        let task = task(id, interval: interval)
        try store.apply([.submitted(task), .ended(task.id, Samples.end(seconds, outcome))])
    }

    private func lastSuccess() throws -> WallTime? {
        try store.lastSuccess(owner: owner, name: "upload")
    }

    /// Removes the whole history, and what is over.
    private func prune(at seconds: Int) throws {
        let bounds = HistoryBounds(countMax: 0, ageMax: nil)
        while try !store.prune(to: bounds, at: Samples.time(seconds)).isComplete {}
        #expect(try store.endedCount() == 0)
    }

    @Test("the last success counts, of tasks with and without an interval, and no failure")
    func lastSuccessCounts() throws {
        #expect(try lastSuccess() == nil)
        try run(1, 10, .completed, interval: nil)
        #expect(try lastSuccess() == Samples.time(10))
        try run(2, 20, .completed, interval: 600)
        try run(3, 30, .failed, interval: 600)
        try run(4, 40, .completed, interval: nil)
        try run(5, 50, .cancelled, interval: nil)
        #expect(try lastSuccess() == Samples.time(40))
        #expect(try store.lastSuccess(owner: .root, name: "upload") == nil)
        #expect(try store.lastSuccess(owner: owner, name: "download") == nil)
    }

    @Test("a success that is recorded late, since the disk refused it, sets no interval back")
    func recordedLate() throws {
        let late = task(1, interval: 600)
        try store.apply([.submitted(late)])
        try run(2, 40, .completed, interval: 600)
        try store.apply([.ended(late.id, Samples.end(20, .completed))])
        #expect(try lastSuccess() == Samples.time(40))
    }

    @Test(
        "a submission with an interval is answered with the success before it, in the same commit too"
    )
    func answers() throws {
        let first = task(1, interval: 600)
        #expect(try store.apply([.submitted(first)]).lastSuccesses.isEmpty)
        let (second, third) = (task(2, interval: 60), task(3, interval: nil))
        let (fourth, other) = (task(4, interval: 60), Samples.task(5, name: "other"))
        let applied = try store.apply([
            .submitted(second), .submitted(third), .ended(third.id, Samples.end(7)),
            .submitted(fourth), .submitted(other), .ended(first.id, Samples.end(8)),
        ])
        #expect(applied.lastSuccesses == [fourth.id: Samples.time(7)])
        #expect(
            try store.lastSuccesses(of: store.live())
                == [second.id: Samples.time(8), fourth.id: Samples.time(8)])
    }

    @Test("a task that completes at its second attempt has succeeded at its end")
    func retried() throws {
        var task = task(1, interval: 600)
        task.startedAt = Samples.time(1)
        let failed = StoredRequeue(end: Samples.end(2, .failed), attempt: 2)
        try store.apply([.submitted(task), .requeued(task.id, failed)])
        #expect(try lastSuccess() == nil)
        try store.apply([.started(task.id, at: Samples.time(3)), .ended(task.id, Samples.end(4))])
        #expect(try lastSuccess() == Samples.time(4))
    }

    @Test("an interval outlives the history, and is forgotten when it is over")
    func outlivesHistory() throws {
        try run(1, 0, .completed, interval: 600)
        try prune(at: 599)
        #expect(try lastSuccess() == Samples.time(0))
        try prune(at: 600)
        #expect(try lastSuccess() == nil)
    }

    @Test(
        "a success is kept as long as a task that came after it with a longer interval waits for it"
    )
    func longerLater() throws {
        try run(1, 0, .completed, interval: 60)
        try run(2, 10, .completed, interval: nil)
        let waiting = task(3, interval: 6000)
        try store.apply([.submitted(waiting)])
        try prune(at: 6009)
        #expect(try store.lastSuccesses(of: store.live()) == [waiting.id: Samples.time(10)])
        try prune(at: 6010)
        #expect(try lastSuccess() == nil)
    }

    @Test("a success without an interval is kept for a task that waited before it already")
    func longerBefore() throws {
        let waiting = [task(1, interval: 6000), task(2, interval: 30)]
        try store.apply(waiting.map { .submitted($0) })
        try run(3, 10, .completed, interval: nil)
        try prune(at: 6009)
        #expect(try lastSuccess() == Samples.time(10))
        try prune(at: 6010)
        #expect(try lastSuccess() == nil)
    }

    @Test("a success that nobody asked about is known as long as the history has it, and no longer")
    func unasked() throws {
        try run(1, 10, .completed, interval: nil)
        #expect(try lastSuccess() == Samples.time(10))
        try prune(at: 10)
        #expect(try lastSuccess() == nil)
    }

    @Test("no look-up reads through the history")
    func plans() throws {
        let visitor = try Visitor(folder.database)
        for (sql, words) in [
            (SuccessQueries.keptSuccess, "USING PRIMARY KEY (owner=? AND name=?)"),
            (
                SuccessQueries.lastCompleted,
                "USING INDEX tasks_completed (owner=? AND name=?)"
            ),
            (
                SuccessQueries.successesOver,
                "USING INDEX last_successes_over (<expr><?)"
            ),
            (
                SuccessQueries.oldestSuccesses,
                "USING COVERING INDEX last_successes_oldest (owner=?)"
            ),
            (SuccessQueries.successesBehind, "USING PRIMARY KEY ((owner,name)>(?,?))"),
            (SQL.forgetSuccess, "USING PRIMARY KEY (owner=? AND name=?)"),
        ] {
            let plan = try visitor.rows("EXPLAIN QUERY PLAN " + sql)
            #expect(plan.count == 1 && plan.allSatisfy { $0.contains(words) }, "\(plan)")
        }
        let plan = try visitor.rows("EXPLAIN QUERY PLAN " + SQL.success)
        #expect(!plan.isEmpty && plan.allSatisfy { !$0.contains("SCAN tasks") }, "\(plan)")
        #expect(
            plan.contains { $0.contains("tasks_live_interval (owner=? AND name=? AND ") },
            "\(plan)")
    }
}
