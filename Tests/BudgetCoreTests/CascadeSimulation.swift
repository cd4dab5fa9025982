import BudgetCore
import TestKit

/// One seeded history of tasks that come after others, with a registry that tells and ends few of them in a turn, a
/// disk that answers late, and daemons that are killed in between. In the end each task must have come to what rule 29
/// says of it, whatever the order was.
struct CascadeSimulation {
    private static let owner = OwnerID(rawValue: 1001)

    private var random: SeededGenerator
    private let held: HeldRegistry
    private let toldAtOnce: Int
    private let vainAtOnce: Int
    private var now = Instant(nanoseconds: 1_000)
    private var disk = QueueDisk()
    /// The steps of each turn that the disk has not answered, the oldest turn first.
    private var commits: [[QueueDisk.Write]] = []
    /// What each task comes after.
    private var after: [TaskID: [Predecessor]] = [:]
    private var running: Set<TaskID> = []
    private var launched: Set<TaskID> = []
    private(set) var outcomes: [TaskID: Outcome] = [:]
    private var wrong: String?
    /// How many turns left something to tell or to end.
    private(set) var slicedCount = 0
    private(set) var vainCount = 0

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        toldAtOnce = Int.random(in: 1...6, using: &random)
        vainAtOnce = Int.random(in: 1...4, using: &random)
        self.random = random
        held = HeldRegistry(Self.registry(toldAtOnce, vainAtOnce, from: 1))
    }

    private static func registry(
        _ toldAtOnce: Int, _ vainAtOnce: Int, from first: UInt64
    ) -> BackgroundTaskRegistry {
        var limits = RegistryLimits()
        limits.slots = 3
        limits.followersToldAtOnce = toldAtOnce
        limits.vainEndsAtOnce = vainAtOnce
        return BackgroundTaskRegistry(
            limits: limits, profiles: Clerk.profiles, identifiers: first...10_000_000)
    }

    /// - Returns: what went wrong first, `nil` where nothing did.
    mutating func run(steps: Int) -> String? {
        for step in 0..<steps {
            takeEvent()
            if let wrong { return "step \(step): \(wrong)" }
        }
        // Now all of it comes to its end.
        repeat {
            settle()
            for id in running.sorted() { finish(id) }
        } while wrong == nil && (!running.isEmpty || !commits.isEmpty)
        return wrong ?? difference()
    }

    private mutating func takeEvent() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: submit()
        case 45..<60: if let id = running.sorted().randomElement(using: &random) { finish(id) }
        case 60..<64: cancel()
        case 64..<82: answerCommit()
        case 82..<98: serve()
        default: restart()
        }
    }

    private mutating func submit() {
        let alive = after.keys.filter { outcomes[$0] == nil }.sorted()
        let count = Int.random(in: 0...8, using: &random)
        let chosen = Set((0..<count).compactMap { _ in alive.randomElement(using: &random) })
        var submission = Submission(
            name: "a", owner: Self.owner, work: Work(command: ["true"]))
        submission.queueing.after = chosen.sorted().map {
            Predecessor($0, anyOutcome: Int.random(in: 0..<4, using: &random) == 0)
        }
        if Int.random(in: 0..<3, using: &random) == 0 { submission.queueing.isPaused = true }
        let order = submission
        // One that would wait in vain from the beginning is refused.
        guard let id = try? turn({ try $0.submit(order, at: $1, &$2).id }) else { return }
        after[id] = order.queueing.after
    }

    private mutating func finish(_ id: TaskID) {
        running.remove(id)
        let status: Int32 = Int.random(in: 0..<4, using: &random) == 0 ? 1 : 0
        turn {
            $0.started(id, as: ProcessID(rawValue: 77), at: $1, &$2)
            $0.mainExited(id, .status(status), at: $1, &$2)
            $0.processesGone(id, at: $1, &$2)
        }
    }

    private mutating func cancel() {
        let alive = after.keys.filter { outcomes[$0] == nil && !running.contains($0) }.sorted()
        guard let id = alive.randomElement(using: &random) else { return }
        let caller = Caller(owner: Self.owner)
        _ = try? turn { try $0.cancel(id, by: caller, text: nil, at: $1, &$2) }
    }

    // MARK: - Turns

    private mutating func turn<Result>(
        _ body: (inout BackgroundTaskRegistry, Instant, inout [Action]) throws -> Result
    ) rethrows -> Result {
        now = now + .nanoseconds(1)
        let before = openCounts()
        var actions: [Action] = []
        defer {
            perform(actions)
            let after = openCounts()
            let told = before.reduce(0) { $0 + $1.value - (after[$1.key] ?? $1.value) }
            if told > toldAtOnce { wrong = "\(told) were told in a turn, not \(toldAtOnce)" }
        }
        return try body(&held.registry, now, &actions)
    }

    /// What those wait for that wait for others.
    private func openCounts() -> [TaskID: Int] {
        var counts: [TaskID: Int] = [:]
        for id in after.keys where outcomes[id] == nil {
            let count = held.registry.openPredecessors(of: id).count
            if count > 0 || held.registry.dependencies(of: id).isEmpty == false {
                counts[id] = count
            }
        }
        return counts
    }

    private mutating func perform(_ actions: [Action]) {
        var commit: [QueueDisk.Write] = []
        for action in actions {
            switch action {
            case .store(let step): commit.append(write(step))
            case .launch(let id): launch(id)
            case .tell(.ended, let id):
                if outcomes[id] != nil { wrong = "task \(id) ended twice" }
                outcomes[id] = held.registry.record(id)?.task.outcome
            case .fault(let fault): wrong = "what must never happen: \(fault)"
            default: break
            }
        }
        if !commit.isEmpty { commits.append(commit) }
    }

    private func write(_ step: StoreStep) -> QueueDisk.Write {
        switch step {
        case .submitted(let id, _):
            QueueDisk.Write(
                step: step, record: held.registry.record(id),
                open: held.registry.openPredecessors(of: id))
        case .started(let id), .startUndone(let id), .ended(let id), .cancelling(let id):
            QueueDisk.Write(step: step, record: held.registry.record(id))
        default: QueueDisk.Write(step: step, record: nil)
        }
    }

    private mutating func launch(_ id: TaskID) {
        let isEarly = (after[id] ?? []).contains { predecessor in
            guard let outcome = outcomes[predecessor.id] else { return true }
            return outcome != .completed && !predecessor.anyOutcome
        }
        if isEarly { wrong = "task \(id) was launched before what it comes after" }
        running.insert(id)
        launched.insert(id)
    }

    private mutating func answerCommit() {
        guard !commits.isEmpty else { return }
        let commit = commits.removeFirst()
        for write in commit { _ = disk.take(write) }
        turn { registry, now, actions in
            for write in commit { registry.stored(write.step, at: now, &actions) }
        }
    }

    private var isDue: Bool { held.registry.nextDeadline == Instant(nanoseconds: .min) }

    private mutating func serve() {
        guard isDue else { return }
        let limit = Int.random(in: 1...5, using: &random)
        let inFlight = commits.joined().count(where: \.isVainEnd)
        turn { $0.deadlineReached(at: $1, limit: limit, &$2) }
        let ordered = commits.joined().count(where: \.isVainEnd) - inFlight
        vainCount += ordered
        if ordered > max(vainAtOnce - inFlight, 0) || ordered > limit {
            wrong = "\(ordered) ends were ordered beside \(inFlight)"
        }
        if isDue { slicedCount += 1 }
    }

    private mutating func settle() {
        while wrong == nil, isDue || !commits.isEmpty {
            serve()
            answerCommit()
        }
        let paused = after.keys.filter {
            outcomes[$0] == nil && held.registry.record($0)?.run?.queueing.isPaused == true
        }
        var change = QueueingChange()
        change.isPaused = false
        for id in paused.sorted() {
            let (order, caller) = (change, Caller(owner: Self.owner))
            _ = try? turn { try $0.change(id, by: caller, order, at: $1, &$2) }
        }
    }

    /// The daemon is killed, and another one takes over what the disk knows.
    private mutating func restart() {
        let reached = Int.random(in: 0...commits.count, using: &random)
        for write in commits.prefix(reached).joined() { _ = disk.take(write) }
        commits = []
        running = []
        let known = Set(disk.tasks.map(\.id))
        after = after.filter { known.contains($0.key) }
        for task in disk.tasks where task.hasEnded { outcomes[task.id] = task.outcome }
        let last = held.registry.identifierLast.rawValue
        held.registry = Self.registry(toldAtOnce, vainAtOnce, from: last + 1)
        let tasks = disk.tasks.filter { !$0.hasEnded }.map { task in
            var restored = RestoredTask(
                task.id.rawValue, task.submission, begunAt: task.isBegun ? now : nil)
            restored.isCancelled = task.isCancelled
            restored.wait(
                after: task.dependencies.map { Dependency($0.predecessor, $0.outcome) },
                broken: disk.wait(of: task).broken)
            return restored
        }
        now = now + .nanoseconds(1)
        var actions: [Action] = []
        held.registry.restore(tasks, at: now, &actions)
        perform(actions)
    }

    // MARK: - What must have come of it

    private func difference() -> String? {
        for id in after.keys.sorted() {
            guard let outcome = outcomes[id] else { return "task \(id) has not ended" }
            let isVain = (after[id] ?? []).contains { predecessor in
                !predecessor.anyOutcome && outcomes[predecessor.id] != .completed
            }
            if isVain, launched.contains(id) { return "task \(id) ran, and was not to" }
            if isVain, outcome != .failed, outcome != .cancelled {
                return "task \(id) waited in vain and is \(outcome)"
            }
            if !isVain, !launched.contains(id), outcome != .cancelled, outcome != .interrupted {
                return "task \(id) never ran and is \(outcome)"
            }
        }
        return held.registry.footprint.isQueueForgotten ? nil : "something is kept of the queue"
    }
}

extension QueueDisk.Write {
    /// Whether it is the end of a task that waited in vain for others.
    fileprivate var isVainEnd: Bool {
        guard case .predecessor = record?.run?.conclusion?.reason else { return false }
        return true
    }
}
