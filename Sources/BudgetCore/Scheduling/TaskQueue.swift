internal import Containers

/// What can hold many tasks back at once: looked at when one of them is chosen.
struct EligibilityKey: Hashable, Sendable {
    let group: String?
    let conditions: Conditions

    init(_ queueing: Queueing) {
        group = queueing.group
        conditions = queueing.conditions
    }
}

/// Which of the queued tasks goes next (rules 23 to 31 in docs/architecture.md).
///
/// Owners take turns: first the one whose commands take the fewest slots, then the one who was served longest
/// ago. Of an owner's tasks the highest priority goes first, then the lowest id.
///
/// A task that is held back for no known time is in none of the heaps. Else it waits for its own time in a heap; then, where its name keeps an interval or is unique, in the queue of
/// its name, of which only the first goes on; then among the ready ones with its key. A key that opens or closes
/// moves no task, and adding, removing and choosing take a time that grows with the logarithm of the number of
/// tasks and with the number of owners and keys, which are few.
struct TaskQueue: Sendable {

    /// The order of one owner's tasks.
    private struct Rank: Comparable, Sendable {
        let priority: Int
        let id: TaskID

        static func < (lhs: Rank, rhs: Rank) -> Bool {
            lhs.priority != rhs.priority ? lhs.priority > rhs.priority : lhs.id < rhs.id
        }
    }

    private struct Owner: Sendable {
        /// Whose turn it takes: its own, or that of the user to whom its uid is given.
        let payer: OwnerID
        /// Its ready tasks, by the number of their key.
        var heaps: [Int: SlotHeaps<Rank>.Heap] = [:]
        var runningCount = 0
        /// What it has in groups.
        var groups: [String: GroupUse] = [:]
    }

    /// What decides about the turn of a user, with all whose uids are the user's.
    private struct Turn: Sendable {
        /// Slots of commands that have started and not ended, also of those that have given them back.
        var runningCount = 0
        /// The turn in which one of the tasks got a slot last.
        var servedAt: UInt64 = 0
    }

    /// Where a task waits.
    private enum Place: Sendable {
        /// Nowhere, until whoever holds it back says otherwise.
        case heldBack
        /// Among those that wait for a time, until its own.
        case ownTime
        /// Among the ready ones with its key.
        case ready
        /// In the queue of its name.
        case inNameQueue(NamePlace)
    }

    private enum NamePlace: Sendable {
        /// Behind the first; or it is the first, and nobody knows for how long its name holds it back.
        case waits
        /// It is the first, and stands among those that wait for a time, until the interval is over.
        case interval
        /// It is the first, and stands among the ready ones with its key.
        case ready
    }

    private struct Entry: Sendable {
        let rank: Rank
        let owner: OwnerID
        let key: Int
        let slots: Int
        /// Beside it, since few have one.
        private let sharedNameQueue: CopyOnWrite<NameQueueKey>?
        var place: Place

        var nameQueue: NameQueueKey? { sharedNameQueue?.value }

        init(
            rank: Rank, owner: OwnerID, key: Int, slots: Int, nameQueue: NameQueueKey?,
            place: Place
        ) {
            self.rank = rank
            self.owner = owner
            self.key = key
            self.slots = slots
            sharedNameQueue = nameQueue.map { CopyOnWrite($0) }
            self.place = place
        }

        /// Whether it has waited for its own time, and nothing else holds it back.
        var isDue: Bool {
            switch place {
            case .heldBack, .ownTime: false
            case .ready, .inNameQueue: true
            }
        }
    }

    /// Tasks of one name that the same rules hold back.
    private struct NameQueue: Sendable {
        var members = SlotHeaps<Rank>.Heap()
        /// The first of them, once it was looked at.
        var first: Int?
    }

    private var entries: [Int: Entry] = [:]
    private var keys: [EligibilityKey] = []
    private var keyNumbers: [EligibilityKey: Int] = [:]
    private var owners: [OwnerID: Owner] = [:]
    private var turns: [OwnerID: Turn] = [:]
    /// Who counts as whom, of those who come from now on.
    private var accounts = Accounts()
    private var readyHeaps = SlotHeaps<Rank>()
    private var timedHeaps = SlotHeaps<Due<BootInstant>>()
    private var timed = SlotHeaps<Due<BootInstant>>.Heap()
    private var nameHeaps = SlotHeaps<Rank>()
    private var nameQueues: [NameQueueKey: NameQueue] = [:]
    private var names = NameRules()
    private var groups: [String: GroupUse] = [:]
    private var conditionCounts = [0, 0, 0]
    /// Of these tasks, those that take several slots, of each owner.
    private var wideCounts: [OwnerID: Int] = [:]
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

