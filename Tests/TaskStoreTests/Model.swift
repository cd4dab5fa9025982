import BudgetCore
import TaskStore
import TestKit

/// What a store must hold, in dictionaries.
struct Model: Equatable {
    private(set) var tasks: [TaskID: StoredTask] = [:]
    private(set) var pausedGroups: Set<String> = []
    private(set) var pausedOwners: Set<OwnerID> = []
    /// What a task waited for at its submission, of those that have not ended.
    private var dependencies: [TaskID: [TaskID: Dependency]] = [:]
    private(set) var applications: [ApplicationKey: StoredApplication] = [:]
    private(set) var reserved = TaskID(rawValue: 0)
    /// What the store answers to the last changes.
    private(set) var applied = Applied()
    private var successes: [Name: WallTime] = [:]
    private var lastID: UInt64 = 0
    private var seconds = 0

    private struct Name: Hashable {
        var owner: OwnerID
        var name: String

        init(_ task: StoredTask) {
            (owner, name) = (task.owner, task.name)
        }
    }

    /// Some changes that fit the model, one after another.
    mutating func changes(using random: inout SeededGenerator) -> [StoreChange] {
        applied = Applied()
        return (0..<Int.random(in: 1...12, using: &random)).map { _ in
            let change = change(using: &random)
            apply(change)
            return change
        }
    }

    private mutating func change(using random: inout SeededGenerator) -> StoreChange {
        seconds += 1
        let live = tasks.values.filter { $0.end == nil }.sorted { $0.id < $1.id }
        let chosen = live.randomElement(using: &random)
        switch (Int.random(in: 0..<19, using: &random), chosen) {
        case (0, _):
            return .identifiersReserved(through: TaskID(rawValue: lastID + 1000))
        case (1, .some(let task)) where task.state == .queued:
            return .started(
                task.id, at: Samples.time(seconds), executor: Samples.executor(using: &random))
        case (2, .some(let task)) where task.state == .started:
            let end = Samples.end(seconds, using: &random)
            let delay: Duration? = Bool.random(using: &random) ? .seconds(30) : nil
            return .requeued(
                task.id, StoredRequeue(end: end, attempt: task.attempt + 1, earliestBegin: delay))
        case (3, .some(let task)) where task.state == .started:
            return .startUndone(task.id)
        case (4...6, .some(let task)):
            return .ended(task.id, Samples.end(seconds, using: &random))
        case (7, .some(let task)) where task.state == .started:
            return .cancelling(task.id)
        case (8, _):
            let group = ["night", "", "日本"].randomElement(using: &random) ?? ""
            return .groupPaused(group, Bool.random(using: &random))
        case (9...10, _):
            let key = Samples.key(using: &random)
            return .applicationSaved(Samples.application(key, using: &random))
        case (11, _):
            let key = Samples.key(using: &random)
            return .applicationForgotten(owner: key.owner, id: key.id)
        case (15, .some(let task)) where task.state == .queued:
            let queueing = Samples.queueing(using: &random)
            return .changed(task.id, StoredTerms(queueing, at: Samples.time(seconds)))
        case (16, _):
            let owner = OwnerID(rawValue: [0, 1000][Int.random(in: 0..<2, using: &random)])
            return .ownerPaused(owner, Bool.random(using: &random))
        case (17, _):
            // Of a success that nobody has asked for yet, only the history knows.
            let ids = (0..<3).map { _ in
                TaskID(rawValue: .random(in: 1...lastID + 1, using: &random))
            }.filter { id in
                tasks[id].map { $0.end?.at != successes[Name($0)] || $0.end == nil } ?? true
            }
            let owner = OwnerID(rawValue: [0, 1000][Int.random(in: 0..<2, using: &random)])
            return .cleaned(ids, of: Bool.random(using: &random) ? owner : nil)
        default:
            lastID += UInt64(Int.random(in: 1...3, using: &random))
            var task = Samples.task(lastID, using: &random)
            // One that has ended is open to who does not know that yet.
            let others = Set(
                (0..<2).compactMap { _ in tasks.keys.sorted().randomElement(using: &random) })
            task.dependencies = others.sorted().map {
                Dependency(Predecessor($0, anyOutcome: $0.rawValue % 2 == 0))
            }
            return .submitted(task)
        }
    }

