import BudgetCore

/// The rules of the queue as a person would check them with a list of all tasks on paper: after each event
/// every task is looked at, and everything is counted anew. A tick is a second.
struct QueueModel {
    enum Phase: Equatable {
        /// On its way to the disk, and has no slot.
        case arriving
        case waiting
        /// Has a slot; its start is on its way to the disk.
        case starting
        case running
        /// The main process is gone, others may be left.
        case exited
        /// How it ends is decided, and on its way to the disk.
        case concluding
        case ended
    }

    struct Task {
        let id: TaskID
        let owner: OwnerID
        let name: String
        var queueing: Queueing
        var phase = Phase.arriving
        var attempt = 1
        /// On the clock that goes on while the machine sleeps.
        var notBefore = 0
        /// How often there was no room to start it, one time after the other.
        var postponements = 0
        /// When its processes were killed.
        var killedAt: Int?
        var hasSlot = false
        var isAdmitted = false
        var isStartStored = false
        var isCancelled = false
        var isLastAttempt = false
        /// Its processes were killed at the end of a drain's grace.
        var isKilled = false
        var verdict: Outcome?
        // What was decided when it was concluded.
        var outcome: Outcome?
        var isWithdrawal = false
        var retryAt: Int?
        /// An order to cancel it was taken between two attempts.
        var isWithdrawn = false
        /// What it waits for that has not ended.
        var open: [Predecessor] = []
        /// Whether one of these ended as it was not to.
        var isBroken = false
        /// What held before each change that is on its way to the disk.
        var before: [(queueing: Queueing, notBefore: Int)] = []

        var group: String? { queueing.group }
        /// Whether it has not started.
        var isQueued: Bool { [.arriving, .waiting, .starting].contains(phase) }
        var isUnique: Bool { queueing.unique != nil }
        var isByName: Bool { isUnique || queueing.minimumInterval != nil }
        var isWide: Bool { queueing.slots > 1 }
        /// Whether it waits for something that no time and no slot ends.
        var isHeldBack: Bool {
            queueing.isPaused || !open.isEmpty || isBroken || !before.isEmpty
        }
    }

    struct Name: Hashable {
        let owner: OwnerID
        let name: String
    }

    /// All tasks, in the order of their ids.
    var tasks: [Task] = []
    var now = 0
    var asleep = 0
    var slots = 2
    var slotsPerOwnerMax: Int? = 1
    /// Until when nothing starts since the machine had no room, and how many such pauses there were in a row.
    var shortageEndsAt = 0
    var shortages = 0
    var isShortOfExecutor = false
    static let shortage = "no room"
    var groupSlots = ["net": 1, "disk": 2]
    var tasksPerOwnerMax = 3
    var paused: Set<String> = []
    var pausedOwners: Set<OwnerID> = []
    /// How the tasks ended that are told of no more, of each owner.
    var outcomes: [TaskID: (owner: OwnerID, outcome: Outcome)] = [:]
    var conditions: Conditions = []
    var isFaulty = false
    var isDraining = false
    /// The last success of each name, on the clock that goes on while the machine sleeps.
    var successes: [Name: Int] = [:]
    var servedAt: [OwnerID: Int] = [:]
    var turn = 0
    /// How often another owner was served since an owner could have been who has no command in a slot.
    var passes: [OwnerID: [OwnerID: Int]] = [:]
    /// What must never be, and was.
    var broken: String?
    /// Tasks that wait in vain for others, in the order in which that came about.
    var vain: [TaskID] = []
    /// Those whose ends for it are on their way to the disk, and how many may be at once.
    var vainEnds: Set<TaskID> = []
    static let vainEndsMax = 2

    var boot: Int { now + asleep }

    func index(_ id: TaskID) -> Int? { tasks.firstIndex { $0.id == id } }

    func holders(_ isMeant: (Task) -> Bool = { _ in true }) -> Int {
        tasks.count { $0.hasSlot && isMeant($0) }
    }

