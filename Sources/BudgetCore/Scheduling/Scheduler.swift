/// Decides which of the queued tasks starts, and says what holds the others back.
///
/// Whether the disk takes writes and whether the daemon stops is asked elsewhere, before anything of this.
struct Scheduler: Sendable {
    private var queue = TaskQueue()
    /// Commands that have a slot, or had one and have not ended.
    private var occupants = SlotOccupants()
    /// What the machine had no room for last.
    private var shortage = Shortage()
    private var pausedGroups = Pauses<String>()
    private var pausedOwners = Pauses<OwnerID>()
    private var dependencies = Dependencies()
    private var changes = PendingChanges()
    /// What the kernel says of the machine.
    private(set) var conditions: Conditions = []
    /// The same in words, for `explain`; of those that the shell looks at.
    var conditionReadings: [Conditions: String] = [:]

    /// Tasks of the queue that go on in one go when their time has come.
    private static let wakesAtOnce = 512

    // MARK: - What waits

    var isQueueEmpty: Bool { queue.isEmpty }

    /// When the next one has waited for its time.
    var nextWake: BootInstant? { queue.nextWake }

    /// What waits for what, and which of the ready ones was submitted first; looks at all of them.
    var standing: (QueueStanding, oldestReady: TaskID?) {
        queue.standing { group, owner in
            pausedOwners.contains(owner) || group.map(pausedGroups.contains) == true
        }
    }

    /// Conditions that tasks wait for whose own time has come.
    var wantedConditions: Conditions { queue.wantedConditions }

    /// Lets a task wait for its turn.
    mutating func enqueue(_ slot: Int, _ task: BackgroundTask, _ run: RunTask) {
        queue.add(slot, task, run, isHeldBack: isHeldBack(task.id, run.queueing))
    }

    /// Puts a queued task where it belongs now: something else decides when it may run.
    mutating func requeue(_ slot: Int, _ task: BackgroundTask, _ run: RunTask) {
        queue.replace(slot, task, run, isHeldBack: isHeldBack(task.id, run.queueing))
    }

    /// Whether a task waits for something that no time and no slot ends.
    private func isHeldBack(_ id: TaskID, _ queueing: Queueing) -> Bool {
        queueing.isPaused || dependencies.holdBack(id) || changes.areUnderWay(of: id)
    }

    mutating func dequeue(_ slot: Int) {
        queue.remove(slot)
    }

    /// Gives back what grows with the slots of all tasks, once none is queued.
    mutating func releaseMemory() {
        queue.releaseMemory()
    }

    /// Lets those go on that have waited for their time.
    ///
    /// - Parameter limit: at most so many; `nil`: once an instant, and then so many that nothing else has to wait
    ///   for long. What is left over has its turn with the deadlines.
    mutating func wake(through boot: BootInstant, limit: Int?) {
        guard limit != nil || queue.clock < boot else { return }
        queue.wake(through: boot, limit: limit ?? Scheduler.wakesAtOnce)
    }

    mutating func replaceAccounts(_ accounts: Accounts) {
        queue.replaceAccounts(accounts)
    }

    mutating func setConditions(_ conditions: Conditions) {
        self.conditions = conditions
    }

    // MARK: - Slots

    /// The commands that have been given a slot and have not ended, in no order that means anything.
    var occupantIDs: Set<TaskID> { occupants.ids }
    /// How many slots are taken.
    var slotsTaken: Int { occupants.slotsTaken }
    /// Those that take a slot now.
    var idsInSlots: Set<TaskID> { occupants.inSlots }

    /// A task takes a slot; it begins once the disk knows.
    mutating func takeSlot(_ task: BackgroundTask, _ queueing: Queueing) {
        guard occupants.insert(task.id, slots: queueing.slots) else { return }
        queue.countRunning(task, queueing, 1)
        queue.countSlot(task, queueing, 1)
    }

    /// Takes the slot of a task back, where it has one, and what it has of its owner's share.
    mutating func freeSlot(_ task: BackgroundTask, _ queueing: Queueing) {
        guard let hadSlot = occupants.remove(task.id) else { return }
        queue.countRunning(task, queueing, -1)
        if hadSlot { queue.countSlot(task, queueing, -1) }
    }