    private mutating func apply(_ change: StoreChange) {
        switch change {
        case .submitted(var task):
            for dependency in task.dependencies {
                let predecessor = dependency.predecessor
                dependencies[task.id, default: [:]][predecessor.id] = Dependency(
                    predecessor, dependency.outcome ?? tasks[predecessor.id]?.end?.outcome)
            }
            task.dependencies = []
            tasks[task.id] = task
            if task.queueing.minimumInterval != nil {
                applied.lastSuccesses[task.id] = successes[Name(task)]
            }
        case .started(let id, let time, let executor):
            tasks[id]?.startedAt = time
            tasks[id]?.executor = executor
        case .startUndone(let id):
            tasks[id]?.startedAt = nil
            tasks[id]?.executor = nil
        case .cancelling(let id):
            tasks[id]?.isCancelled = true
        case .ended(let id, let end):
            guard let task = tasks[id] else { return }
            tasks[id] = task.ended(end)
            dependencies[id] = nil
            for other in dependencies.keys {
                guard let open = dependencies[other]?[id], open.outcome == nil else { continue }
                dependencies[other]?[id] = Dependency(open.predecessor, end.outcome)
            }
            if end.outcome == .completed {
                successes[Name(task)] = max(successes[Name(task)] ?? end.at, end.at)
            }
        case .changed(let id, let terms):
            guard var task = tasks[id] else { return }
            task.queueing.group = terms.queueing.group
            task.queueing.priority = terms.queueing.priority
            task.queueing.earliestBegin = terms.queueing.earliestBegin
            task.queueing.conditions = terms.queueing.conditions
            task.queueing.slots = terms.queueing.slots
            task.queueing.isPaused = terms.queueing.isPaused
            task.queuedAt = terms.at
            tasks[id] = task
        case .slotsOrdered: break
        case .cleaned(let ids, let owner):
            for id in ids {
                guard let task = tasks[id], task.end != nil, owner ?? task.owner == task.owner
                else { continue }
                tasks[id] = nil
            }
        case .ownerPaused(let owner, let isPaused):
            if isPaused { pausedOwners.insert(owner) } else { pausedOwners.remove(owner) }
        case .groupPaused(let name, true):
            pausedGroups.insert(name)
        case .groupPaused(let name, false):
            pausedGroups.remove(name)
        case .requeued(let id, let again):
            guard let task = tasks[id] else { return }
            tasks[id]?.attempts.append(
                StoredAttempt(
                    attempt: task.attempt, startedAt: task.startedAt, end: again.end))
            tasks[id]?.attempt = again.attempt
            tasks[id]?.queuedAt = again.end.at
            tasks[id]?.queueing.earliestBegin = again.earliestBegin
            tasks[id]?.startedAt = nil
            tasks[id]?.executor = nil
        case .applicationSaved(let application):
            applications[application.key] = application
        case .applicationForgotten(let owner, let id):
            applications[ApplicationKey(owner: owner, id: id)] = nil
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
        let expectedEnded = expected.filter { $0.end != nil }.map(\.listed)
        guard ended == expectedEnded, try store.endedCount() == ended.count else {
            return "ended: \(ended.map(\.id)), not \(expectedEnded.map(\.id))"
        }
        for task in expected {
            if try reader.task(task.id) != task { return "task \(task.id)" }
            if try reader.attempts(of: task.id) != task.attempts { return "attempts of \(task.id)" }
            let success = try store.lastSuccess(owner: task.owner, name: task.name)
            if success != successes[Name(task)] { return "the last success before \(task.id)" }
        }
        let waiting = live.filter { $0.queueing.minimumInterval != nil }
        let pairs = waiting.compactMap { task in successes[Name(task)].map { (task.id, $0) } }
        guard try store.lastSuccesses(of: live) == Dictionary(uniqueKeysWithValues: pairs) else {
            return "last successes of live tasks"
        }
        guard try store.pausedGroups() == pausedGroups.sorted() else { return "paused groups" }
        guard try store.pausedOwners() == pausedOwners.sorted() else { return "paused owners" }
        let found = try store.dependencies().mapValues { list in
            Dictionary(uniqueKeysWithValues: list.map { ($0.predecessor.id, $0) })
        }
        guard found == dependencies else { return "dependencies: \(found), not \(dependencies)" }
        let known = applications.values.sorted { $0.key < $1.key }
        guard try store.applications() == known else { return "applications" }
        let last = try store.reservedIdentifiers()
        let used = max(reserved, expected.last?.id ?? reserved)
        return last == used ? nil : "reserved through \(last), not \(used)"
    }
}