    var isEmpty: Bool { entries.isEmpty }

    /// What waits for what, and which of the ready ones was submitted first; looks at all of them.
    ///
    /// - Parameter isPaused: whether the tasks of a group, or those of an owner, are all held back.
    func standing(
        isPaused: (String?, OwnerID) -> Bool
    ) -> (QueueStanding, oldestReady: TaskID?) {
        var standing = QueueStanding()
        var oldest: TaskID?
        for entry in entries.values {
            switch entry.place {
            case .heldBack: standing.heldBackCount += 1
            case _ where isPaused(keys[entry.key].group, entry.owner):
                standing.heldBackCount += 1
            case .ownTime, .inNameQueue(.interval): standing.earlyCount += 1
            case .ready, .inNameQueue(.waits), .inNameQueue(.ready):
                standing.readyCount += 1
                oldest = min(oldest ?? entry.rank.id, entry.rank.id)
            }
        }
        return (standing, oldest)
    }
    /// Whether nothing is kept but who ran last and the keys there were.
    var isForgotten: Bool {
        entries.isEmpty && nameQueues.isEmpty && groups.isEmpty && timed.isEmpty
            && names.counts.followed == 0
    }

    var nameCounts: (followed: Int, remembered: Int) { names.counts }

    mutating func replaceAccounts(_ accounts: Accounts) {
        self.accounts = accounts
    }

    /// Lets a task wait for its turn.
    ///
    /// - Parameter isHeldBack: whether it waits for something else first, for no known time.
    mutating func add(
        _ slot: Int, _ task: BackgroundTask, _ run: RunTask, isHeldBack: Bool
    ) {
        let queueing = run.queueing
        let number = number(of: EligibilityKey(queueing))
        let nameQueue = queueing.isByName ? NameQueueKey(OwnedName(task), queueing) : nil
        let isDue = run.notBefore <= clock
        let entry = Entry(
            rank: Rank(priority: queueing.priority, id: task.id), owner: task.owner, key: number,
            slots: queueing.slots, nameQueue: nameQueue,
            place: isHeldBack
                ? .heldBack : !isDue ? .ownTime : nameQueue == nil ? .ready : .inNameQueue(.waits))
        count(queueing.group, of: task.owner, \.queuedCount, 1)
        entries[slot] = entry
        if queueing.slots > 1 { wideCounts[task.owner, default: 0] += 1 }
        guard !isHeldBack else { return }
        guard isDue else {
            return timedHeaps.add(slot, Due(at: run.notBefore, id: task.id), to: &timed)
        }
        becomeDue(slot, entry)
    }

    /// Puts a task where it belongs now: something else decides when it may run.
    mutating func replace(
        _ slot: Int, _ task: BackgroundTask, _ run: RunTask, isHeldBack: Bool
    ) {
        guard let entry = entries[slot] else { return }
        takeOut(slot, entry)
        add(slot, task, run, isHeldBack: isHeldBack)
    }

    private mutating func takeOut(_ slot: Int, _ entry: Entry) {
        switch entry.place {
        case .heldBack: break
        case .ownTime: timedHeaps.remove(slot, from: &timed)
        case .ready: leaveReady(slot, entry)
        case .inNameQueue:
            withdraw(slot)
            if let key = entry.nameQueue { leave(key, slot) }
        }
        entries[slot] = nil
        count(keys[entry.key].group, of: entry.owner, \.queuedCount, -1)
        if entry.isDue { count(keys[entry.key].conditions, -1) }
        if entry.slots > 1 { forgetWide(of: entry.owner) }
    }

    /// Takes a task out.
    mutating func remove(_ slot: Int) {
        guard let entry = entries[slot] else { return }
        takeOut(slot, entry)
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
        readyHeaps.releaseMemory()
        timedHeaps.releaseMemory()
        nameHeaps.releaseMemory()
    }