    /// Lets a command that begins, becomes dormant or stuck, or goes on, have a slot or not. It gets one back though
    /// none may be free: then nothing else starts until there are as many as before.
    ///
    /// - Returns: whether a slot is free by it.
    mutating func park(_ task: BackgroundTask, _ queueing: Queueing, _ isParked: Bool) -> Bool {
        guard occupants.park(task.id, isParked) else { return false }
        queue.countSlot(task, queueing, isParked ? -1 : 1)
        return isParked
    }

    /// The task whose turn it is; `nil` where none may start.
    ///
    /// - Parameter liveCount: how many live tasks count against an owner's limit.
    func next(_ limits: RegistryLimits, liveCount: (OwnerID) -> Int) -> Int? {
        guard slotsReason(limits) == nil else { return nil }
        var reserved = Reserved()
        while true {
            let slot = queue.next { owner, runningCount in
                let payer = queue.payer(of: owner)
                return runningCount < limits.slotsMax(of: payer)
                    && !pausedOwners.contains(owner) && !reserved.payers.contains(payer)
                    && liveCount(owner) < limits.tasksPerOwnerMax
            } where: { owner, key in
                reason(for: key, limits) == nil && !reserved.holds(key, of: queue.payer(of: owner))
            }
            guard let slot, let demand = queue.demand(of: slot), demand.slots > 1
            else { return slot }
            let payer = queue.payer(of: demand.owner)
            if let group = demand.group, groupSlotsReason(group, limits, demand.slots) != nil {
                reserved.groups.insert(Reserved.Share(payer: payer, group: group))
            } else if shareReason(demand.owner, limits, demand.slots) != nil
                || slotsReason(limits, demand.slots) != nil
            {
                reserved.payers.insert(payer)
            } else {
                return slot
            }
        }
    }

    /// Whose other tasks do not start before one that takes several slots, whose turn it is: else those that take one
    /// could go before it for ever. Nobody else waits for it.
    private struct Reserved {
        struct Share: Hashable {
            let payer: OwnerID
            let group: String
        }

        var payers: Set<OwnerID> = []
        var groups: Set<Share> = []

        func holds(_ key: EligibilityKey, of payer: OwnerID) -> Bool {
            guard !groups.isEmpty, let group = key.group else { return false }
            return groups.contains(Share(payer: payer, group: group))
        }
    }

    /// Whether a submission starts at once. Those that waited before it have taken the slots that are free, or may
    /// not start.
    func mayStartAtOnce(
        _ submission: Submission, _ limits: RegistryLimits, liveCount: Int, at boot: BootInstant
    ) -> Bool {
        let (owner, queueing) = (submission.owner, submission.queueing)
        guard !queueing.isByName, queueing.wait == nil, !queueing.isPaused,
            !pausedOwners.contains(owner), queue.wideCount(of: owner) == 0
        else { return false }
        let isShort = shortage.present.map { $0.until > boot } ?? false
        let key = EligibilityKey(queueing)
        return !isShort && slotsReason(limits, queueing.slots) == nil
            && shareReason(owner, limits, queueing.slots) == nil
            && ownerReason(liveCount, limits) == nil && reason(for: key, limits) == nil
            && key.group.flatMap { groupSlotsReason($0, limits, queueing.slots) } == nil
    }

    // MARK: - What holds a task back

    /// The machine had no room, and is left alone for a while.
    var shortageReason: PendingReason? {
        guard let (reason, until) = shortage.present, until > queue.clock else { return nil }
        return .shortage(reason, until: until)
    }

    /// Every rule of these that holds a queued task back now; the one that it is said to wait for in front.
    func reasons(
        for task: BackgroundTask, _ run: RunTask, _ limits: RegistryLimits, liveCount: Int
    ) -> [PendingReason] {
        let (key, slots) = (EligibilityKey(run.queueing), run.queueing.slots)
        var result = [
            shortageReason, changes.areUnderWay(of: task.id) ? .changing : nil,
            run.queueing.isPaused ? .pausedTask : nil,
            pausedOwners.contains(task.owner) ? .pausedOwner : nil, pauseReason(key),
            afterReason(task.id), timeReason(run),
        ].compactMap { $0 }
        result += conditionReasons(key)
        result += [
            nameReason(task, run), ownerReason(liveCount, limits),
            ownShareReason(task.owner, limits, slots),
            key.group.flatMap { groupSlotsReason($0, limits, slots) }, slotsReason(limits, slots),
        ].compactMap { $0 }
        return result
    }

