/// All tasks that have not ended, found by id, by owner, by holder and by deadline in constant or
/// logarithmic time. A task keeps its slot until it ends; slots are used again, ids are not.
struct TaskTable: Sendable {
    /// What one owner has: live tasks are begun, queued ones wait for a slot.
    struct Owner: Sendable {
        var liveCount = 0
        var queuedCount = 0
        /// Bytes of its run tasks' commands and environments.
        var workBytes = 0
        fileprivate(set) var tasks = SlotLists.List()
    }

    /// What a task counts as.
    private enum Standing: Sendable {
        case live
        /// In the queue.
        case queued
        /// Counts as queued, and cannot be chosen to start: the disk has to answer first.
        case aside
        /// Its end is decided and on its way to the disk; it counts as nothing.
        case concluded
    }

    private struct Entry: Sendable {
        var task: BackgroundTask
        var holder: HolderID?
        var standing: Standing
    }

    private static let vacant = Entry(
        task: BackgroundTask(
            id: .invalid,
            owner: .root,
            kind: .held,
            name: "",
            application: nil,
            profile: Profile(unlimited: "", grace: .zero),
            budget: nil,
            at: .never
        ),
        holder: nil,
        standing: .live
    )

    private var entries: ContiguousArray<Entry> = []
    private var freeSlots: ContiguousArray<Int32> = []
    private var slots: [TaskID: Int32] = [:]
    private(set) var owners: [OwnerID: Owner] = [:]
    private var holders: [HolderID: SlotLists.List] = [:]
    /// All tasks in the order of their ids.
    private var everybody = SlotLists.List()
    private var everybodyLists = SlotLists()
    private var ownerLists = SlotLists()
    private var holderLists = SlotLists()
    var queue = TaskQueue()
    private(set) var deadlines = DeadlineHeap()
    private var runs: [TaskID: RunTask] = [:]
    private(set) var liveCount = 0
    private(set) var queuedCount = 0

    var count: Int { slots.count }

    func slot(of id: TaskID) -> Int? {
        slots[id].map(Int.init)
    }

    subscript(slot: Int) -> BackgroundTask {
        _read { yield entries[slot].task }
        _modify { yield &entries[slot].task }
    }

    subscript(run id: TaskID) -> RunTask? {
        _read { yield runs[id] }
        _modify { yield &runs[id] }
    }

    func record(at slot: Int) -> TaskRecord {
        let task = entries[slot].task
        return TaskRecord(task: task, run: task.kind == .run ? runs[task.id] : nil)
    }

    /// Takes a held task in as live.
    mutating func insert(_ task: BackgroundTask, holder: HolderID) -> Int {
        let slot = takeSlot(for: task, holder: holder, standing: .live)
        holderLists.append(slot, to: &holders[holder, default: SlotLists.List()])
        countAsLive(slot, 1)
        return slot
    }

    /// Takes a run task in. It counts as queued, and starts only once it has joined the queue.
    mutating func admit(_ task: BackgroundTask, _ run: RunTask) -> Int {
        let slot = takeSlot(for: task, holder: nil, standing: .aside)
        runs[task.id] = run
        owners[task.owner, default: Owner()].queuedCount += 1
        owners[task.owner]?.workBytes += run.work.byteCount
        queuedCount += 1
        return slot
    }

    /// Lets a task that stands aside wait for its turn.
    mutating func joinQueue(_ slot: Int) {
        let task = entries[slot].task
        guard entries[slot].standing == .aside, let run = runs[task.id] else { return }
        entries[slot].standing = .queued
        queue.add(slot, task, run)
    }

    /// Takes a task out of the queue; it counts as queued still.
    mutating func standAside(_ slot: Int) {
        guard entries[slot].standing == .queued else { return }
        entries[slot].standing = .aside
        queue.remove(slot)
    }

    /// Takes a queued task out of the queue and counts it as live.
    mutating func dequeue(_ slot: Int) {
        standAside(slot)
        entries[slot].standing = .live
        countAsQueued(slot, -1)
        countAsLive(slot, 1)
    }

    /// Counts a live task as queued again, and lets it be chosen to start.
    mutating func requeue(_ slot: Int) {
        setAside(slot)
        joinQueue(slot)
    }

    /// Counts a live task as queued again; it cannot be chosen to start.
    mutating func setAside(_ slot: Int) {
        entries[slot].standing = .aside
        countAsLive(slot, -1)
        countAsQueued(slot, 1)
    }

    /// Whether a task counts as live.
    func isLive(_ slot: Int) -> Bool {
        entries[slot].standing == .live
    }

