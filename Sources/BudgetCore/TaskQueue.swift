internal import Containers

/// Which of the queued tasks goes next (DESIGN.md rules 23 to 26).
///
/// Owners take turns: first the one with the fewest commands that run, then the one who was served longest
/// ago. Of an owner's tasks the highest priority goes first, then the lowest id.
///
/// A task waits for its own time in a heap; then, where its name keeps an interval or is unique, in its line,
/// of which only the first goes on; then behind its gate. A gate that opens or closes moves no task, and
/// adding, removing and choosing take a time that grows with the logarithm of the number of tasks and with
/// the number of owners and gates, which are few.
struct TaskQueue: Sendable {
    /// What holds many tasks back at once: looked at when one is chosen.
    struct Gate: Hashable, Sendable {
        let group: String?
        let conditions: Conditions

        init(_ queueing: Queueing) {
            group = queueing.group
            conditions = queueing.conditions
        }
    }

    /// The order of one owner's tasks.
    struct Rank: Comparable, Sendable {
        let priority: Int
        let id: TaskID

        static func < (lhs: Rank, rhs: Rank) -> Bool {
            lhs.priority != rhs.priority ? lhs.priority > rhs.priority : lhs.id < rhs.id
        }
    }

    private struct Owner: Sendable {
        /// Whose turn it takes: its own, or that of the user to whom its uid is given.
        let payer: OwnerID
        var heaps: [Int: SlotHeaps<Rank>.Heap] = [:]
        var runningCount = 0
        /// What it has in groups.
        var groups: [String: GroupUse] = [:]
    }

    /// What decides about the turn of a user, with all whose uids are the user's.
    private struct Turn: Sendable {
        /// Commands that have started and not ended, also those without a slot.
        var runningCount = 0
        /// The turn in which one of the tasks got a slot last.
        var servedAt: UInt64 = 0
    }

    var entries: [Int: Entry] = [:]
    private var gates: [Gate] = []
    private var gateNumbers: [Gate: Int] = [:]
    private var owners: [OwnerID: Owner] = [:]
    private var turns: [OwnerID: Turn] = [:]
    /// Who counts as whom, of those who come from now on.
    var accounts = Accounts()
    private var ready = SlotHeaps<Rank>()
    private var timedHeaps = SlotHeaps<Due<BootInstant>>()
    private var timed = SlotHeaps<Due<BootInstant>>.Heap()
    var lineHeaps = SlotHeaps<Rank>()
    var lines: [LineKey: Line] = [:]
    var names: [OwnedName: NameUse] = [:]
    /// Last successes of names that nothing follows at present, as far as they were followed in this run.
    var successes: [OwnedName: BootInstant] = [:]
    static let successesMax = 4096
    private(set) var groups: [String: GroupUse] = [:]
    private var conditionCounts = [0, 0, 0]
    private var turn: UInt64 = 0
    /// Up to when those that waited for a time have been let go on.
    private(set) var clock = BootInstant.distantPast

    /// When the next one has waited for its time.
    var nextWake: BootInstant? { timed.first?.key.at }

    /// What tasks wait for whose time has come.
    var wantedConditions: Conditions {
        Conditions(
            rawValue: conditionCounts.indices.reduce(0) {
                $0 | (conditionCounts[$1] > 0 ? 1 << UInt8($1) : 0)
            })
    }

    /// Lets a task wait for its turn.
    mutating func add(_ slot: Int, _ task: BackgroundTask, _ run: RunTask) {
        let queueing = run.queueing
        let gate = Gate(queueing)
        let number = number(of: gate)
        var entry = Entry(
            rank: Rank(priority: queueing.priority, id: task.id), owner: task.owner, gate: number,
            line: queueing.isByName ? LineKey(OwnedName(task), queueing) : nil)
        count(gate.group, of: task.owner, \.queuedCount, 1)
        // Most wait for a slot alone: they are looked up once.
        guard entry.line != nil || run.notBefore > clock else {
            (entry.isDue, entry.place) = (true, .ready)
            entries[slot] = entry
            count(gate.conditions, 1)
            return enterHeap(slot, entry)
        }
        entries[slot] = entry
        if run.notBefore > clock {
            wait(slot, until: run.notBefore)
        } else {
            goOn(slot)
        }
    }

