internal import Containers

/// All tasks that have not ended, found by id, by owner, by holder and by deadline in constant or
/// logarithmic time. A task keeps its slot until it ends; slots are used again, ids are not.
struct TaskTable: ~Copyable, Sendable {
    /// What one owner has: live tasks are begun, queued ones wait for a slot.
    struct Owner: Sendable {
        var liveCount = 0
        var queuedCount = 0
        /// Bytes of its run tasks' commands and environments.
        var workBytes = 0
        var tasks = TaskLists.List(.owner)
        /// The user who is charged for all of it; `nil`: the owner.
        var payer: OwnerID?
    }

    struct Entry: Sendable {
        var task: BackgroundTask
        /// The slot of its holder among the holders; none has `withoutHolder`.
        var holder: Int32
        /// The slot of its owner among the owners.
        var owner: Int32

        static let withoutHolder: Int32 = -1

        /// Makes it that of a slot which is not in use.
        mutating func vacate() {
            task.vacate()
            holder = Entry.withoutHolder
            owner = 0
        }
    }

    private var entries = SlotMap(
        vacant: Entry(
            task: .vacant, holder: Entry.withoutHolder, owner: 0))
    private var owners = SlotMap(vacant: Owner())
    private var holders = SlotMap(vacant: TaskLists.List(.holder))
    /// All tasks in the order of their ids.
    private var everybody = TaskLists.List(.everybody)
    private var lists = TaskLists()
    /// What subordinate uids have, charged to their users.
    private var charges = AccountCharges()
    private var deadlines = DeadlineHeap()
    private var runs: [TaskID: RunTask] = [:]
    private(set) var liveCount = 0
    private(set) var queuedCount = 0
    private var dormantCount = 0
    private var runningCount = 0
    private var expiringCount = 0
    /// Submissions on their way to the disk that are to be queued.
    private(set) var arrivingCount = 0

    /// So many slots are kept in any case.
    private static let slotsKept = 4096
    /// How many slots there may be for each task.
    private static let slotsPerTaskMax = 16

    var count: Int { entries.count }
    var slotCount: Int { entries.slotCount }
    var ownerCount: Int { owners.count }

    mutating func replaceAccounts(_ accounts: Accounts) {
        charges.accounts = accounts
    }

    func slot(of id: TaskID) -> Int? { entries.slot(of: id.rawValue) }

    /// What an owner has; `nil` for nothing.
    subscript(owner: OwnerID) -> Owner? {
        owners.slot(of: UInt64(owner.rawValue)).map { owners[$0] }
    }

    /// What counts against the limits of an owner: what the owner's account has.
    func charged(to owner: OwnerID, at place: Int? = nil) -> AccountCharges.Charge {
        var own = place.map { owners[$0] } ?? self[owner]
        let payer = own?.payer ?? (own == nil ? charges.payer(of: owner) : nil)
        if let payer { own = self[payer] }
        var sum = charges[payer ?? owner]
        guard let own else { return sum }
        sum += AccountCharges.Charge(
            live: own.liveCount, queued: own.queuedCount, workBytes: own.workBytes)
        return sum
    }

    /// Counts a change to what an owner has for who is charged for it.
    private mutating func charge(_ change: AccountCharges.Charge, at place: Int) {
        guard let payer = owners[place].payer else { return }
        charges.charge(change, to: payer)
    }

    subscript(slot: Int) -> BackgroundTask {
        _read { yield entries[slot].task }
        _modify {
            let before = entries[slot].task.state
            yield &entries[slot].task
            let after = entries[slot].task.state
            if before != after { countStates(before, after) }
        }
    }

    /// How many tasks are in a state that is not `ended`.
    func count(of state: TaskState) -> Int {
        switch state {
        case .queued: queuedCount
        case .dormant: dormantCount
        case .running: runningCount
        case .expiring: expiringCount
        case .ended: 0
        }
    }

    private mutating func countStates(_ before: TaskState, _ after: TaskState) {
        countState(before, -1)
        countState(after, 1)
    }

    private mutating func countState(_ state: TaskState, _ change: Int) {
        switch state {
        case .queued, .ended: break
        case .dormant: dormantCount += change
        case .running: runningCount += change
        case .expiring: expiringCount += change
        }
    }

    subscript(run id: TaskID) -> RunTask? {
        _read { yield runs[id] }
        _modify { yield &runs[id] }
    }

    func record(at slot: Int) -> TaskRecord {
        let task = entries[slot].task
        return TaskRecord(task: task, run: task.kind == .run ? runs[task.id] : nil)
    }

    /// Where an owner is among the owners.
    func place(of owner: OwnerID) -> Int? { owners.slot(of: UInt64(owner.rawValue)) }

    /// Takes a held task in as live, which is still to be described: vacant.
    ///
    /// - Parameter place: that of its owner, where there is one.
    mutating func insertHeld(
        _ id: TaskID, of owner: OwnerID, at place: Int?, holder: HolderID
    ) -> Int {
        let slot = takeSlot(id, of: owner, at: place)
        join(slot, holder)
        countAsLive(slot, 1)
        return slot
    }

