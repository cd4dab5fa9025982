internal import Containers

// Names that keep an interval or are unique: their tasks wait in lines.

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

/// Tasks in one line are held back by the same rules: only the first of them has to be looked at.
struct LineKey: Hashable, Sendable {
    let name: OwnedName
    let interval: Duration?
    let isUnique: Bool
    let gate: TaskQueue.Gate

    /// `nil`: such a task waits in no line.
    init?(_ name: OwnedName, _ queueing: Queueing) {
        guard queueing.isByName else { return nil }
        self.name = name
        interval = queueing.minimumInterval
        isUnique = queueing.unique != nil
        gate = TaskQueue.Gate(queueing)
    }
}

extension Queueing {
    /// Whether other tasks of its name can hold it back.
    var isByName: Bool { minimumInterval != nil || unique != nil }
}

/// The tasks that wait in one line.
struct Line: Sendable {
    var members = SlotHeaps<TaskQueue.Rank>.Heap()
    /// The first of them, where it waits for the interval or stands behind its gate.
    var first: Int?
}

/// What is known of a name for as long as a task that is held back by name has not ended.
struct NameUse: Sendable {
    /// Tasks of that name that have a slot, those without such a rule included.
    var liveCount = 0
    /// Of these, those that were submitted as unique.
    var uniqueLiveCount = 0
    var lastSuccess: BootInstant?
    /// Tasks that were submitted as unique and have not ended, the newest last.
    var uniques: [TaskID] = []
    /// The lines in which its tasks that have not ended wait, or will.
    var lines: [LineUse] = []
}

struct LineUse: Sendable {
    let key: LineKey
    /// Tasks that have not ended.
    var count = 0
}

extension TaskQueue {
    func isTracked(_ name: OwnedName) -> Bool { names[name] != nil }

    /// Follows a name for one more task.
    ///
    /// - Parameters:
    ///   - unique: that task, where it is the only one of its name from now on.
    ///   - live: for each task of the name that has a slot, whether it is unique; for the first call.
    mutating func track(_ key: LineKey, unique: TaskID?, live: [Bool]) {
        var use =
            names[key.name]
            ?? NameUse(
                liveCount: live.count, uniqueLiveCount: live.count { $0 },
                lastSuccess: successes.removeValue(forKey: key.name))
        names[key.name] = nil
        if let unique { use.uniques.append(unique) }
        if let index = use.lines.firstIndex(where: { $0.key == key }) {
            use.lines[index].count += 1
        } else {
            use.lines.append(LineUse(key: key, count: 1))
        }
        names[key.name] = use
    }

    mutating func untrack(_ key: LineKey, unique: TaskID?) {
        guard var use = names.removeValue(forKey: key.name) else { return }
        if let unique { use.uniques.removeAll { $0 == unique } }
        if let index = use.lines.firstIndex(where: { $0.key == key }) {
            use.lines[index].count -= 1
            if use.lines[index].count == 0 { use.lines.remove(at: index) }
        }
        guard use.lines.isEmpty else { return names[key.name] = use }
        guard let lastSuccess = use.lastSuccess else { return }
        // The disk knows of them too, by the time of day.
        if successes.count >= TaskQueue.successesMax { successes = [:] }
        successes[key.name] = lastSuccess
    }

    /// In how many lines tasks of a name wait, or will, with one more that goes to this line.
    func lineCount(with key: LineKey) -> Int {
        guard let lines = names[key.name]?.lines else { return 1 }
        return lines.contains { $0.key == key } ? lines.count : lines.count + 1
    }

    /// A task of that name has completed, now or before.
    mutating func succeeded(_ name: OwnedName, at boot: BootInstant) {
        guard let use = names[name] else {
            if let known = successes[name] { successes[name] = max(known, boot) }
            return
        }
        names[name]?.lastSuccess = max(use.lastSuccess ?? boot, boot)
        refresh(name)
    }

    /// The disk knows when a task of a name that is followed last completed. It knows that by the time of
    /// day, which may have been set since: what has been seen in this run is believed rather.
    mutating func recall(_ name: OwnedName, succeededAt boot: BootInstant) {
        guard names[name]?.lastSuccess == nil else { return }
        succeeded(name, at: boot)
    }

    mutating func countLive(_ task: BackgroundTask, isUnique: Bool, _ change: Int) {
        guard !names.isEmpty else { return }
        let name = OwnedName(task)
        guard names[name] != nil else { return }
        names[name]?.liveCount += change
        if isUnique { names[name]?.uniqueLiveCount += change }
        refresh(name)
    }

    /// What holds the tasks of a line back now.
    func hold(on line: LineKey) -> Hold? {
        guard let use = names[line.name] else { return nil }
        if line.isUnique, use.uniqueLiveCount > 0 { return .replaced }
        guard let interval = line.interval else { return nil }
        if use.liveCount > 0 { return .sameName(interval) }
        guard let lastSuccess = use.lastSuccess, lastSuccess + interval > clock else { return nil }
        return .minimumInterval(interval, until: lastSuccess + interval)
    }

    mutating func enter(_ key: LineKey, _ slot: Int, _ rank: Rank) {
        if lines[key]?.first == slot { return refresh(key) }
        entries[slot]?.isInLine = true
        lineHeaps.add(slot, rank, to: &lines[key, default: Line()].members)
        if lines[key]?.members.first?.slot == slot { refresh(key) }
    }

    mutating func leave(_ key: LineKey, _ slot: Int) {
        guard entries[slot]?.isInLine == true else { return }
        lineHeaps.remove(slot, from: &lines[key, default: Line()].members)
        guard lines[key]?.first == slot else { return }
        lines[key]?.first = nil
        guard lines[key]?.members.isEmpty == true else { return refresh(key) }
        lines[key] = nil
    }

    private mutating func refresh(_ name: OwnedName) {
        for line in names[name]?.lines ?? [] { refresh(line.key) }
    }

    /// Puts the first of a line where it belongs now.
    private mutating func refresh(_ key: LineKey) {
        if let first = lines[key]?.first { withdraw(first) }
        guard let first = lines[key]?.members.first?.slot else { return }
        lines[key]?.first = first
        guard let hold = hold(on: key) else { return stand(first) }
        if let until = hold.until { wait(first, until: until) }
    }
}