    /// Lets those go on that have waited for their time.
    ///
    /// - Parameter limit: at most so many; for the others `nextWake` stays in the past.
    mutating func wake(through boot: BootInstant, limit: Int) {
        clock = max(clock, boot)
        var woken = 0
        while woken < limit, let (due, slot) = timed.first, due.at <= clock {
            wake(slot)
            woken += 1
        }
    }

    private mutating func forgetWide(of owner: OwnerID) {
        wideCounts[owner, default: 0] -= 1
        if wideCounts[owner] == 0 { wideCounts[owner] = nil }
    }

    /// How many of an owner's tasks here take several slots.
    func wideCount(of owner: OwnerID) -> Int {
        wideCounts.isEmpty ? 0 : wideCounts[owner] ?? 0
    }

    /// What a task takes, and of whom.
    func demand(of slot: Int) -> (slots: Int, owner: OwnerID, group: String?)? {
        entries[slot].map { ($0.slots, $0.owner, keys[$0.key].group) }
    }

    /// The task whose turn it is, among those that may start.
    ///
    /// - Parameter mayRun: whether an owner may run one more, by how many slots their commands take; one who may
    ///   not costs no look at their tasks.
    func next(
        of mayRun: (OwnerID, Int) -> Bool, where isOpen: (OwnerID, EligibilityKey) -> Bool
    ) -> Int? {
        var best: (owner: OwnerID, turn: Turn, slot: Int)?
        for (owner, state) in owners where !state.heaps.isEmpty {
            let turn = turns[state.payer] ?? Turn()
            if let best, !TaskQueue.goesBefore((owner, turn), (best.owner, best.turn)) {
                continue
            }
            guard mayRun(owner, turn.runningCount) else { continue }
            let slot = head(of: state) { isOpen(owner, $0) }
            if let slot { best = (owner, turn, slot) }
        }
        return best?.slot
    }