    /// Takes a run task in that is not in the queue yet.
    mutating func insertRun(_ task: BackgroundTask, _ run: RunTask) -> Int {
        let slot = takeSlot(task.id, of: task.owner, at: place(of: task.owner))
        entries[slot].task = task
        runs[task.id] = run
        count(run.phase, slot, 1)
        let place = Int(entries[slot].owner)
        owners[place].workBytes += run.byteCount
        charge(AccountCharges.Charge(workBytes: run.byteCount), at: place)
        return slot
    }

    /// The phase of a run task; `nil` for a held one.
    func phase(_ slot: Int) -> RunPhase? {
        guard entries[slot].task.kind == .run else { return nil }
        return runs[entries[slot].task.id]?.phase
    }

    /// Moves a run task to another phase: what it counts as follows.
    mutating func move(_ slot: Int, to phase: RunPhase) {
        let id = entries[slot].task.id
        guard let before = runs[id]?.phase else { return }
        runs[id]?.enter(phase)
        if phase.tally != .live { deadlines.remove(slot: slot) }
        count(before, slot, -1)
        count(phase, slot, 1)
    }

    /// Counts a run task in a phase.
    private mutating func count(_ phase: RunPhase, _ slot: Int, _ change: Int) {
        switch phase.tally {
        case .live: countAsLive(slot, change)
        case .queued: countAsQueued(slot, change)
        case .nothing: break
        }
        if phase.isArriving { arrivingCount += change }
    }

    /// Forgets a task.
    mutating func remove(_ slot: Int) {
        takeOut(slot)
        free(slot)
    }

    /// Forgets a task, but for what is in its slot, which is to be freed then.
    mutating func takeOut(_ slot: Int) {
        deadlines.remove(slot: slot)
        switch entries[slot].task.kind {
        case .held:
            countAsLive(slot, -1)
            leaveHolder(slot)
        case .run: forgetRun(slot)
        }
        leaveOwner(slot)
    }

    /// Lets another task have the slot of one that was taken out.
    mutating func free(_ slot: Int) {
        entries[slot].vacate()
        entries.free(slot)
    }

    /// What is to be remembered of the run task in a slot; `nil` for a held one.
    @inline(__always)
    func tombstone(at slot: Int) -> TaskRecord.Run? {
        guard entries[slot].task.kind == .run else { return nil }
        return runs[entries[slot].task.id].map(EndedTask.tombstone)
    }

    private mutating func forgetRun(_ slot: Int) {
        guard let run = runs.removeValue(forKey: entries[slot].task.id) else { return }
        count(run.phase, slot, -1)
        let place = Int(entries[slot].owner)
        owners[place].workBytes -= run.byteCount
        charge(AccountCharges.Charge(workBytes: -run.byteCount), at: place)
    }

    /// Sets when something is due for a task; `never` for nothing.
    mutating func setDeadline(_ deadline: Instant, slot: Int) {
        deadlines.set(deadline, id: entries[slot].task.id, slot: slot)
    }

    mutating func removeDeadline(slot: Int) {
        deadlines.remove(slot: slot)
    }

    /// When something is due next, and for which task.
    var firstDue: (deadline: Instant, slot: Int)? { deadlines.first }

    /// When the next handler fires or hard limit is reached; looks at every live task, and not at those that
    /// are queued.
    var nextExpiry: Instant? {
        var next = Instant.never
        for position in 0..<deadlines.count {
            let task = entries[deadlines.slot(at: position)].task
            next = min(next, task.handlerAt, task.hardAt)
        }
        return next == .never ? nil : next
    }

    /// When the last hard limit is reached, of those that are asked for.
    func lastHardLimit(where isIncluded: (Int) -> Bool) -> Instant? {
        var last: Instant?
        for position in 0..<deadlines.count {
            let slot = deadlines.slot(at: position)
            let hardAt = entries[slot].task.hardAt
            if hardAt != .never, isIncluded(slot) { last = max(last ?? hardAt, hardAt) }
        }
        return last
    }

    /// How many deadlines there are; `nil` where one is not where it is known to be. For tests.
    var deadlineCount: Int? { deadlines.isConsistent ? deadlines.count : nil }

    /// Whether something is due for a task.
    func isDue(_ slot: Int, at now: Instant) -> Bool {
        deadlines.deadline(of: slot).map { $0 <= now } ?? false
    }

    func firstSlot(heldBy holder: HolderID) -> Int? {
        holders.slot(of: holder.rawValue).flatMap { holders[$0].firstSlot }
    }

