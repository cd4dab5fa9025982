import BudgetCore
import TestKit

extension QueueSimulation {
    mutating func takeEvent() -> String {
        if model.isFaulty, chance(4) { return heal() }
        if model.isDraining, chance(8) { return restart() }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<24: return submit()
        case 24..<43: return exit()
        case 43..<48: return cancel()
        case 48..<58: return pass()
        case 58..<84: return answer()
        case 84..<89: return changeConditions()
        case 89..<90: return pause()
        case 90..<91: return pauseOwner()
        case 91..<94: return change()
        case 94: return chance(2) ? reload() : executorIsThere()
        case 95..<97: return fail()
        case 97: return drain()
        case 98: return chance(3) ? silence() : answer()
        default: return restart()
        }
    }

    private mutating func chance(_ one: Int) -> Bool {
        Int.random(in: 0..<one, using: &random) == 0
    }

    // MARK: - Submissions and orders

    private mutating func anySubmission() -> Submission {
        let owner =
            chance(2)
            ? QueueSimulation.owners[0]
            : QueueSimulation.owners[Int.random(in: 0..<3, using: &random)]
        let name = chance(2) ? "a" : "b"
        var submission = Submission(name: name, owner: owner, work: Work(command: ["true"]))
        submission.queueing = chance(4) ? anyOfLine() : anyQueueing()
        if chance(3) { submission.queueing.after = anyPredecessors(for: owner) }
        for id in held.registry.unknownPredecessors(of: submission) {
            submission.earlierEnds[id] =
                disk.tasks.first {
                    $0.id == id && $0.submission.owner == owner
                }?.outcome
        }
        return submission
    }

    /// Some tasks, mostly of this owner and alive.
    private mutating func anyPredecessors(for owner: OwnerID) -> [Predecessor] {
        let alive = model.tasks.filter { $0.isAdmitted && ($0.owner == owner || chance(20)) }
        var ids = Set((0..<2).compactMap { _ in alive.randomElement(using: &random)?.id })
        if chance(5), let ended = finished.randomElement(using: &random) { ids.insert(ended) }
        return ids.sorted().map { Predecessor($0, anyOutcome: chance(2)) }
    }

    /// Tasks in one line differ in nothing but their priorities.
    private mutating func anyOfLine() -> Queueing {
        var queueing = Queueing()
        queueing.minimumInterval = .seconds(4)
        queueing.priority = Int.random(in: 0...2, using: &random)
        return queueing
    }

    private mutating func anyQueueing() -> Queueing {
        var queueing = Queueing()
        if chance(3) { queueing.group = chance(2) ? "net" : "disk" }
        if chance(3) { queueing.priority = Int.random(in: -1...2, using: &random) }
        if chance(5) { queueing.earliestBegin = anyWait(12) }
        if chance(6) {
            queueing.conditions = Conditions(rawValue: UInt8.random(in: 0...7, using: &random))
        }
        if chance(4) { queueing.minimumInterval = chance(3) ? .seconds(8) : .seconds(4) }
        if chance(5) {
            queueing.unique = [.keep, .replace, .replaceQueued].randomElement(using: &random)
        }
        if chance(6) { queueing.slots = Int.random(in: 2...3, using: &random) }
        if chance(12) { queueing.isPaused = true }
        if chance(3) {
            queueing.retry = Retry(
                attempts: Int.random(in: 1...3, using: &random), delay: anyWait(6),
                onInterruption: chance(2))
        }
        return queueing
    }

    private mutating func anyWait(_ max: Int) -> Duration {
        QueueSimulation.tick * Int.random(in: 0...max, using: &random)
    }

    private mutating func submit() -> String {
        let submission = anySubmission()
        let expected = model.answer(submission)
        let submitted = try? turn { try $0.submit(submission, at: $1, &$2) }
        switch (expected, submitted) {
        case (.refused, nil): return "submission refused"
        case (.standsIn(let id), let submitted?) where submitted.isCoalesced && submitted.id == id:
            return "task \(id) stands in"
        case (.taken, let submitted?) where !submitted.isCoalesced:
            model.submit(submission, as: submitted.id)
            return "submit \(submitted.id)"
        default:
            model.broken = "was answered \(String(describing: submitted)), not \(expected)"
            return "submit \(submission.queueing)"
        }
    }

    private mutating func cancel() -> String {
        let alive = model.tasks.filter { $0.phase != .ended }
        guard !chance(10), let task = alive.randomElement(using: &random) else {
            return cancelEnded()
        }
        let caller = Caller(owner: task.owner)
        let isTaken =
            (try? turn { try $0.cancel(task.id, by: caller, text: nil, at: $1, &$2) }) != nil
        if isTaken != model.cancel(task.id) { model.broken = "cancel taken: \(isTaken) is wrong" }
        return "cancel \(task.id)"
    }

    private mutating func cancelEnded() -> String {
        guard let id = finished.randomElement(using: &random) else { return "nothing to cancel" }
        let caller = Caller(owner: .root, seesAll: true)
        let isTaken = (try? turn { try $0.cancel(id, by: caller, text: nil, at: $1, &$2) }) != nil
        if isTaken { model.broken = "an ended task was cancelled" }
        return "cancel ended \(id)"
    }

    // MARK: - Processes

    private mutating func exit() -> String {
        let live = model.tasks.indices.filter {
            model.tasks[$0].phase == .running || model.tasks[$0].phase == .exited
        }
        guard let index = live.randomElement(using: &random) else { return "nothing runs" }
        let task = model.tasks[index]
        guard task.phase == .running else {
            turn { $0.processesGone(task.id, at: $1, &$2) }
            model.gone(index)
            return "gone \(task.id)"
        }
        if chance(6) { return postpone(index) }
        if task.verdict == nil, chance(8) {
            turn { $0.startFailed(task.id, "no such file", at: $1, &$2) }
            model.conclude(index, .failed)
            return "start failed \(task.id)"
        }
        let exits: [ProcessExit] =
            task.isKilled
            ? [.signal(.kill), .status(0)] : [.status(0), .status(0), .status(1)]
        let exit = exits.randomElement(using: &random) ?? .status(0)
        turn {
            $0.started(task.id, as: ProcessID(rawValue: 77), at: $1, &$2)
            $0.mainExited(task.id, exit, at: $1, &$2)
        }
        model.start(index)
        model.exit(index, exit)
        if chance(2) { return "exit \(task.id)" }
        turn { $0.processesGone(task.id, at: $1, &$2) }
        model.gone(index)
        return "end \(task.id)"
    }

    /// The machine, or the user, has no room for a command that is being started.
    private mutating func postpone(_ index: Int) -> String {
        let id = model.tasks[index].id
        let scope: ShortageScope = chance(2) ? .machine : chance(2) ? .executor : .command
        _ = turn { $0.startPostponed(id, QueueModel.shortage, scope, at: $1, &$2) }
        model.postpone(index, scope)
        return "no room for \(id) (\(scope))"
    }

    /// What was killed goes before it is stuck or given up, which another simulation is about.
    ///
    /// - Parameter patience: how many ticks after it was killed.
    private mutating func endKilled(after patience: Int) {
        for task in model.tasks {
            guard let killedAt = task.killedAt, model.now - killedAt >= patience,
                let index = model.index(task.id)
            else { continue }
            if model.tasks[index].phase == .running {
                turn { $0.mainExited(task.id, .signal(.kill), at: $1, &$2) }
                model.exit(index, .signal(.kill))
            }
            guard model.tasks[index].phase == .exited else { continue }
            turn { $0.processesGone(task.id, at: $1, &$2) }
            model.gone(index)
        }
    }

    private mutating func drain() -> String {
        guard !model.isDraining else {
            guard !hasEndedGrace else { return "drained already" }
            hasEndedGrace = true
            turn { $0.endGrace(at: $1, &$2) }
            model.endGrace()
            return "end of grace"
        }
        endKilled(after: QueueSimulation.ticks(TeardownStep.drainWait))
        turn { $0.drain(keepsQueue: true, at: $1, &$2) }
        model.drain()
        return "drain"
    }

    // MARK: - Time and the machine

    /// Time passes, or the machine sleeps; the shell serves what is due each tick, or late.
    private mutating func pass() -> String {
        endKilled(after: model.isDraining ? 0 : 20)
        let ticks = Int.random(in: 1...6, using: &random)
        let isAsleep = chance(4)
        let isLate = isAsleep || chance(2)
        for _ in 0..<(isLate ? 1 : ticks) {
            let count = isLate ? ticks : 1
            if isAsleep { model.asleep += count }
            held.registry.asleep = QueueSimulation.tick * model.asleep
            model.advance(isAsleep ? 0 : count)
            if let due = held.registry.nextQueueDeadline, due <= held.registry.boot(at: now) {
                turn { $0.deadlineReached(at: $1, &$2) }
            }
        }
        return isAsleep ? "slept \(ticks)" : "passed \(ticks)"
    }

    private mutating func executorIsThere() -> String {
        turn { $0.executorIsThere(at: $1, &$2) }
        model.executorIsThere()
        return "the executor is there"
    }

    private mutating func changeConditions() -> String {
        let conditions = Conditions(rawValue: UInt8.random(in: 0...7, using: &random))
        turn { $0.conditionsChanged(to: conditions, at: $1, &$2) }
        model.conditions = conditions
        model.settle()
        return "conditions \(conditions)"
    }

    private mutating func reload() -> String {
        model.slots = Int.random(in: 1...4, using: &random)
        model.tasksPerOwnerMax = Int.random(in: 1...4, using: &random)
        model.slotsPerOwnerMax = chance(2) ? nil : Int.random(in: 1...3, using: &random)
        model.groupSlots = ["net": Int.random(in: 1...2, using: &random)]
        if !chance(3) { model.groupSlots["disk"] = 1 }
        let (slots, groups, owned) = (model.slots, model.groupSlots, model.tasksPerOwnerMax)
        let share = model.slotsPerOwnerMax
        turn {
            $0.limits.slotsPerOwnerMax = share
            $0.limits.slots = slots
            $0.limits.groupSlots = groups
            $0.limits.tasksPerOwnerMax = owned
            $0.limitsChanged(at: $1, &$2)
        }
        model.settle()
        return "reload"
    }

    private mutating func pause() -> String {
        let group = chance(2) ? "net" : "disk"
        let isPaused = chance(2)
        _ = try? turn { registry, _, actions in
            try registry.setPaused(group, isPaused, &actions)
        }
        return "pause \(group): \(isPaused)"
    }

    private mutating func pauseOwner() -> String {
        let owner = QueueSimulation.owners[Int.random(in: 0..<2, using: &random)]
        let isPaused = chance(3)
        _ = try? turn { registry, _, actions in
            try registry.setPaused(owner, isPaused, &actions)
        }
        return "pause \(owner): \(isPaused)"
    }

    /// What a queued task waits for is changed.
    private mutating func change() -> String {
        let waiting = model.tasks.filter { $0.phase == .waiting || chance(10) }
        guard let task = waiting.filter(\.isAdmitted).randomElement(using: &random) else {
            return "nothing to change"
        }
        var change = QueueingChange()
        if chance(3) { change.priority = Int.random(in: -1...2, using: &random) }
        if chance(4) { change.group = ["", "net", "disk"].randomElement(using: &random) }
        if chance(4) { change.earliestBegin = anyWait(6) }
        if chance(4) {
            change.conditions = Conditions(rawValue: UInt8.random(in: 0...7, using: &random))
        }
        if chance(4) { change.slots = Int.random(in: 1...3, using: &random) }
        if chance(2) { change.isPaused = chance(3) }
        let (ready, caller) = (change, Caller(owner: task.owner))
        let isTaken =
            (try? turn { try $0.change(task.id, by: caller, ready, at: $1, &$2) }) != nil
        if isTaken != model.change(task.id, change) {
            model.broken = "change taken: \(isTaken) is wrong"
        }
        return "change \(task.id) \(change)"
    }

    // MARK: - The disk

    private mutating func answer() -> String {
        for _ in 0..<Int.random(in: 1...4, using: &random) { answerCommit(true) }
        return "commit"
    }

    private mutating func fail() -> String {
        guard !commits.isEmpty else { return heal() }
        answerCommit(false)
        return "commit refused"
    }

    private mutating func heal() -> String {
        turn { $0.storeHealed(at: $1, &$2) }
        model.heal()
        return "healed"
    }

    private mutating func silence() -> String {
        held.registry.storeInDoubt(QueueSimulation.fault)
        model.isFaulty = true
        return "silence"
    }
}