    /// The end of a task is decided: nothing is due for it, and it counts as nothing.
    mutating func conclude(_ slot: Int) {
        deadlines.remove(slot: slot)
        standAside(slot)
        switch entries[slot].standing {
        case .live: countAsLive(slot, -1)
        case .aside: countAsQueued(slot, -1)
        case .queued, .concluded: break
        }
        entries[slot].standing = .concluded
    }

    /// The end of a task was decided in vain: it is live, or can be chosen to start, again.
    mutating func reopen(_ slot: Int, asLive: Bool) {
        guard entries[slot].standing == .concluded else { return }
        entries[slot].standing = asLive ? .live : .aside
        if asLive {
            countAsLive(slot, 1)
        } else {
            countAsQueued(slot, 1)
            joinQueue(slot)
        }
    }

    /// Forgets a task.
    mutating func remove(_ slot: Int) {
        let task = entries[slot].task
        conclude(slot)
        if let holder = entries[slot].holder { leaveHolder(slot, holder) }
        if task.kind == .run, let run = runs.removeValue(forKey: task.id) {
            owners[task.owner]?.workBytes -= run.work.byteCount
            if let line = LineKey(OwnedName(task), run.queueing) {
                queue.untrack(line, unique: line.isUnique ? task.id : nil)
            }
        }
        leaveOwner(slot, task.owner)
        slots[task.id] = nil
        entries[slot] = TaskTable.vacant
        freeSlots.append(Int32(slot))
        if slots.isEmpty { releaseMemory() }
    }

    /// Sets when something is due for a task; `never` for nothing.
    mutating func setDeadline(_ deadline: Instant, slot: Int) {
        deadlines.set(deadline, id: entries[slot].task.id, slot: slot)
    }

    func firstSlot(heldBy holder: HolderID) -> Int? {
        holders[holder]?.firstSlot
    }

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
        if let slot = slots[last].map(Int.init), owner ?? self[slot].owner == self[slot].owner {
            next = nextSlot(after: slot, of: owner)
        }
        while !found.isFull, let slot = next {
            let id = entries[slot].task.id
            if id > last, isAdmitted(slot) { found.add(id) }
            next = nextSlot(after: slot, of: owner)
        }
    }

    /// Of one owner's tasks, or of all, the first in the order of their ids.
    private func firstSlot(of owner: OwnerID?) -> Int? {
        guard let owner else { return everybody.firstSlot }
        return owners[owner]?.tasks.firstSlot
    }

    private func nextSlot(after slot: Int, of owner: OwnerID?) -> Int? {
        owner == nil ? everybodyLists.next(after: slot) : ownerLists.next(after: slot)
    }

    private func isAdmitted(_ slot: Int) -> Bool {
        let task = entries[slot].task
        return task.kind == .held || runs[task.id]?.isAdmitted ?? true
    }

    private mutating func takeSlot(
        for task: BackgroundTask, holder: HolderID?, standing: Standing
    ) -> Int {
        let entry = Entry(task: task, holder: holder, standing: standing)
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = Int(free)
            entries[slot] = entry
        } else {
            slot = entries.count
            entries.append(entry)
        }
        slots[task.id] = Int32(slot)
        ownerLists.append(slot, to: &owners[task.owner, default: Owner()].tasks)
        everybodyLists.append(slot, to: &everybody)
        return slot
    }

    private mutating func countAsLive(_ slot: Int, _ change: Int) {
        liveCount += change
        owners[entries[slot].task.owner, default: Owner()].liveCount += change
    }

    private mutating func countAsQueued(_ slot: Int, _ change: Int) {
        queuedCount += change
        owners[entries[slot].task.owner, default: Owner()].queuedCount += change
    }

    private mutating func leaveHolder(_ slot: Int, _ holder: HolderID) {
        holderLists.remove(slot, from: &holders[holder, default: SlotLists.List()])
        if holders[holder]?.isEmpty == true { holders[holder] = nil }
    }

    private mutating func leaveOwner(_ slot: Int, _ owner: OwnerID) {
        everybodyLists.remove(slot, from: &everybody)
        ownerLists.remove(slot, from: &owners[owner, default: Owner()].tasks)
        if owners[owner]?.tasks.isEmpty == true { owners[owner] = nil }
    }

    /// Gives the memory of a busy hour back once nothing is borrowed any more.
    private mutating func releaseMemory() {
        guard entries.count > 4096 else { return }
        entries = []
        freeSlots = []
        slots = [:]
        everybodyLists.releaseMemory()
        ownerLists.releaseMemory()
        holderLists.releaseMemory()
        deadlines.releaseMemory()
        queue.releaseMemory()
    }
}