    /// Whether an owner's tasks may wait for one of theirs that takes several slots.
    func mayReserveSlots(of owner: OwnerID) -> Bool { queue.wideCount(of: owner) > 0 }

    /// Whether a rule of time holds a queued task back.
    func defers(_ task: BackgroundTask, _ run: RunTask) -> Bool {
        timeReason(run) != nil || nameReason(task, run)?.defers == true
    }

    /// - Parameter count: how many slots are asked for; where there are fewer in all, all of them will do.
    private func slotsReason(_ limits: RegistryLimits, _ count: Int = 1) -> PendingReason? {
        guard occupants.slotsTaken < limits.slots else { return .slots(limits.slots) }
        let needed = min(count, limits.slots)
        return occupants.slotsTaken + needed <= limits.slots ? nil : .slotsNeeded(needed)
    }

    private func shareReason(
        _ owner: OwnerID, _ limits: RegistryLimits, _ count: Int = 1
    ) -> PendingReason? {
        let most = limits.slotsMax(of: queue.payer(of: owner))
        return queue.runningCount(of: owner) + min(count, most) <= most
            ? nil : .slotsPerOwnerMax(most)
    }

    private func afterReason(_ id: TaskID) -> PendingReason? {
        let open = dependencies.open(of: id).map(\.id)
        return open.isEmpty ? nil : .after(open)
    }

    /// The same to be told: where the share is all slots, and they are taken, that says it already.
    private func ownShareReason(
        _ owner: OwnerID, _ limits: RegistryLimits, _ count: Int
    ) -> PendingReason? {
        if slotsReason(limits, count) != nil,
            limits.slotsMax(of: queue.payer(of: owner)) >= limits.slots
        {
            return nil
        }
        return shareReason(owner, limits, count)
    }

    private func ownerReason(_ liveCount: Int, _ limits: RegistryLimits) -> PendingReason? {
        let max = limits.tasksPerOwnerMax
        return liveCount < max ? nil : .tasksPerOwnerMax(max)
    }

    /// What holds back all tasks with a key.
    private func reason(for key: EligibilityKey, _ limits: RegistryLimits) -> PendingReason? {
        pauseReason(key) ?? conditionReasons(key).first
            ?? key.group.flatMap { groupSlotsReason($0, limits) }
    }

    private func pauseReason(_ key: EligibilityKey) -> PendingReason? {
        guard let group = key.group, pausedGroups.contains(group) else { return nil }
        return .paused(group: group)
    }

    /// A group that is not set any more has no limit of its own.
    private func groupSlotsReason(
        _ group: String, _ limits: RegistryLimits, _ count: Int = 1
    ) -> PendingReason? {
        guard let slots = limits.groupSlots[group] else { return nil }
        let taken = queue.slotsTaken(ofGroup: group)
        guard taken < slots else { return .groupSlots(slots, group: group) }
        let needed = min(count, slots)
        return taken + needed <= slots ? nil : .groupSlotsNeeded(needed, group: group)
    }

    private func conditionReasons(_ key: EligibilityKey) -> [PendingReason] {
        let missing = key.conditions.subtracting(conditions)
        guard !missing.isEmpty else { return [] }
        return [PendingReason.network, .externalPower, .idle].filter { reason in
            reason.condition.map { missing.contains($0) } ?? false
        }
    }

    private func timeReason(_ run: RunTask) -> PendingReason? {
        guard run.notBefore > queue.clock else { return nil }
        if let postponed = run.postponed {
            return .postponed(postponed.reason, until: run.notBefore, count: postponed.count)
        }
        guard run.attempt > 1 else { return .earliestBegin(until: run.notBefore) }
        return .retry(until: run.notBefore, attempt: run.attempt)
    }

