import BudgetCore
import TestKit

/// One seeded history of the queue: random events go to the registry and to the model, with a disk between
/// that takes a turn's steps in their order, late, or not at all. After each event the two must agree.
struct QueueSimulation {
    static let tick = Duration.seconds(1)
    static let fault = "the disk is full"
    static let owners = [1001, 1002, 1003].map { OwnerID(rawValue: $0) }

    var random: SeededGenerator
    let held: HeldRegistry
    var model = QueueModel()
    var disk = QueueDisk()
    /// The steps of each turn that the disk has not answered, the oldest turn first.
    var commits: [[QueueDisk.Write]] = []
    var actions: [Action] = []
    /// Has the times of what runs.
    var commands = MirroredCommands()
    /// How often the end of each task was told by this daemon.
    var ends: [TaskID: Int] = [:]
    /// Tasks whose end was told and agreed on.
    var finished: [TaskID] = []
    var hasEndedGrace = false
    var startsSeen = 0

    static func boot(_ ticks: Int) -> BootInstant {
        BootInstant(nanoseconds: 0) + tick * ticks
    }

    static func ticks(_ boot: BootInstant) -> Int { ticks(boot - BootInstant(nanoseconds: 0)) }

    static func ticks(_ duration: Duration) -> Int { Int(duration.components.seconds) }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        held = HeldRegistry(QueueSimulation.registry(for: model, from: 1))
    }

    /// A day of grace lets nothing but the queue's own times pass.
    private static func registry(
        for model: QueueModel, from first: UInt64
    ) -> BackgroundTaskRegistry {
        var limits = RegistryLimits()
        limits.slots = model.slots
        limits.groupSlots = model.groupSlots
        limits.slotsPerOwnerMax = model.slotsPerOwnerMax
        limits.tasksPerOwnerMax = model.tasksPerOwnerMax
        limits.warnAfter = .seconds(1_000_000)
        limits.vainEndsAtOnce = QueueModel.vainEndsMax
        let budget = Budget(duration: .seconds(1_000_000), grace: .seconds(86_400))
        let profiles = budget.map { [Profile(name: "default", budget: $0, lifetimeMax: nil)] }
        return BackgroundTaskRegistry(
            limits: limits, profiles: profiles ?? [], identifiers: first...10_000_000)
    }

    var now: Instant { Instant(nanoseconds: 0) + QueueSimulation.tick * model.now }

    /// - Returns: what first went wrong, `nil` where the two agreed to the end.
    mutating func run(steps: Int) -> String? {
        for step in 0..<steps {
            let event = takeEvent()
            failVain()
            if let wrong = model.broken ?? difference() {
                return "step \(step), \(event): \(wrong)"
            }
            strikeOff()
        }
        return finished.allSatisfy { ends[$0] == 1 } ? nil : "an end was told twice"
    }

    /// The shell serves what is due at once.
    private mutating func failVain() {
        while held.registry.nextDeadline == Instant(nanoseconds: .min) {
            turn { $0.deadlineReached(at: $1, &$2) }
        }
        model.failVain()
    }

    // MARK: - Turns

    /// Runs one turn of the shell: what is ordered in it goes to the disk in one commit.
    mutating func turn<Result>(
        _ body: (inout BackgroundTaskRegistry, Instant, inout [Action]) throws -> Result
    ) rethrows -> Result {
        defer { digest() }
        return try body(&held.registry, now, &actions)
    }

    private mutating func digest() {
        var commit: [QueueDisk.Write] = []
        repeat {
            perform(&commit)
            commands.mirror(held.registry.takeChangedTimes(), held.registry, at: now)
            commands.advance(to: now)
            while let news = commands.takeNews() { held.registry.take(news, at: now, &actions) }
        } while !actions.isEmpty
        if !commit.isEmpty { commits.append(commit) }
    }

    private mutating func perform(_ commit: inout [QueueDisk.Write]) {
        for action in actions {
            switch action {
            case .store(let step): commit.append(write(step))
            case .tell(.ended, let id):
                ends[id, default: 0] += 1
                commands.forget(id)
            case .tell(.attemptEnded, let id): commands.forget(id)
            case .warn(let id): commands.mirror([id], firesNow: true, held.registry, at: now)
            case .launch(let id): launch(id)
            case .fault(let fault): model.broken = "what must never happen: \(fault)"
            default: break
            }
        }
        actions.removeAll(keepingCapacity: true)
    }

    private mutating func write(_ step: StoreStep) -> QueueDisk.Write {
        switch step {
        case .submitted(let id, _):
            return QueueDisk.Write(
                step: step, record: held.registry.record(id),
                open: held.registry.openPredecessors(of: id))
        case .started(let id), .startUndone(let id), .ended(let id), .attemptEnded(let id),
            .cancelling(let id), .changed(let id):
            return QueueDisk.Write(step: step, record: held.registry.record(id))
        case .groupPaused, .ownerPaused, .slotsOrdered, .cleaned, .applicationSaved,
            .applicationForgotten,
            .identifiersReserved:
            return QueueDisk.Write(step: step, record: nil)
        }
    }

    /// A command is started: the disk must know, and no other of a unique name may run.
    private mutating func launch(_ id: TaskID) {
        startsSeen += 1
        commands.launch(id, held.registry, at: now)
        let known = disk.tasks.first { $0.id == id }
        guard let known, known.isBegun, !known.hasEnded else {
            model.broken = "task \(id) was launched before the disk knew"
            return
        }
        let name = (known.submission.owner, known.submission.name)
        let namesake = held.registry.footprint.occupantIDs.compactMap { held.registry.record($0) }
            .first {
                $0.task.id != id && ($0.task.owner, $0.task.name) == name
                    && $0.run?.queueing.unique != nil
            }
        if known.submission.queueing.unique != nil, let namesake {
            model.broken = "task \(id) was launched beside \(namesake.task.id)"
        }
    }

    /// The disk answers the oldest commit.
    mutating func answerCommit(_ isStored: Bool) {
        guard !commits.isEmpty else { return }
        let commit = commits.removeFirst()
        for write in commit {
            if isStored {
                let lastSuccess = disk.take(write)
                held.registry.stored(write.step, lastSuccess: lastSuccess, at: now, &actions)
                model.stored(write.step)
            } else {
                held.registry.notStored(write.step, QueueSimulation.fault, at: now, &actions)
                model.notStored(write.step)
            }
        }
        digest()
    }

    /// The daemon is gone, and another one takes over what the disk knows.
    mutating func restart() -> String {
        // What was on its way to the disk may have reached it or not.
        let reached = Int.random(in: 0...commits.count, using: &random)
        for write in commits.prefix(reached).joined() { _ = disk.take(write) }
        commits = []
        ends = [:]
        finished = []
        commands.isLost()
        hasEndedGrace = false
        let last = held.registry.identifierLast.rawValue
        held.registry = QueueSimulation.registry(for: model, from: last + 1)
        held.registry.asleep = QueueSimulation.tick * model.asleep
        model.restart(disk)
        let restored = disk.tasks.filter { !$0.hasEnded }.map { restore($0) }
        let (paused, pausedOwners) = (disk.paused.sorted(), disk.pausedOwners.sorted())
        let executor = commands.executor.instance
        turn {
            $0.restore(pausedOwners: pausedOwners)
            $0.restore(pausedGroups: paused)
            $0.restore(restored, executor: executor, at: $1, &$2)
        }
        return "restart"
    }

    private func restore(_ task: QueueDisk.Task) -> RestoredTask {
        let budget = Budget(duration: .seconds(1_000_000), grace: .seconds(86_400))
        var restored = RestoredTask(
            id: task.id, submission: task.submission, profile: "default", budget: budget,
            grace: .seconds(86_400), lifetimeMax: nil, isCutByLifetime: false, submittedAt: now,
            begunAt: task.isBegun ? now : nil)
        restored.attempt = task.attempt
        // It was started by the one that is lost.
        restored.executor = ExecutorInstance(high: 1, low: commands.executor.instance.low - 1)
        restored.notBefore = task.notBefore
        restored.isCancelled = task.isCancelled
        let wait = disk.wait(of: task)
        let known = task.dependencies.map { Dependency($0.predecessor, $0.outcome) }
        restored.wait(after: known, broken: wait.broken)
        let name = QueueModel.Name(owner: task.submission.owner, name: task.submission.name)
        if task.submission.queueing.minimumInterval != nil {
            restored.lastSuccess = disk.successes[name].map(QueueSimulation.boot)
        }
        return restored
    }

    // MARK: - Comparison

    /// What has ended is not looked at again.
    mutating func strikeOff() {
        finished += model.tasks.filter { $0.phase == .ended }.map(\.id)
        model.tasks.removeAll { $0.phase == .ended }
    }

    mutating func difference() -> String? {
        if let idle = model.notePresence() { return "task \(idle) could run, and does not" }
        for task in model.tasks {
            if let difference = difference(task) { return "task \(task.id) \(difference)" }
        }
        let holders = Set(model.tasks.filter(\.hasSlot).map(\.id))
        if held.registry.footprint.occupantIDs != holders {
            return
                "slots are with \(held.registry.footprint.occupantIDs.sorted()), not \(holders.sorted())"
        }
        return differenceOfSums()
    }

    private func difference(_ expected: QueueModel.Task) -> String? {
        guard let record = held.registry.record(expected.id), let run = record.run else {
            return "is unknown, not \(expected.phase)"
        }
        let told = ends[expected.id] ?? 0
        guard expected.phase != .ended else {
            guard record.task.outcome == expected.outcome, told == 1 else {
                return "\(record.task.state) \(String(describing: record.task.outcome)), told "
                    + "\(told) times, not \(String(describing: expected.outcome))"
            }
            return nil
        }
        let isLive = expected.phase == .running || expected.phase == .exited
        guard told == 0, run.attempt == expected.attempt,
            (run.conclusion != nil) == (expected.phase == .concluding),
            expected.phase == .concluding || record.task.isLive == isLive,
            run.conclusion?.outcome == (expected.phase == .concluding ? expected.outcome : nil)
        else { return "is \(record.task.state) in attempt \(run.attempt), not \(expected)" }
        guard expected.phase == .waiting || expected.phase == .starting else { return nil }
        return differenceOfHolds(expected)
    }

    private func differenceOfHolds(_ expected: QueueModel.Task) -> String? {
        // A time that has come holds nothing back, though it is named until the queue is next looked at.
        let boot = QueueSimulation.boot(model.boot)
        let told = held.registry.pendingReasons(of: expected.id).filter {
            $0.until ?? .never > boot && $0 != .starting
        }
        var holds = expected.phase == .waiting ? model.holds(expected) : []
        if expected.phase == .waiting {
            if let hold = model.slotsHold(expected.queueing.slots) { holds.append(hold) }
            // A time that has come is named until the queue is next looked at, and nothing else then.
            let isReserved = model.mayReserve(of: expected.owner)
            if holds.isEmpty, isReserved, !told.isEmpty { holds = [.slotsReserved] }
        }
        if expected.phase == .starting, model.isFaulty {
            holds = [.store(QueueSimulation.fault)]
        }
        return told == holds ? nil : "is held back by \(told), not \(holds)"
    }

    private func differenceOfSums() -> String? {
        let waiting = model.tasks.filter { $0.phase == .waiting }
        let due = waiting.filter { $0.notBefore <= model.boot && !$0.isHeldBack }
        let wanted = due.reduce(into: Conditions()) { $0.formUnion($1.queueing.conditions) }
        if held.registry.wantedConditions != wanted {
            return "\(held.registry.wantedConditions) are wanted"
        }
        for group in held.registry.groups(for: Clerk.rootWithAll) {
            let use = (
                model.holders { $0.group == group.name }, waiting.count { $0.group == group.name }
            )
            if use != (group.use.runningCount, group.use.queuedCount) {
                return "group \(group.name) is used by \(group.use), not \(use)"
            }
            if group.isPaused != model.paused.contains(group.name) { return "\(group) is wrong" }
        }
        for (group, owner) in QueueSimulation.owners.map({ ("net", $0) }) {
            let use = held.registry.groups(for: Caller(owner: owner)).first { $0.name == group }
            let own = (
                model.holders { $0.group == group && $0.owner == owner },
                waiting.count { $0.group == group && $0.owner == owner }
            )
            if let use, own != (use.use.runningCount, use.use.queuedCount) {
                return "owner \(owner) has \(use.use) in group \(group), not \(own)"
            }
        }
        for owner in QueueSimulation.owners {
            let own = model.tasks.filter { $0.owner == owner }
            let live = own.count { $0.hasSlot && $0.phase != .concluding }
            let queued = own.count { $0.phase == .waiting || $0.phase == .arriving }
            if held.registry.use(of: owner) != (live, queued) {
                return "owner \(owner) has \(held.registry.use(of: owner)), not \((live, queued))"
            }
        }
        return nil
    }
}
