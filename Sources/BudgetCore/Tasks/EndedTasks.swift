internal import Containers

/// Tasks that have ended and can still be asked about. Where they are too many, the oldest of the account that
/// has most are forgotten, so that the many tasks of one user do not push out another's.
struct EndedTasks: ~Copyable, Sendable {
    /// Whom each owner's tasks count for, of those that end from now on.
    private var accounts = Accounts()
    private var tasks = SlotMap(vacant: EndedTask())
    private var held = EndedQueues()
    private var run = EndedQueues()
    /// Run tasks that were cleaned away, and of which the shell may have kept something.
    private var cleaned: [BackgroundTask] = []

    /// So many slots are kept in any case; a million may end in one turn, and be forgotten after it.
    private static let slotsKept = 4096

    var count: Int { tasks.count }

    mutating func replaceAccounts(_ accounts: Accounts) {
        self.accounts = accounts
    }

    subscript(id: TaskID) -> TaskRecord? {
        tasks.slot(of: id.rawValue).map { tasks[$0].record(id) }
    }

    /// What has to be known of one to say who is to hear of it, without the whole of it.
    func brief(of id: TaskID) -> TaskBrief? {
        tasks.slot(of: id.rawValue).map {
            TaskBrief(kind: tasks[$0].kind, owner: tasks[$0].owner, outcome: tasks[$0].outcome)
        }
    }

    /// Remembers a task that has ended, and takes its words from it.
    ///
    /// - Parameter run: what is to be remembered of a run task beyond that.
    mutating func take(_ task: inout BackgroundTask, _ run: TaskRecord.Run?) {
        let account = accounts.account(of: task.owner)
        let payer =
            switch task.kind {
            case .held: held.append(task.id, of: task.owner, account: account)
            case .run: self.run.append(task.id, of: task.owner, account: account)
            }
        tasks[tasks.take(number: task.id.rawValue)].take(&task, run, account: payer)
    }

    /// Forgets some that its caller may see; others, and those that are not there, are passed over.
    mutating func clean(_ ids: [TaskID], for caller: Caller) {
        for id in ids {
            guard let slot = tasks.slot(of: id.rawValue) else { continue }
            let (owner, account) = (tasks[slot].owner, tasks[slot].account)
            guard caller.seesAll || owner == caller.owner else { continue }
            switch tasks[slot].kind {
            case .held: held.remove(id, of: owner, account: account)
            case .run:
                cleaned.append(tasks[slot].record(id).task)
                run.remove(id, of: owner, account: account)
            }
            forget(id)
        }
    }

    /// Forgets what is beyond the limits.
    ///
    /// - Returns: the run tasks among it, and those that were cleaned away since.
    mutating func trim(heldMax: Int, runMax: Int) -> [BackgroundTask] {
        while held.count > heldMax, let id = held.removeOldest() { forget(id) }
        var forgotten: [BackgroundTask] = []
        swap(&forgotten, &cleaned)
        while run.count > runMax, let id = run.removeOldest() {
            if let record = self[id] { forgotten.append(record.task) }
            forget(id)
        }
        if tasks.slotCount > EndedTasks.slotsKept, tasks.slotCount / 4 > count { tasks.compact() }
        return forgotten
    }

    /// Adds the ids of one owner's ended tasks, or of all, that come after one.
    func collect(of owner: OwnerID?, after last: TaskID, into found: inout FirstIdentifiers) {
        held.collect(of: owner, after: last, into: &found)
        run.collect(of: owner, after: last, into: &found)
    }

    private mutating func forget(_ id: TaskID) {
        guard let slot = tasks.slot(of: id.rawValue) else { return }
        tasks[slot].vacate()
        tasks.free(slot)
    }
}
