import BudgetCore
import TaskStore
import TestKit
import Testing

@Suite("What the store takes, it gives back")
struct RoundTripTests {
    @Test("every field of a queued and of a started task", arguments: 1...Effort.choose(60, 1000))
    func live(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let task = Samples.task(seed, using: &random)
        try folder.open().apply([.submitted(task)])
        #expect(try folder.open().live() == [task])
    }

    @Test(
        "every field of an ended task but what its start needed",
        arguments: 1...Effort.choose(60, 1000))
    func ended(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TaskStore.open(path: "", durability: .memory)
        let task = Samples.task(seed, using: &random)
        let end = Samples.end(9, using: &random)
        try store.apply([.submitted(task), .ended(task.id, end)])
        #expect(try store.live().isEmpty)
        #expect(try store.historyReader().task(task.id) == task.ended(end))
        #expect(try store.historyReader().history(countMax: 9).tasks == [task.ended(end)])
    }

    @Test("every field of tasks that come together, however many they are", arguments: 1...20)
    func together(count: UInt64) throws {
        var random = SeededGenerator(seed: count)
        let store = try TaskStore.open(path: "", durability: .memory)
        let tasks = (1...count).map { Samples.task($0, using: &random) }
        try store.apply(tasks.map { .submitted($0) })
        #expect(try store.live() == tasks)
    }

    @Test("what holds a task back is kept in milliseconds, rounded up")
    func rounding() throws {
        let store = try TaskStore.open(path: "", durability: .memory)
        var task = Samples.task(1)
        task.queueing.earliestBegin = .microseconds(1)
        task.queueing.minimumInterval = .microseconds(2_000_001)
        task.queueing.retry = Retry(attempts: 2, delay: .nanoseconds(5_999_999))
        try store.apply([.submitted(task)])
        let queueing = try #require(try store.live().first?.queueing)
        #expect(queueing.earliestBegin == .milliseconds(1))
        #expect(queueing.minimumInterval == .milliseconds(2001))
        #expect(queueing.retry?.delay == .milliseconds(6))
    }

    @Test("a long command is kept whole until its end, and its first word after it")
    func longCommand() throws {
        let store = try TaskStore.open(path: "", durability: .memory)
        var task = Samples.task(1)
        task.work.command = ["first"] + (0..<1000).map { "argument \($0)" }
        try store.apply([.submitted(task)])
        #expect(try store.live() == [task])
        try store.apply([.ended(task.id, Samples.end(1))])
        #expect(try store.historyReader().task(task.id)?.work.command == ["first", "…"])
    }

    @Test("the start and the end come back after another opening")
    func startAndEnd() throws {
        let folder = try Folder()
        var task = Samples.task(1)
        try folder.open().apply([.submitted(task)])
        try folder.open().apply([.started(task.id, at: Samples.time(3))])
        task.startedAt = Samples.time(3)
        #expect(try folder.open().live() == [task])
        #expect(try folder.open().live().first?.state == .started)
        try folder.open().apply([.ended(task.id, Samples.end(4))])
        let store = try folder.open()
        #expect(try store.historyReader().task(task.id) == task.ended(Samples.end(4)))
        #expect(try store.endedCount() == 1)
    }

    @Test("an attempt that is over is kept, and the task waits for the next one")
    func attempts() throws {
        let folder = try Folder()
        let store = try folder.open()
        var task = Samples.task(1)
        task.startedAt = Samples.time(1)
        var failed = Samples.end(5, .failed, exit: .status(3))
        failed.warnedAt = Samples.time(4)
        let again = StoredRequeue(end: failed, attempt: 2, earliestBegin: .seconds(30))
        try store.apply([.submitted(task), .requeued(task.id, again)])
        var expected = task
        expected.startedAt = nil
        expected.queuedAt = Samples.time(5)
        expected.queueing.earliestBegin = .seconds(30)
        expected.attempt = 2
        expected.attempts = [StoredAttempt(attempt: 1, startedAt: Samples.time(1), end: failed)]
        #expect(try store.live() == [expected])
        #expect(expected.state == .queued)
        try store.apply([.started(task.id, at: Samples.time(40)), .ended(task.id, Samples.end(41))])
        let reader = try store.historyReader()
        #expect(try reader.attempts(of: task.id) == expected.attempts)
        #expect(try reader.task(task.id)?.attempts == expected.attempts)
        #expect(try reader.task(task.id)?.attempt == 2)
        #expect(try reader.history(countMax: 9).tasks.first?.attempts == [])
        let filter = HistoryFilter(withAttempts: true)
        let listed = try reader.history(filter, countMax: 9).tasks
        #expect(listed.first?.attempts == expected.attempts)
    }

    @Test("a listing has the newest ten attempts of each task, the oldest of them first")
    func newestAttempts() throws {
        let folder = try Folder()
        let store = try folder.open()
        for id in [UInt64(1), 2, 3] {
            var task = Samples.task(id)
            task.startedAt = Samples.time(1)
            try store.apply([.submitted(task)])
            // The second has one attempt, the third none before its end.
            for attempt in 2..<(id == 1 ? 15 : id == 2 ? 3 : 2) {
                let again = StoredRequeue(end: Samples.end(attempt, .failed), attempt: attempt)
                try store.apply([
                    .requeued(task.id, again), .started(task.id, at: Samples.time(attempt)),
                ])
            }
            try store.apply([.ended(task.id, Samples.end(20 + Int(id)))])
        }
        let reader = try store.historyReader()
        let tasks = try reader.history(HistoryFilter(withAttempts: true), countMax: 9).tasks
        #expect(tasks.map { $0.attempts.map(\.attempt) } == [[], [1], Array(4...13)])
        #expect(try reader.attempts(of: TaskID(rawValue: 1)).map(\.attempt) == Array(1...13))
    }

    @Test("reserved ids never fall below an id that is used")
    func identifiers() throws {
        let folder = try Folder()
        let store = try folder.open()
        #expect(try store.reservedIdentifiers() == TaskID(rawValue: 0))
        try store.apply([.identifiersReserved(through: TaskID(rawValue: 1 << 40))])
        #expect(try store.reservedIdentifiers() == TaskID(rawValue: 1 << 40))
        try store.apply([
            .submitted(Samples.task(70)), .identifiersReserved(through: TaskID(rawValue: 69)),
        ])
        #expect(try store.reservedIdentifiers() == TaskID(rawValue: 70))
    }

    @Test("the view for people has the words that the interface has")
    func view() throws {
        let folder = try Folder()
        let store = try folder.open()
        for (index, outcome) in Outcome.allCases.enumerated() {
            let task = Samples.task(UInt64(index) + 1)
            try store.apply([.submitted(task), .ended(task.id, Samples.end(index, outcome))])
        }
        try store.apply([.submitted(Samples.task(90))])
        let visitor = try Visitor(folder.database)
        let rows = try visitor.rows("SELECT outcome, state FROM tasks_readable ORDER BY id")
        #expect(rows == Outcome.allCases.map { "\($0)|ended" } + ["|queued"])
        #expect(
            try visitor.rows("SELECT strftime('%s', ended_at, 'utc') FROM tasks_readable LIMIT 1")
                == ["1700000000"])
    }
}
