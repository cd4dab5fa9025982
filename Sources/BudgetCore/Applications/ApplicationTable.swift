internal import Containers

/// The applications that are known, by their keys, and what is due for them.
struct ApplicationTable: ~Copyable, Sendable {
    private var entries: ContiguousArray<ManagedApplication?> = []
    private var freeSlots: [Int] = []
    private var slots: [ApplicationKey: Int] = [:]
    /// Who counts as whom, of those that come from now on.
    private var accounts = Accounts()
    /// By account.
    private var counts: [OwnerID: Int] = [:]
    /// Bytes of their registrations, by account.
    private var byteCounts: [OwnerID: Int] = [:]
    private var deadlines = DeadlineHeap()
    private var wakes = SlotHeaps<Due<BootInstant>>()
    private var wakeHeap = SlotHeaps<Due<BootInstant>>.Heap()
    /// Live tasks that name an application, whether it is known or not.
    private var tasks: [ApplicationKey: Set<TaskID>] = [:]
    /// Those in front, in the order in which they came there.
    private var inFront: [OwnerID: [ApplicationKey]] = [:]
    /// Those that run, or are being started.
    private(set) var runningCount = 0
    private(set) var frozenCount = 0
    /// Those that would be suspended, if that was enforced.
    private(set) var heldBackCount = 0
    private var useLast: UInt64 = 0
    /// Of freezes, thaws and deliveries.
    private(set) var numberLast: UInt64 = 0
    /// Of the runs of launched applications.
    private var runLast: UInt64 = 0
    /// Launched ones of which something may have changed since they were last taken.
    private var changed = ChangedTimes<ApplicationKey>()

    var isEmpty: Bool { slots.isEmpty }
    /// All of them, sorted by owner and id.
    var keys: [ApplicationKey] { slots.keys.sorted() }

    /// Those of an owner, or all of them.
    func keys(of owner: OwnerID?) -> [ApplicationKey] {
        slots.keys.filter { owner == nil || $0.owner == owner }.sorted()
    }

    var nextDeadline: Instant? { deadlines.first?.deadline }
    var nextWake: BootInstant? { wakeHeap.first?.key.at }

    subscript(key: ApplicationKey) -> ManagedApplication? {
        slots[key].flatMap { entries[$0] }
    }

    /// When the last of those that are being ended is killed.
    ///
    /// - Parameter adopted: whether launched ones are left out.
    func lastKill(ofAdopted adopted: Bool) -> Instant? {
        guard runningCount > 0 else { return nil }
        return entries.lazy.compactMap { $0?.run }.filter { !adopted || $0.isAdopted }
            .map(\.kill.due).filter { $0 != .never }.max()
    }

    /// Adopted ones that run.
    var adoptedCount: Int {
        guard runningCount > 0 else { return 0 }
        return entries.count { $0?.run.map { $0.isAdopted && $0.hasProcesses } ?? false }
    }

    /// How many count against the limit of an owner.
    func count(of owner: OwnerID) -> Int { counts[accounts.account(of: owner)] ?? 0 }

    func front(of owner: OwnerID) -> [ApplicationKey] { inFront[owner] ?? [] }

    /// The first whose deadline has come.
    func due(at now: Instant) -> ApplicationKey? {
        guard let first = deadlines.first, first.deadline <= now else { return nil }
        return entries[first.slot]?.key
    }

    /// The first whose deferred message may be delivered.
    func due(at boot: BootInstant) -> ApplicationKey? {
        guard let first = wakeHeap.first, first.key.at <= boot else { return nil }
        return entries[first.slot]?.key
    }

    /// Whether a freeze, a thaw or a delivery has had this number.
    func hasGiven(_ number: UInt64) -> Bool { number > 0 && number <= numberLast }

    mutating func nextNumber() -> UInt64 {
        numberLast += 1
        return numberLast
    }

    /// The number of the next run of a launched application.
    mutating func nextRun() -> UInt64 {
        runLast += 1
        return runLast
    }

    /// A run of an earlier daemon has had this number, which no other gets.
    mutating func hasHad(run: UInt64) { runLast = max(runLast, run) }

    /// An earlier daemon has given the numbers up to this one.
    mutating func hasGiven(through number: UInt64) { numberLast = max(numberLast, number) }

    /// The launched applications that have changed since this was last called.
    mutating func takeChanged() -> [ApplicationKey] { changed.take() }

    mutating func replaceAccounts(_ accounts: Accounts) { self.accounts = accounts }

    /// Makes an application known.
    ///
    /// - Parameter isSaved: whether the disk has its record.
    mutating func insert(_ key: ApplicationKey, _ record: ApplicationRecord, isSaved: Bool) {
        let slot = freeSlots.popLast() ?? entries.count
        if slot == entries.count { entries.append(nil) }
        let account = accounts.account(of: key.owner)
        entries[slot] = ManagedApplication(key, record, account: account, isSaved: isSaved)
        slots[key] = slot
        counts[account, default: 0] += 1
        byteCounts[account, default: 0] += record.registration.byteCount
    }