    func slotsTaken(_ isMeant: (Task) -> Bool = { _ in true }) -> Int {
        tasks.reduce(0) { $0 + ($1.hasSlot && isMeant($1) ? $1.queueing.slots : 0) }
    }

    func name(_ task: Task) -> Name { Name(owner: task.owner, name: task.name) }

    // MARK: - What holds a task back

    /// Every rule that holds a waiting task back, besides that no slot of the daemon is free.
    ///
    /// - Parameter slots: how many it takes; `nil`: as many as it asked for.
    func holds(_ task: Task, taking count: Int? = nil) -> [PendingReason] {
        let count = count ?? task.queueing.slots
        var result: [PendingReason] = []
        if isFaulty { result.append(.store(QueueSimulation.fault)) }
        if isDraining { result.append(.shutdown) }
        if shortageEndsAt > boot {
            result.append(
                .shortage(QueueModel.shortage, until: QueueSimulation.boot(shortageEndsAt)))
        }
        if !task.before.isEmpty { result.append(.changing) }
        if task.queueing.isPaused { result.append(.pausedTask) }
        if pausedOwners.contains(task.owner) { result.append(.pausedOwner) }
        if let group = task.group, paused.contains(group) {
            result.append(.paused(group: group))
        }
        if !task.open.isEmpty { result.append(.after(task.open.map(\.id))) }
        if task.notBefore > boot {
            let until = QueueSimulation.boot(task.notBefore)
            if task.postponements > 0 {
                result.append(
                    .postponed(QueueModel.shortage, until: until, count: task.postponements))
            } else if task.attempt == 1 {
                result.append(.earliestBegin(until: until))
            } else {
                result.append(.retry(until: until, attempt: task.attempt))
            }
        }
        let missing = task.queueing.conditions.subtracting(conditions)
        if missing.contains(.network) { result.append(.network) }
        if missing.contains(.externalPower) { result.append(.externalPower) }
        if missing.contains(.idle) { result.append(.idle) }
        if let hold = nameHold(task) { result.append(hold) }
        let live = holders { $0.owner == task.owner && $0.phase != .concluding }
        if live >= tasksPerOwnerMax { result.append(.tasksPerOwnerMax(tasksPerOwnerMax)) }
        let share = slotsPerOwnerMax ?? slots
        if slotsTaken({ $0.owner == task.owner }) + min(count, share) > share,
            share < slots || slotsHold(count) == nil
        {
            result.append(.slotsPerOwnerMax(share))
        }
        if let group = task.group, let slots = groupSlots[group] {
            let taken = slotsTaken { $0.group == group }
            if taken >= slots {
                result.append(.groupSlots(slots, group: group))
            } else if taken + min(count, slots) > slots {
                result.append(.groupSlotsNeeded(min(count, slots), group: group))
            }
        }
        return result
    }

    /// Whether so many slots of the daemon are not free.
    func slotsHold(_ count: Int) -> PendingReason? {
        if slotsTaken() >= slots { return .slots(slots) }
        let needed = min(count, slots)
        return slotsTaken() + needed > slots ? .slotsNeeded(needed) : nil
    }

    /// Whether somebody's tasks may wait for one of theirs that takes several slots.
    var mayReserve: Bool { tasks.contains { $0.phase == .waiting && $0.isWide } }

    func mayReserve(of owner: OwnerID) -> Bool {
        tasks.contains { $0.phase == .waiting && $0.isWide && $0.owner == owner }
    }

    private func nameHold(_ task: Task) -> PendingReason? {
        let namesakes = tasks.filter { $0.hasSlot && name($0) == name(task) }
        if task.isUnique, namesakes.contains(where: \.isUnique) { return .replaced }
        guard let interval = task.queueing.minimumInterval else { return nil }
        if !namesakes.isEmpty { return .sameName(interval) }
        guard let success = successes[name(task)] else { return nil }
        let until = QueueSimulation.boot(success) + interval
        return until > QueueSimulation.boot(boot) ? .minimumInterval(interval, until: until) : nil
    }

    // MARK: - Who goes next