    /// The first of an owner's tasks with a key that is open.
    private func head(of owner: Owner, where isOpen: (EligibilityKey) -> Bool) -> Int? {
        var best: (key: Rank, slot: Int)?
        for (key, heap) in owner.heaps {
            guard let first = heap.first, isOpen(keys[key]) else { continue }
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

    /// How many slots those commands take that have started and not ended, of an owner and all who count as the same;
    /// those that were given back count too.
    func runningCount(of owner: OwnerID) -> Int { turns[payer(of: owner)]?.runningCount ?? 0 }

    private func newOwner(_ owner: OwnerID) -> Owner {
        Owner(payer: accounts.account(of: owner))
    }

    /// What there is of a group, of one owner or of all.
    func use(of group: String, by owner: OwnerID?) -> GroupUse {
        guard let owner else { return groups[group] ?? GroupUse() }
        return owners[owner]?.groups[group] ?? GroupUse()
    }

    /// How many slots of a group are taken.
    func slotsTaken(ofGroup group: String) -> Int { groups[group]?.slotsTaken ?? 0 }

    /// A command takes its slots of its group, or has given them back.
    mutating func countSlot(_ task: BackgroundTask, _ queueing: Queueing, _ change: Int) {
        count(queueing.group, of: task.owner, \.runningCount, change)
        count(queueing.group, of: task.owner, \.slotsTaken, change * queueing.slots)
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
        owners[task.owner, default: new].runningCount += change * queueing.slots
        turns[payer, default: Turn()].runningCount += change * queueing.slots
        if change > 0 {
            turn += 1
            turns[payer]?.servedAt = turn
        } else {
            forgetIdle(task.owner)
        }
        refresh(names.countLive(task, isUnique: queueing.unique != nil, change))
    }

    // MARK: - Names

    func follows(_ name: OwnedName) -> Bool { names.follows(name) }

    func uniqueTask(_ name: OwnedName) -> TaskID? { names.uniqueTask(name) }

    func uniqueTasks(_ name: OwnedName) -> [TaskID] { names.uniqueTasks(name) }

    func nameQueueCount(with key: NameQueueKey) -> Int { names.queueCount(with: key) }

    /// Follows a name, as `NameRules.follow` says.
    mutating func follow(_ key: NameQueueKey, unique: TaskID?, live: [Bool]) {
        names.follow(key, unique: unique, live: live)
    }

    mutating func unfollow(_ key: NameQueueKey, unique: TaskID?) {
        names.unfollow(key, unique: unique)
    }

    /// A task that is followed waits by another rule of its name.
    mutating func refollow(from old: NameQueueKey, to new: NameQueueKey) {
        names.move(from: old, to: new)
    }

    /// A task of that name has completed, now or before.
    mutating func succeeded(_ name: OwnedName, at boot: BootInstant) {
        refresh(names.succeeded(name, at: boot))
    }

    /// The disk knows when a task of a name that is followed last completed.
    mutating func recall(_ name: OwnedName, succeededAt boot: BootInstant) {
        refresh(names.recall(name, succeededAt: boot))
    }

    /// What holds the tasks of a name back by it.
    func nameReason(for key: NameQueueKey) -> PendingReason? { names.reason(for: key, at: clock) }

    // MARK: - Places

    /// A time has come for which a task waited: its own, or that of its name.
    private mutating func wake(_ slot: Int) {
        timedHeaps.remove(slot, from: &timed)
        guard var entry = entries[slot] else { return }
        guard !entry.isDue else {
            entries[slot]?.place = .inNameQueue(.waits)
            if let key = entry.nameQueue { refresh(key) }
            return
        }
        entry.place = entry.nameQueue == nil ? .ready : .inNameQueue(.waits)
        entries[slot] = entry
        becomeDue(slot, entry)
    }

    /// Lets a task that has waited for its own time go on: to the queue of its name, or to the ready ones.
    private mutating func becomeDue(_ slot: Int, _ entry: Entry) {
        count(keys[entry.key].conditions, 1)
        guard let key = entry.nameQueue else { return enterReady(slot, entry) }
        nameHeaps.add(slot, entry.rank, to: &nameQueues[key, default: NameQueue()].members)
        if nameQueues[key]?.members.first?.slot == slot { refresh(key) }
    }

    private mutating func enterReady(_ slot: Int, _ entry: Entry) {
        let new = newOwner(entry.owner)
        readyHeaps.add(
            slot, entry.rank,
            to: &owners[entry.owner, default: new].heaps[
                entry.key, default: .init()])
    }

    private mutating func leaveReady(_ slot: Int, _ entry: Entry) {
        let new = newOwner(entry.owner)
        readyHeaps.remove(
            slot,
            from: &owners[entry.owner, default: new].heaps[
                entry.key, default: .init()])
        if owners[entry.owner]?.heaps[entry.key]?.isEmpty == true {
            owners[entry.owner]?.heaps[entry.key] = nil
        }
    }

    /// Lets the first task of the queue of its name wait there as those behind it do.
    private mutating func withdraw(_ slot: Int) {
        guard let entry = entries[slot] else { return }
        switch entry.place {
        case .inNameQueue(.interval): timedHeaps.remove(slot, from: &timed)
        case .inNameQueue(.ready): leaveReady(slot, entry)
        case .inNameQueue(.waits), .heldBack, .ownTime, .ready: return
        }
        entries[slot]?.place = .inNameQueue(.waits)
    }

    private mutating func leave(_ key: NameQueueKey, _ slot: Int) {
        nameHeaps.remove(slot, from: &nameQueues[key, default: NameQueue()].members)
        guard nameQueues[key]?.first == slot else { return }
        nameQueues[key]?.first = nil
        guard nameQueues[key]?.members.isEmpty == true else { return refresh(key) }
        nameQueues[key] = nil
    }

    private mutating func refresh(_ keys: [NameQueueKey]) {
        for key in keys { refresh(key) }
    }

    /// Puts the first of a name's queue where it belongs now.
    private mutating func refresh(_ key: NameQueueKey) {
        if let first = nameQueues[key]?.first { withdraw(first) }
        guard let first = nameQueues[key]?.members.first?.slot, let entry = entries[first]
        else { return }
        nameQueues[key]?.first = first
        guard let reason = nameReason(for: key) else {
            entries[first]?.place = .inNameQueue(.ready)
            return enterReady(first, entry)
        }
        guard let until = reason.until else { return }
        entries[first]?.place = .inNameQueue(.interval)
        timedHeaps.add(first, Due(at: until, id: entry.rank.id), to: &timed)
    }

    private mutating func number(of key: EligibilityKey) -> Int {
        if let number = keyNumbers[key] { return number }
        keys.append(key)
        keyNumbers[key] = keys.count - 1
        return keys.count - 1
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
