/// A name among the tasks of one owner.
struct OwnedName: Hashable, Sendable {
    let owner: OwnerID
    let name: String
}

extension OwnedName {
    init(_ task: BackgroundTask) {
        self.init(owner: task.owner, name: task.name)
    }

    init(_ submission: Submission) {
        self.init(owner: submission.owner, name: submission.name)
    }
}

/// Tasks with the same one are held back by the same rules: only the first of them has to be looked at.
struct NameQueueKey: Hashable, Sendable {
    let name: OwnedName
    let interval: Duration?
    let isUnique: Bool
    let eligibility: EligibilityKey

    /// `nil`: no other task of its name can hold such a task back.
    init?(_ name: OwnedName, _ queueing: Queueing) {
        guard queueing.isByName else { return nil }
        self.name = name
        interval = queueing.minimumInterval
        isUnique = queueing.unique != nil
        eligibility = EligibilityKey(queueing)
    }
}

/// What is known of names that keep an interval or are unique, for as long as a task that is held back by name has
/// not ended.
package struct NameRules: Sendable {
    private struct NameState: Sendable {
        /// Tasks of that name that have a slot, those without such a rule included.
        var liveCount = 0
        /// Of these, those that were submitted as unique.
        var uniqueLiveCount = 0
        var lastSuccess: BootInstant?
        /// Tasks that were submitted as unique and have not ended, the newest last.
        var uniques: [TaskID] = []
        /// The queues in which its tasks that have not ended wait, or will, with how many these are.
        var queues: [(key: NameQueueKey, count: Int)] = []

        mutating func add(_ key: NameQueueKey) {
            if let index = queues.firstIndex(where: { $0.key == key }) {
                queues[index].count += 1
            } else {
                queues.append((key, 1))
            }
        }

        mutating func remove(_ key: NameQueueKey) {
            guard let index = queues.firstIndex(where: { $0.key == key }) else { return }
            queues[index].count -= 1
            if queues[index].count == 0 { queues.remove(at: index) }
        }

        mutating func move(from old: NameQueueKey, to new: NameQueueKey) {
            add(new)
            remove(old)
        }
    }

    private var states: [OwnedName: NameState] = [:]
    /// Last successes of names that nothing follows at present, as far as they were followed in this run.
    private var successes: [OwnedName: BootInstant] = [:]

    package static let successesMax = 4096

    /// How many names are followed, and of how many others the last success is kept.
    var counts: (followed: Int, remembered: Int) { (states.count, successes.count) }

    func follows(_ name: OwnedName) -> Bool { states[name] != nil }

    /// The task that has a name: the newest, since those before it are being stopped in its favour, or are the last that
    /// it waits for.
    func uniqueTask(_ name: OwnedName) -> TaskID? { states[name]?.uniques.last }

    /// All that were submitted as unique and have not ended, the newest last.
    func uniqueTasks(_ name: OwnedName) -> [TaskID] { states[name]?.uniques ?? [] }

    /// In how many queues tasks of a name wait, or will, with one more that goes to this one.
    func queueCount(with key: NameQueueKey) -> Int {
        guard let queues = states[key.name]?.queues else { return 1 }
        return queues.contains { $0.key == key } ? queues.count : queues.count + 1
    }

    /// Follows a name for one more task.
    ///
    /// - Parameters:
    ///   - unique: that task, where it is the only one of its name from now on.
    ///   - live: for each task of the name that has a slot, whether it is unique; for the first call.
    mutating func follow(_ key: NameQueueKey, unique: TaskID?, live: [Bool]) {
        var state =
            states.removeValue(forKey: key.name)
            ?? NameState(
                liveCount: live.count, uniqueLiveCount: live.count { $0 },
                lastSuccess: successes.removeValue(forKey: key.name))
        if let unique { state.uniques.append(unique) }
        state.add(key)
        states[key.name] = state
    }

    mutating func unfollow(_ key: NameQueueKey, unique: TaskID?) {
        guard var state = states.removeValue(forKey: key.name) else { return }
        if let unique { state.uniques.removeAll { $0 == unique } }
        state.remove(key)
        guard state.queues.isEmpty else { return states[key.name] = state }
        guard let lastSuccess = state.lastSuccess else { return }
        // The disk knows of them too, by the time of day.
        if successes.count >= NameRules.successesMax { successes = [:] }
        successes[key.name] = lastSuccess
    }

    /// A task that waits by one rule waits by another one of the same name from now on.
    mutating func move(from old: NameQueueKey, to new: NameQueueKey) {
        states[old.name]?.move(from: old, to: new)
    }

    /// A task of that name has completed, now or before.
    ///
    /// - Returns: the queues whose first may be held back otherwise than before.
    mutating func succeeded(_ name: OwnedName, at boot: BootInstant) -> [NameQueueKey] {
        guard let state = states[name] else {
            if let known = successes[name] { successes[name] = max(known, boot) }
            return []
        }
        states[name]?.lastSuccess = max(state.lastSuccess ?? boot, boot)
        return state.queues.map(\.key)
    }

    /// The disk knows when a task of a name that is followed last completed. It knows that by the time of
    /// day, which may have been set since: what has been seen in this run is believed rather.
    mutating func recall(_ name: OwnedName, succeededAt boot: BootInstant) -> [NameQueueKey] {
        guard states[name]?.lastSuccess == nil else { return [] }
        return succeeded(name, at: boot)
    }

    /// A task has taken a slot, or has given it back.
    ///
    /// - Returns: the queues whose first may be held back otherwise than before.
    mutating func countLive(
        _ task: BackgroundTask, isUnique: Bool, _ change: Int
    ) -> [NameQueueKey] {
        guard !states.isEmpty else { return [] }
        let name = OwnedName(task)
        guard let state = states[name] else { return [] }
        states[name]?.liveCount += change
        if isUnique { states[name]?.uniqueLiveCount += change }
        return state.queues.map(\.key)
    }

    /// What holds the tasks of a queue back by their name.
    func reason(for key: NameQueueKey, at clock: BootInstant) -> PendingReason? {
        guard let state = states[key.name] else { return nil }
        if key.isUnique, state.uniqueLiveCount > 0 { return .replaced }
        guard let interval = key.interval else { return nil }
        if state.liveCount > 0 { return .sameName(interval) }
        guard let lastSuccess = state.lastSuccess, lastSuccess + interval > clock
        else { return nil }
        return .minimumInterval(interval, until: lastSuccess + interval)
    }
}