    private func nameReason(_ task: BackgroundTask, _ run: RunTask) -> PendingReason? {
        NameQueueKey(OwnedName(task), run.queueing).flatMap(queue.nameReason)
    }

    // MARK: - A machine without room

    /// A start found no room.
    ///
    /// - Returns: whether a pause begins in which nothing is started.
    mutating func foundNoRoom(
        _ reason: String, _ scope: ShortageScope, at boot: BootInstant
    ) -> Bool {
        shortage.found(reason, scope, at: boot)
    }

    /// The program that runs commands is there: nothing waits for it any longer.
    mutating func executorIsThere() {
        shortage.executorIsThere()
    }

    /// A command has been started: there is room.
    mutating func foundRoom() {
        shortage.isOver()
    }

    /// When a command is tried again that there was no room for so many times, one after the other.
    ///
    /// Where the machine had none, one that met that before lets others go before it, for it may be the one that
    /// there is never room for.
    func nextTry(
        after count: Int, _ scope: ShortageScope, at boot: BootInstant
    ) -> BootInstant {
        let until = boot + Shortage.pause(after: count)
        guard scope == .machine, count > 1 else { return until }
        return max(until, shortage.present?.until ?? until) + .seconds(1)
    }

    // MARK: - Names

    /// Whether a name is followed, since a task that is held back by name has not ended.
    func follows(_ name: OwnedName) -> Bool { queue.follows(name) }

    /// The task that has a unique name.
    func uniqueTask(_ name: OwnedName) -> TaskID? { queue.uniqueTask(name) }

    /// All that have it: the newest, and those that are being stopped in its favour or that it waits for.
    func uniqueTasks(_ name: OwnedName) -> [TaskID] { queue.uniqueTasks(name) }

    /// By how many different rules tasks of its name wait, or will, with those of a submission.
    func ruleCount(with submission: Submission) -> Int {
        NameQueueKey(OwnedName(submission), submission.queueing)
            .map { queue.nameQueueCount(with: $0) } ?? 0
    }

    /// By how many different rules tasks of a name wait, or will where one of them waits otherwise.
    func ruleCount(of task: BackgroundTask, _ queueing: Queueing) -> Int {
        NameQueueKey(OwnedName(task), queueing).map { queue.nameQueueCount(with: $0) } ?? 0
    }

    /// A queued task whose name is followed waits by another rule of it.
    mutating func rename(
        _ slot: Int, _ task: BackgroundTask, from before: Queueing, to after: Queueing
    ) {
        let name = OwnedName(task)
        guard let old = NameQueueKey(name, before), let new = NameQueueKey(name, after), old != new
        else { return }
        queue.refollow(from: old, to: new)
    }

    /// Follows the name of a task that others of its name can hold back.
    ///
    /// - Parameter live: for each task of the name that has a slot, whether it is unique; for a name that is not
    ///   followed yet.
    mutating func follow(_ task: BackgroundTask, _ queueing: Queueing, live: [Bool]) {
        guard let key = NameQueueKey(OwnedName(task), queueing) else { return }
        queue.follow(key, unique: key.isUnique ? task.id : nil, live: live)
    }

    mutating func unfollow(_ task: BackgroundTask, _ queueing: Queueing) {
        guard let key = NameQueueKey(OwnedName(task), queueing) else { return }
        queue.unfollow(key, unique: key.isUnique ? task.id : nil)
    }

    /// A task of that name has completed, now or before: an interval counts from there.
    mutating func succeeded(_ name: OwnedName, at boot: BootInstant) {
        queue.succeeded(name, at: boot)
    }

    /// The disk knows when a task of a name that is followed last completed.
    mutating func recall(_ name: OwnedName, succeededAt boot: BootInstant) {
        queue.recall(name, succeededAt: boot)
    }

    // MARK: - Groups

    /// What there is of the groups that are set, by name, with the tasks that a caller may know of.
    func groups(
        _ limits: RegistryLimits, for caller: Caller
    ) -> [(name: String, slots: Int, isPaused: Bool, use: GroupUse)] {
        limits.groupSlots.sorted { $0.key < $1.key }.map { name, slots in
            let use = queue.use(of: name, by: caller.seesAll ? nil : caller.owner)
            return (name, slots, pausedGroups.contains(name), use)
        }
    }