    /// Takes a task out.
    mutating func remove(_ slot: Int) {
        guard let entry = entries[slot] else { return }
        withdraw(slot)
        if let line = entry.line { leave(line, slot) }
        entries[slot] = nil
        count(gates[entry.gate].group, of: entry.owner, \.queuedCount, -1)
        if entry.isDue { count(gates[entry.gate].conditions, -1) }
        guard entries.isEmpty else { return }
        // As in `forgetIdle`.
        owners = owners.filter { $0.value.runningCount > 0 }
        turns = turns.filter { $0.value.runningCount > 0 }
        if entries.capacity > 4096 {
            entries = [:]
            timed = SlotHeaps<Due<BootInstant>>.Heap()
        }
    }

    /// Gives back what grows with the slots of all tasks, once there are none.
    mutating func releaseMemory() {
        ready.releaseMemory()
        timedHeaps.releaseMemory()
        lineHeaps.releaseMemory()
    }

    /// Lets those go on that have waited for their time.
    ///
    /// - Parameter limit: at most so many; for the others `nextWake` stays in the past.
    mutating func wake(through boot: BootInstant, limit: Int) {
        clock = max(clock, boot)
        var woken = 0
        while woken < limit, let (due, slot) = timed.first, due.at <= clock {
            withdraw(slot)
            goOn(slot)
            woken += 1
        }
    }

    /// The task whose turn it is, among those that may start.
    ///
    /// - Parameter mayRun: whether an owner may run one more, by how many commands of theirs do; one who may not
    ///   costs no look at their tasks.
    func next(of mayRun: (OwnerID, Int) -> Bool, where isOpen: (Gate) -> Bool) -> Int? {
        var best: (owner: OwnerID, turn: Turn, slot: Int)?
        for (owner, state) in owners where !state.heaps.isEmpty {
            let turn = turns[state.payer] ?? Turn()
            if let best, !TaskQueue.goesBefore((owner, turn), (best.owner, best.turn)) {
                continue
            }
            guard mayRun(owner, turn.runningCount) else { continue }
            let slot = head(of: state, where: isOpen)
            if let slot { best = (owner, turn, slot) }
        }
        return best?.slot
    }

    /// The first of an owner's tasks behind the gates that are open.
    private func head(of owner: Owner, where isOpen: (Gate) -> Bool) -> Int? {
        var best: (key: Rank, slot: Int)?
        for (gate, heap) in owner.heaps {
            guard let first = heap.first, isOpen(gates[gate]) else { continue }
            if let best, best.key < first.key { continue }
            best = first
        }
        return best?.slot
    }

    private static func goesBefore(
        _ one: (id: OwnerID, turn: Turn), _ other: (id: OwnerID, turn: Turn)
    ) -> Bool {
        let (first, second) = (one.turn, other.turn)
        if first.runningCount != second.runningCount {
            return first.runningCount < second.runningCount
        }
        return first.servedAt != second.servedAt
            ? first.servedAt < second.servedAt : one.id < other.id
    }

    /// The user whose share and turn an owner's commands take.
    func payer(of owner: OwnerID) -> OwnerID {
        owners[owner]?.payer ?? accounts.account(of: owner)
    }

    /// How many commands have started and not ended of an owner and all who count as the same.
    func runningCount(of owner: OwnerID) -> Int { turns[payer(of: owner)]?.runningCount ?? 0 }

    private func newOwner(_ owner: OwnerID) -> Owner {
        Owner(payer: accounts.account(of: owner))
    }

    /// What there is of a group, of one owner or of all.
    func use(of group: String, by owner: OwnerID?) -> GroupUse {
        guard let owner else { return groups[group] ?? GroupUse() }
        return owners[owner]?.groups[group] ?? GroupUse()
    }