    private mutating func takeSlot(
        _ id: TaskID, of owner: OwnerID, at place: Int?
    ) -> Int {
        let place =
            place
            ?? owners.insert(
                Owner(payer: charges.payer(of: owner)), number: UInt64(owner.rawValue))
        let slot = entries.take(number: id.rawValue)
        entries[slot].owner = Int32(place)
        lists.append(slot, to: &owners[place].tasks)
        lists.append(slot, to: &everybody)
        return slot
    }

    private mutating func countAsLive(_ slot: Int, _ change: Int) {
        liveCount += change
        let place = Int(entries[slot].owner)
        owners[place].liveCount += change
        charge(AccountCharges.Charge(live: change), at: place)
    }

    private mutating func countAsQueued(_ slot: Int, _ change: Int) {
        queuedCount += change
        let place = Int(entries[slot].owner)
        owners[place].queuedCount += change
        charge(AccountCharges.Charge(queued: change), at: place)
    }

    private mutating func join(_ slot: Int, _ holder: HolderID) {
        let place =
            holders.slot(of: holder.rawValue)
            ?? holders.insert(TaskLists.List(.holder), number: holder.rawValue)
        entries[slot].holder = Int32(place)
        lists.append(slot, to: &holders[place])
    }

    private mutating func leaveHolder(_ slot: Int) {
        let place = Int(entries[slot].holder)
        guard place != Int(Entry.withoutHolder) else { return }
        lists.remove(slot, from: &holders[place])
        if holders[place].isEmpty { holders.remove(place) }
    }

    private mutating func leaveOwner(_ slot: Int) {
        let place = Int(entries[slot].owner)
        lists.remove(slot, from: &everybody)
        lists.remove(slot, from: &owners[place].tasks)
        if owners[place].tasks.isEmpty { owners.remove(place) }
    }

    // MARK: - In the order of their ids

    /// The slots of one owner's tasks, or of all, in the order of their ids.
    func slots(of owner: OwnerID?) -> [Int] {
        var result: [Int] = []
        var next = firstSlot(of: owner)
        while let slot = next {
            result.append(slot)
            next = nextSlot(after: slot, of: owner)
        }
        return result
    }

    /// Adds the ids of one owner's tasks, or of all, that come after one; run tasks once they are admitted.
    func collect(of owner: OwnerID?, after last: TaskID, into found: inout FirstIdentifiers) {
        var next = firstSlot(of: owner)
        if let slot = slot(of: last), owner ?? self[slot].owner == self[slot].owner {
            next = nextSlot(after: slot, of: owner)
        }
        while !found.isFull, let slot = next {
            let id = TaskID(rawValue: entries.number(of: slot))
            if id > last, isAdmitted(slot) { found.add(id) }
            next = nextSlot(after: slot, of: owner)
        }
    }

    /// Of one owner's tasks, or of all, the first in the order of their ids.
    private func firstSlot(of owner: OwnerID?) -> Int? {
        guard let owner else { return everybody.firstSlot }
        return self[owner]?.tasks.firstSlot
    }

    private func nextSlot(after slot: Int, of owner: OwnerID?) -> Int? {
        lists.next(after: slot, owner == nil ? .everybody : .owner)
    }

    private func isAdmitted(_ slot: Int) -> Bool {
        entries[slot].task.kind == .held || phase(slot)?.isAdmitted ?? true
    }

    // MARK: - The memory of a busy hour

    /// Whether most slots are vacant, of more than are kept in any case.
    var isMostlyVacant: Bool {
        entries.slotCount > TaskTable.slotsKept
            && entries.slotCount / TaskTable.slotsPerTaskMax > count
    }

    /// Moves all tasks together, to other slots: only where nobody knows one, as at the end of a turn in which no
    /// command is queued.
    mutating func compact() {
        var next = everybody.firstSlot
        forgetOwnersSlots()
        everybody = TaskLists.List(.everybody)
        let tasks = entries.takeAll()
        let keepers = holders.takeAll()
        let links = exchange(&lists, with: TaskLists())
        let due = exchange(&deadlines, with: DeadlineHeap())
        while let slot = next {
            let entry = tasks[slot]
            let place = entries.insert(entry, number: tasks.number(of: slot))
            lists.append(place, to: &everybody)
            lists.append(place, to: &owners[Int(entry.owner)].tasks)
            if entry.holder != Entry.withoutHolder {
                join(place, HolderID(rawValue: keepers.number(of: Int(entry.holder))))
            }
            setDeadline(due.deadline(of: slot) ?? .never, slot: place)
            next = links.next(after: slot, .everybody)
        }
    }

    private mutating func forgetOwnersSlots() {
        var next = everybody.firstSlot
        while let slot = next {
            owners[Int(entries[slot].owner)].tasks = TaskLists.List(.owner)
            next = lists.next(after: slot, .everybody)
        }
        if owners.isEmpty { _ = owners.takeAll() }
    }
}

extension TaskTable: HeldTaskSource {
    func heldTask(_ id: TaskID, at now: Instant) -> HeldTask? {
        slot(of: id).map { HeldTask(self[$0], at: now) }
    }
}