    func isPaused(_ group: String) -> Bool { pausedGroups.contains(group) }

    /// Takes an order to hold back, or to let go, what is queued in a group; it is done once it is on disk.
    ///
    /// - Returns: whether there is something to do; else it is so already.
    mutating func orderPause(_ group: String, _ isPaused: Bool) -> Bool {
        pausedGroups.order(group, isPaused)
    }

    /// The oldest order about a group is on disk, or is not.
    mutating func pauseAnswered(_ group: String, _ isPaused: Bool, isStored: Bool) {
        pausedGroups.answered(group, isPaused, isStored: isStored)
    }

    mutating func restorePauses(_ groups: [String]) {
        pausedGroups = Pauses(groups)
    }

    // MARK: - Owners

    func isPaused(_ owner: OwnerID) -> Bool { pausedOwners.contains(owner) }

    /// The same for all tasks of an owner.
    mutating func orderPause(_ owner: OwnerID, _ isPaused: Bool) -> Bool {
        pausedOwners.order(owner, isPaused)
    }

    mutating func pauseAnswered(_ owner: OwnerID, _ isPaused: Bool, isStored: Bool) {
        pausedOwners.answered(owner, isPaused, isStored: isStored)
    }

    mutating func restorePauses(of paused: [OwnerID]) {
        pausedOwners = Pauses(paused)
    }

    // MARK: - Tasks that come after others

    /// Whether one more may wait for a task.
    func hasRoom(after id: TaskID) -> Bool { dependencies.hasRoom(after: id) }

    /// What a task waits for that has not ended.
    func openPredecessors(of id: TaskID) -> [Predecessor] { dependencies.open(of: id) }

    /// What a task comes after, with how it ended.
    func dependencies(of id: TaskID) -> [Dependency] { dependencies.all(of: id) }

    /// Why a task waits in vain for others; `nil` where it does not.
    func brokenDependency(of id: TaskID) -> BrokenDependency? { dependencies.broken(of: id) }

    mutating func wait(
        _ id: TaskID, after dependencies: [Dependency], broken: BrokenDependency? = nil
    ) {
        self.dependencies.add(id, after: dependencies, broken: broken)
    }

    /// A task has ended for good, and waits for no other either; those that wait for it are told by `tellFollowers`.
    mutating func ended(_ id: TaskID, _ outcome: Outcome) {
        dependencies.remove(id)
        dependencies.ended(id, outcome)
    }

    /// Whether an end is still to be told to some that wait for it.
    var hasUntoldFollowers: Bool { dependencies.hasUntold }

    /// Tells those that wait how tasks have ended.
    ///
    /// - Parameter allowance: at most so many of them; what is left of it afterwards.
    /// - Returns: those that wait for nothing any more, and those that wait in vain from now on.
    mutating func tellFollowers(_ allowance: inout Int) -> (free: [TaskID], broken: [TaskID]) {
        dependencies.tell(&allowance)
    }

    /// A task that never was, since the disk did not take it, waits for no other.
    mutating func forget(_ id: TaskID) { dependencies.remove(id) }

    // MARK: - Changes

    /// Whether a change of a task is on its way to the disk.
    func isChanging(_ id: TaskID) -> Bool { changes.areUnderWay(of: id) }

    /// A queued task is to wait by other rules; it does not start until the disk knows.
    mutating func changeOrdered(of id: TaskID, from before: QueuedTerms) {
        changes.ordered(of: id, from: before)
    }

    /// The oldest change of a task is on disk, or is not.
    ///
    /// - Returns: by what it waits again, where the disk did not take it.
    mutating func changeAnswered(of id: TaskID, isStored: Bool) -> QueuedTerms? {
        changes.answered(of: id, isStored: isStored)
    }

    // MARK: - For tests

    /// Whether nothing is kept of tasks that have ended, but the last successes of their names.
    var isForgotten: Bool {
        queue.isForgotten && occupants.isEmpty && dependencies.isEmpty && changes.isEmpty
    }

    var nameCounts: (followed: Int, remembered: Int) { queue.nameCounts }
}