    /// Bytes that count against the limit of an owner.
    func registeredBytes(of owner: OwnerID) -> Int {
        byteCounts[accounts.account(of: owner)] ?? 0
    }

    func bytes(of key: ApplicationKey) -> Int { self[key]?.registration.byteCount ?? 0 }

    /// Gives an application other settings.
    mutating func setRegistration(_ key: ApplicationKey, _ registration: Registration) {
        guard let account = self[key]?.account else { return }
        byteCounts[account, default: 0] += registration.byteCount - bytes(of: key)
        update(key) { $0.record.registration = registration }
    }

    mutating func remove(_ key: ApplicationKey) {
        let bytes = bytes(of: key)
        let account = self[key]?.account ?? key.owner
        guard let slot = slots.removeValue(forKey: key) else { return }
        setDeadline(.never, slot: slot)
        setWake(.never, slot: slot)
        entries[slot] = nil
        freeSlots.append(slot)
        let count = (counts[account] ?? 0) - 1
        counts[account] = count > 0 ? count : nil
        byteCounts[account] = count > 0 ? (byteCounts[account] ?? 0) - bytes : nil
    }

    /// Changes an application; one that is not known is left alone. What is due for it follows.
    mutating func update(_ key: ApplicationKey, _ body: (inout ManagedApplication) -> Void) {
        guard let slot = slots[key], var application = entries[slot] else { return }
        // Moved out, so that what is changed is not copied first.
        entries[slot] = nil
        let before = application.state
        let ran = application.run?.hasProcesses == true
        let wasFrozen = application.run?.phase == .frozen
        let wasHeldBack = application.run?.wouldBeSuspended == true
        body(&application)
        if application.state != before { moved(&application, from: before) }
        runningCount += (application.run?.hasProcesses == true ? 1 : 0) - (ran ? 1 : 0)
        frozenCount += (application.run?.phase == .frozen ? 1 : 0) - (wasFrozen ? 1 : 0)
        heldBackCount +=
            (application.run?.wouldBeSuspended == true ? 1 : 0) - (wasHeldBack ? 1 : 0)
        setDeadline(application.run?.nextDeadline ?? .never, slot: slot)
        if application.deferred.isEmpty { setWake(.never, slot: slot) }
        if application.run?.number != nil { changed.insert(key) }
        entries[slot] = application
    }

    /// An application has been used later than all others that are there.
    mutating func wasUsed(_ key: ApplicationKey) {
        useLast += 1
        let use = useLast
        update(key) { $0.lastUse = use }
    }

    /// Plans the delivery of the first message that waits for its hour.
    mutating func planWake(_ key: ApplicationKey, perHourMax: Int) {
        guard let slot = slots[key], let application = entries[slot] else { return }
        let wake = application.silent.wake(after: 0, perHourMax: perHourMax) ?? .distantPast
        setWake(application.deferred.isEmpty ? .never : wake, slot: slot)
    }

    private mutating func moved(
        _ application: inout ManagedApplication, from before: ApplicationState
    ) {
        let owner = application.key.owner
        guard application.state.isInFront != before.isInFront else { return }
        useLast += 1
        application.lastUse = useLast
        if application.state.isInFront {
            inFront[owner, default: []].append(application.key)
        } else {
            inFront[owner]?.removeAll { $0 == application.key }
            if inFront[owner]?.isEmpty == true { inFront[owner] = nil }
        }
    }

    private mutating func setDeadline(_ deadline: Instant, slot: Int) {
        deadlines.set(deadline, id: TaskID(rawValue: UInt64(slot)), slot: slot)
    }

    private mutating func setWake(_ wake: BootInstant, slot: Int) {
        if wake != .never {
            wakes.set(slot, Due(at: wake, id: TaskID(rawValue: UInt64(slot))), in: &wakeHeap)
        } else if wakes.contains(slot) {
            wakes.remove(slot, from: &wakeHeap)
        }
    }

    // MARK: Their tasks

    var haveTasks: Bool { !tasks.isEmpty }

    func taskCount(of key: ApplicationKey) -> Int { tasks[key]?.count ?? 0 }

    /// The tasks of an application, by their ids.
    func tasks(of key: ApplicationKey) -> [TaskID] { tasks[key]?.sorted() ?? [] }

    func hasTasks(_ key: ApplicationKey) -> Bool { tasks[key] != nil }

    mutating func add(_ task: TaskID, of key: ApplicationKey) {
        tasks[key, default: []].insert(task)
    }

    /// - Returns: whether it was one of them.
    mutating func remove(_ task: TaskID, of key: ApplicationKey) -> Bool {
        guard tasks[key]?.remove(task) != nil else { return false }
        if tasks[key]?.isEmpty == true { tasks[key] = nil }
        return true
    }
}