    /// A command takes a slot of its group, or has given it back.
    mutating func countSlot(_ task: BackgroundTask, _ queueing: Queueing, _ change: Int) {
        count(queueing.group, of: task.owner, \.runningCount, change)
        if change < 0 { forgetIdle(task.owner) }
    }

    /// Who was served last is of no account where nobody waits.
    private mutating func forgetIdle(_ owner: OwnerID) {
        guard entries.isEmpty, let state = owners[owner], state.runningCount == 0,
            state.groups.isEmpty
        else { return }
        owners[owner] = nil
        if turns[state.payer]?.runningCount == 0 { turns[state.payer] = nil }
    }

    /// A command has started, or has ended.
    mutating func countRunning(_ task: BackgroundTask, _ queueing: Queueing, _ change: Int) {
        let payer = payer(of: task.owner)
        let new = newOwner(task.owner)
        owners[task.owner, default: new].runningCount += change
        turns[payer, default: Turn()].runningCount += change
        if change > 0 {
            turn += 1
            turns[payer]?.servedAt = turn
        } else {
            forgetIdle(task.owner)
        }
        countLive(task, isUnique: queueing.unique != nil, change)
    }

    // MARK: - Places

    /// Lets a task that has waited for its time go on: to its line, or to its gate.
    private mutating func goOn(_ slot: Int) {
        guard let entry = entries[slot] else { return }
        if !entry.isDue { count(gates[entry.gate].conditions, 1) }
        entries[slot]?.isDue = true
        guard let line = entry.line else { return stand(slot) }
        enter(line, slot, entry.rank)
    }

    /// Lets a task wait for a time.
    mutating func wait(_ slot: Int, until at: BootInstant) {
        guard let entry = entries[slot] else { return }
        timedHeaps.add(slot, Due(at: at, id: entry.rank.id), to: &timed)
        entries[slot]?.place = .timed
    }

    /// Lets a task stand behind its gate.
    mutating func stand(_ slot: Int) {
        guard let entry = entries[slot] else { return }
        enterHeap(slot, entry)
        entries[slot]?.place = .ready
    }

    private mutating func enterHeap(_ slot: Int, _ entry: Entry) {
        let new = newOwner(entry.owner)
        ready.add(
            slot, entry.rank,
            to: &owners[entry.owner, default: new].heaps[
                entry.gate, default: .init()])
    }

    /// Takes a task from where it waits for its time, or from its gate.
    mutating func withdraw(_ slot: Int) {
        guard let entry = entries[slot] else { return }
        switch entry.place {
        case .nowhere: return
        case .timed: timedHeaps.remove(slot, from: &timed)
        case .ready:
            let new = newOwner(entry.owner)
            ready.remove(
                slot,
                from: &owners[entry.owner, default: new].heaps[
                    entry.gate, default: .init()])
            if owners[entry.owner]?.heaps[entry.gate]?.isEmpty == true {
                owners[entry.owner]?.heaps[entry.gate] = nil
            }
        }
        entries[slot]?.place = .nowhere
    }

    private mutating func number(of gate: Gate) -> Int {
        if let number = gateNumbers[gate] { return number }
        gates.append(gate)
        gateNumbers[gate] = gates.count - 1
        return gates.count - 1
    }

    private mutating func count(_ conditions: Conditions, _ change: Int) {
        for bit in conditionCounts.indices
        where conditions.contains(Conditions(rawValue: 1 << UInt8(bit))) {
            conditionCounts[bit] += change
        }
    }

    private mutating func count(
        _ group: String?, of owner: OwnerID, _ what: WritableKeyPath<GroupUse, Int>, _ change: Int
    ) {
        guard let group else { return }
        groups[group, default: GroupUse()][keyPath: what] += change
        if groups[group] == GroupUse() { groups[group] = nil }
        let new = newOwner(owner)
        owners[owner, default: new].groups[group, default: GroupUse()][keyPath: what] +=
            change
        if owners[owner]?.groups[group] == GroupUse() { owners[owner]?.groups[group] = nil }
    }
}
