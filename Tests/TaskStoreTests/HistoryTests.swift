import BudgetCore
import TaskStore
import TestKit
import Testing

@Suite("The history is answered in pages, newest first")
struct HistoryTests {
    /// What the store is compared with: the same rows in an array.
    private struct Row {
        var id: UInt64
        var owner: UInt32
        var name: String
        var application: String?
        var group: String?
        var outcome: Outcome
        var seconds: Int

        func passes(_ filter: HistoryFilter) -> Bool {
            (filter.owner.map { $0.rawValue == owner } ?? true)
                && (filter.name.map { $0 == name } ?? true)
                && (filter.application.map { $0 == application } ?? true)
                && (filter.group.map { $0 == group } ?? true)
                && (filter.outcomes.isEmpty || filter.outcomes.contains(outcome))
                && (filter.since.map { $0 <= Samples.time(seconds) } ?? true)
        }
    }

    private let store: TaskStore
    private let reader: HistoryReader
    private var rows: [Row] = []

    private static let count: UInt64 = 100_000

    init() throws {
        store = try TaskStore.open(path: "", durability: .memory)
        var random = SeededGenerator(seed: 5)
        for first in stride(from: 1, to: HistoryTests.count, by: 5000) {
            var changes: [StoreChange] = []
            for id in first..<first + 5000 {
                let row = HistoryTests.row(id, &random)
                var task = Samples.task(id, name: row.name, owner: row.owner)
                task.application = row.application
                task.queueing.group = row.group
                task.end = Samples.end(row.seconds, row.outcome)
                rows.append(row)
                changes.append(.submitted(task))
            }
            try store.apply(changes)
        }
        rows.sort { ($0.seconds, $0.id) > ($1.seconds, $1.id) }
        reader = try store.historyReader()
    }

    /// Several tasks end at the same time, and most complete.
    private static func row(_ id: UInt64, _ random: inout SeededGenerator) -> Row {
        let isCompleted = Int.random(in: 0..<100, using: &random) < 97
        return Row(
            id: id,
            owner: [0, 1000, 1000, 1000, 1001][Int.random(in: 0..<5, using: &random)],
            name: "name \(Int.random(in: 0..<50, using: &random))",
            application: Bool.random(using: &random) ? "app \(id % 7)" : nil,
            group: Int.random(in: 0..<10, using: &random) == 0 ? "night" : nil,
            outcome: isCompleted
                ? .completed : Outcome.allCases.randomElement(using: &random) ?? .failed,
            seconds: Int.random(in: 0..<50_000, using: &random))
    }

    @Test("100,000 rows in pages are the rows that pass, each once, in order, for every filter")
    func pages() throws {
        let owner = OwnerID(rawValue: 1001)
        let since = Samples.time(40_000)
        let filters: [HistoryFilter] = [
            HistoryFilter(),
            HistoryFilter(owner: owner),
            HistoryFilter(name: "name 7"),
            HistoryFilter(application: "app 3", since: since),
            HistoryFilter(group: "night", outcomes: [.completed]),
            HistoryFilter(outcomes: [.failed]),
            HistoryFilter(outcomes: [.overrun, .failed, .interrupted]),
            HistoryFilter(name: "name 3", outcomes: [.completed, .failed, .expired]),
            HistoryFilter(owner: owner, name: "name 7", outcomes: [.cancelled, .expired]),
            HistoryFilter(
                owner: owner, name: "name 9", application: "app 1", group: "night",
                outcomes: [.completed], since: since),
            HistoryFilter(name: "unheard of"),
        ]
        for (filter, size) in zip(filters, [9999, 900, 133, 50, 1000, 100, 40, 60, 7, 1, 5]) {
            let expected = rows.filter { $0.passes(filter) }.map(\.id)
            var found: [UInt64] = []
            var cursor: HistoryCursor?
            repeat {
                let page = try reader.history(filter, after: cursor, countMax: size)
                #expect(page.tasks.count == size || page.next == nil)
                found += page.tasks.map(\.id.rawValue)
                cursor = page.next
            } while cursor != nil
            #expect(found == expected, "\(filter)")
        }
        #expect(try store.endedCount() == 100_000)
        #expect(try reader.endedCount() == 100_000)
    }
}

@Suite("The history needs no scan")
struct HistoryPlanTests {
    @Test(
        "every kind of question goes by an index that has the order already",
        arguments: [
            HistoryFilter(), HistoryFilter(owner: .root), HistoryFilter(name: "a"),
            HistoryFilter(application: "a"), HistoryFilter(group: "a"),
            HistoryFilter(outcomes: [.failed]), HistoryFilter(since: Samples.time(0)),
            HistoryFilter(owner: .root, name: "a", outcomes: [.failed], since: Samples.time(0)),
        ])
    func plans(filter: HistoryFilter) throws {
        for cursor in [nil, HistoryCursor(endedAt: Samples.time(1), id: TaskID(rawValue: 1))] {
            let folder = try Folder()
            _ = try folder.open()
            let query = HistoryQuery(filter, filter.outcomes.first, after: cursor).sql
            let plan = try Visitor(folder.database).rows("EXPLAIN QUERY PLAN " + query)
            #expect(plan.count == 1, "\(plan)")
            #expect(plan.allSatisfy { $0.contains("USING INDEX tasks_ended") }, "\(plan)")
        }
    }

    @Test("a page is not shown what ended after it was asked for, and none is lost")
    func stablePages() throws {
        let folder = try Folder()
        let store = try folder.open()
        let reader = try store.historyReader()
        func end(_ ids: ClosedRange<UInt64>) throws {
            for id in ids {
                let task = Samples.task(id)
                try store.apply([.submitted(task), .ended(task.id, Samples.end(Int(id)))])
            }
        }
        try end(1...10)
        let first = try reader.history(countMax: 4)
        #expect(first.tasks.map(\.id.rawValue) == [10, 9, 8, 7])
        try end(11...20)
        let second = try reader.history(after: first.next, countMax: 6)
        #expect(second.tasks.map(\.id.rawValue) == [6, 5, 4, 3, 2, 1])
        #expect(second.next == nil)
        try reader.close()
    }
}