    /// Gives free slots to those whose turn it is.
    mutating func settle() {
        while let next = nextToStart() {
            if mayReserve {
                passes = [:]
            } else {
                notePasses(
                    of: next,
                    among: tasks.filter { task in
                        task.phase == .waiting && !task.isBroken && holds(task).isEmpty
                    })
            }
            grant(next.id)
        }
    }

    /// Whose turn it is: behind one that takes several slots its owner's others wait, those of its group where that is
    /// short.
    func nextToStart() -> Task? {
        var (owners, groups): (Set<OwnerID>, Set<Name>) = ([], [])
        while slotsTaken() < slots {
            let ready = tasks.filter { task in
                task.phase == .waiting && !task.isBroken && holds(task, taking: 1).isEmpty
                    && !owners.contains(task.owner)
                    && !groups.contains(Name(owner: task.owner, name: task.group ?? ""))
            }
            guard let next = ready.min(by: { goesBefore($0, $1) }) else { return nil }
            let isGroupShort = holds(next).contains { hold in
                if case .groupSlotsNeeded = hold { true } else { false }
            }
            if isGroupShort {
                groups.insert(Name(owner: next.owner, name: next.group ?? ""))
            } else if !holds(next).isEmpty || slotsHold(next.queueing.slots) != nil {
                owners.insert(next.owner)
            } else {
                return next
            }
        }
        return nil
    }

    private func goesBefore(_ one: Task, _ other: Task) -> Bool {
        let keys = [one, other].map { task in
            [
                slotsTaken { $0.owner == task.owner }, servedAt[task.owner] ?? 0,
                Int(task.owner.rawValue), -task.queueing.priority, Int(task.id.rawValue),
            ]
        }
        return keys[0].lexicographicallyPrecedes(keys[1])
    }

    /// Gives a slot to a task, and checks what must hold of it whatever the reasons for it were.
    mutating func grant(_ id: TaskID) {
        guard let index = index(id) else { return }
        let task = tasks[index]
        let isWrong =
            slotsHold(task.queueing.slots) != nil || !holds(task).isEmpty
            || !mayReserve
                && tasks.contains { other in
                    other.owner == task.owner && other.phase == .waiting
                        && !other.isBroken && holds(other).isEmpty
                        && (-other.queueing.priority, other.id) < (-task.queueing.priority, task.id)
                }
        if isWrong { broken = "task \(id) got a slot against the rules" }
        tasks[index].phase = .starting
        tasks[index].hasSlot = true
        turn += 1
        servedAt[task.owner] = turn
        passes[task.owner] = nil
        forgetTurns()
    }

    /// No other owner is served twice while one could be who has no command in a slot.
    private mutating func notePasses(of served: Task, among ready: [Task]) {
        let able = Set(ready.map(\.owner)).filter { owner in holders { $0.owner == owner } == 0 }
        passes = passes.filter { able.contains($0.key) }
        for owner in able where owner != served.owner {
            passes[owner, default: [:]][served.owner, default: 0] += 1
            if passes[owner]?[served.owner] ?? 0 > 1 {
                broken = "owner \(owner) was passed over by \(served.owner) twice"
            }
        }
    }

    /// Who could be served is known at each moment, not only when another is.
    ///
    /// - Returns: one who could start, though there is a slot: that must be nobody.
    mutating func notePresence() -> TaskID? {
        let ready = tasks.filter { $0.phase == .waiting && holds($0).isEmpty }
        passes = passes.filter { owner, _ in ready.contains { $0.owner == owner } }
        return nextToStart()?.id
    }

    /// Where nobody waits it is of no account who was served last, but of those who run.
    mutating func forgetTurns() {
        guard !tasks.contains(where: { $0.phase == .waiting }) else { return }
        servedAt = servedAt.filter { owner, _ in holders { $0.owner == owner } > 0 }
    }

    mutating func freeSlot(_ index: Int) {
        tasks[index].hasSlot = false
        forgetTurns()
    }

    mutating func advance(_ ticks: Int) {
        now += ticks
        settle()
    }
}
