import BudgetCore
import TaskStore
import TestKit

/// What a store must hold, in dictionaries.
struct Model: Equatable {
    private(set) var tasks: [TaskID: StoredTask] = [:]
    private(set) var attempts: [TaskID: [StoredAttempt]] = [:]
    private(set) var reserved = TaskID(rawValue: 0)
    private var lastID: UInt64 = 0
    private var seconds = 0

    /// Some changes that fit the model, one after another.
    mutating func changes(using random: inout SeededGenerator) -> [StoreChange] {
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
            let change = change(using: &random)
            apply(change)
            return change
        }
    }

    private mutating func change(using random: inout SeededGenerator) -> StoreChange {
        seconds += 1
        let live = tasks.values.filter { $0.end == nil }.sorted { $0.id < $1.id }
        let chosen = live.randomElement(using: &random)
        switch (Int.random(in: 0..<9, using: &random), chosen) {
        case (0, _):
            return .identifiersReserved(through: TaskID(rawValue: lastID + 1000))
        case (1, .some(let task)) where task.state == .queued:
            return .started(task.id, at: Samples.time(seconds))
        case (2, .some(let task)) where task.state == .started:
            let end = Samples.end(seconds, using: &random)
            let delay: Duration? = Bool.random(using: &random) ? .seconds(30) : nil
            return .requeued(
                task.id, StoredRequeue(end: end, attempt: task.attempt + 1, earliestBegin: delay))
        case (3, .some(let task)) where task.state == .started:
            return .startUndone(task.id)
        case (4...6, .some(let task)):
            return .ended(task.id, Samples.end(seconds, using: &random))
        default:
            lastID += UInt64(Int.random(in: 1...3, using: &random))
            return .submitted(Samples.task(lastID, using: &random))
        }
    }

    private mutating func apply(_ change: StoreChange) {
        switch change {
        case .submitted(let task):
            tasks[task.id] = task
        case .started(let id, let time):
            tasks[id]?.startedAt = time
        case .startUndone(let id):
            tasks[id]?.startedAt = nil
        case .ended(let id, let end):
            tasks[id] = tasks[id]?.ended(end)
        case .requeued(let id, let again):
            guard let task = tasks[id] else { return }
            attempts[id, default: []].append(
                StoredAttempt(
                    attempt: task.attempt, startedAt: task.startedAt, end: again.end))
            tasks[id]?.attempt = again.attempt
            tasks[id]?.queuedAt = again.end.at
            tasks[id]?.queueing.earliestBegin = again.earliestBegin
            tasks[id]?.startedAt = nil
        case .identifiersReserved(let id):
            reserved = id
        }
    }

    /// Where the store differs; `nil` where it holds just this.
    func difference(from store: TaskStore) throws(StoreError) -> String? {
        let expected = tasks.values.sorted { $0.id < $1.id }
        let live = try store.live()
        let expectedLive = expected.filter { $0.end == nil }
        guard live == expectedLive else {
            return "live: \(live.map(\.id)), not \(expectedLive.map(\.id))"
        }
        let reader = try store.historyReader()
        let ended = try reader.history(countMax: 100_000).tasks.sorted { $0.id < $1.id }
        let expectedEnded = expected.filter { $0.end != nil }
        guard ended == expectedEnded, try store.endedCount() == ended.count else {
            return "ended: \(ended.map(\.id)), not \(expectedEnded.map(\.id))"
        }
        for task in expected {
            let found = try reader.attempts(of: task.id)
            if found != attempts[task.id, default: []] { return "attempts of task \(task.id)" }
        }
        let found = try store.reservedIdentifiers()
        let used = max(reserved, expected.last?.id ?? reserved)
        return found == used ? nil : "reserved through \(found), not \(used)"
    }
}
