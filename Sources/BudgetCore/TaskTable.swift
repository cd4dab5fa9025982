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
        /// Its queued tasks, first come first.
        fileprivate(set) var queue = SlotLists.List()
    }

    private struct Entry: Sendable {
        var task: BackgroundTask
        var holder: HolderID?
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
        holder: nil
    )

    private var entries: ContiguousArray<Entry> = []
    private var freeSlots: ContiguousArray<Int32> = []
    private var slots: [TaskID: Int32] = [:]
    private(set) var owners: [OwnerID: Owner] = [:]
    private var holders: [HolderID: SlotLists.List] = [:]
    private var ownerLists = SlotLists()
    /// A held task is in its holder's list, a queued one in its owner's queue; no task is in both.
    private var groupLists = SlotLists()
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
        let slot = takeSlot(for: task, holder: holder)
        groupLists.append(slot, to: &holders[holder, default: SlotLists.List()])
        countAsLive(task.owner)
        return slot
    }

    /// Takes a run task in at the end of its owner's queue.
    mutating func enqueue(_ task: BackgroundTask, _ run: RunTask) -> Int {
        let slot = takeSlot(for: task, holder: nil)
        runs[task.id] = run
        owners[task.owner, default: Owner()].queuedCount += 1
        owners[task.owner]?.workBytes += run.work.byteCount
        groupLists.append(slot, to: &owners[task.owner, default: Owner()].queue)
        queuedCount += 1
        return slot
    }

    /// Takes a queued task out of the queue and counts it as live.
    mutating func dequeue(_ slot: Int) {
        leaveQueue(slot)
        countAsLive(entries[slot].task.owner)
    }

    /// Forgets a task that is not queued any more, or still is.
    mutating func remove(_ slot: Int, wasQueued: Bool) {
        let task = entries[slot].task
        deadlines.remove(slot: slot)
        if wasQueued {
            leaveQueue(slot)
        } else {
            liveCount -= 1
            owners[task.owner]?.liveCount -= 1
        }
        if let holder = entries[slot].holder { leaveHolder(slot, holder) }
        if task.kind == .run, let run = runs.removeValue(forKey: task.id) {
            owners[task.owner]?.workBytes -= run.work.byteCount
        }
        leaveOwner(slot, task.owner)
        slots[task.id] = nil
        entries[slot] = TaskTable.vacant
        freeSlots.append(Int32(slot))
        if slots.isEmpty { releaseMemory() }
    }

    mutating func setDeadline(_ deadline: Instant, slot: Int) {
        deadlines.set(deadline, id: entries[slot].task.id, slot: slot)
    }

    func firstSlot(heldBy holder: HolderID) -> Int? {
        holders[holder]?.firstSlot
    }

    func queueHead(of owner: OwnerID) -> Int? {
        owners[owner]?.queue.firstSlot
    }

    /// The slots of one owner's tasks in the order of their ids.
    func slots(of owner: OwnerID) -> [Int] {
        var result: [Int] = []
        var next = owners[owner]?.tasks.firstSlot
        while let slot = next {
            result.append(slot)
            next = ownerLists.next(after: slot)
        }
        return result
    }

    /// The slots of all tasks in the order of their ids.
    func allSlots() -> [Int] {
        slots.sorted { $0.key < $1.key }.map { Int($0.value) }
    }

    private mutating func takeSlot(for task: BackgroundTask, holder: HolderID?) -> Int {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = Int(free)
            entries[slot] = Entry(task: task, holder: holder)
        } else {
            slot = entries.count
            entries.append(Entry(task: task, holder: holder))
        }
        slots[task.id] = Int32(slot)
        ownerLists.append(slot, to: &owners[task.owner, default: Owner()].tasks)
        return slot
    }

    private mutating func countAsLive(_ owner: OwnerID) {
        liveCount += 1
        owners[owner, default: Owner()].liveCount += 1
    }

    private mutating func leaveQueue(_ slot: Int) {
        let owner = entries[slot].task.owner
        queuedCount -= 1
        owners[owner]?.queuedCount -= 1
        groupLists.remove(slot, from: &owners[owner, default: Owner()].queue)
    }

    private mutating func leaveHolder(_ slot: Int, _ holder: HolderID) {
        groupLists.remove(slot, from: &holders[holder, default: SlotLists.List()])
        if holders[holder]?.isEmpty == true { holders[holder] = nil }
    }

    private mutating func leaveOwner(_ slot: Int, _ owner: OwnerID) {
        ownerLists.remove(slot, from: &owners[owner, default: Owner()].tasks)
        if owners[owner]?.tasks.isEmpty == true { owners[owner] = nil }
    }

    /// Gives the memory of a busy hour back once nothing is borrowed any more.
    private mutating func releaseMemory() {
        guard entries.count > 4096 else { return }
        entries = []
        freeSlots = []
        slots = [:]
        ownerLists.releaseMemory()
        groupLists.releaseMemory()
        deadlines.releaseMemory()
    }
}
