internal import BudgetCore
internal import TaskStore

/// The output of live tasks, and of those that have ended as far as there is room for it.
struct OutputStore {
    /// What a log costs besides its bytes.
    private static let overhead = 256

    private struct Entry {
        var log = OutputLog()
        /// The account among whose ended tasks it is; `nil` where it is not among them.
        var account: OwnerID?
    }

    /// Ended tasks of one account that still have their bytes, oldest first, each with what it takes.
    private struct Kept {
        var tasks: ArraySlice<(id: TaskID, bytes: Int)> = []
        var bytes = 0
    }

    private var entries: [TaskID: Entry] = [:]
    private var kept: [OwnerID: Kept] = [:]
    /// What the output of ended tasks takes.
    private(set) var keptBytes = 0

    subscript(id: TaskID) -> OutputLog? { entries[id]?.log }

    /// The tasks of which something is known.
    var tasks: some Collection<TaskID> { entries.keys }

    /// Takes what an earlier daemon had of a task's output, as its beginning.
    mutating func restore(_ id: TaskID, _ log: OutputLog) { entries[id] = Entry(log: log) }

    mutating func append(
        _ bytes: ArraySlice<UInt8>, of stream: OutputStream, task: TaskID, at time: WallTime,
        max: Int
    ) {
        entries[task, default: Entry()].log.append(bytes, of: stream, at: time, max: max)
    }

    /// Counts a task's output among the ended ones, and makes room for it: the account that has most loses
    /// the oldest bytes.
    mutating func taskEnded(_ id: TaskID, account: OwnerID, totalMax: Int) {
        // One that has printed nothing takes no room from others.
        guard let entry = entries[id], entry.log.end > 0, entry.account == nil else { return }
        entries[id]?.log.fit()
        entries[id]?.account = account
        let bytes = (entries[id]?.log.memoryBytes ?? 0) + OutputStore.overhead
        kept[account, default: Kept()].tasks.append((id, bytes))
        kept[account]?.bytes += bytes
        keptBytes += bytes
        while keptBytes > totalMax, let most = accountOfMost { emptyOldest(of: most) }
    }

    /// A task has ended for good: from now on it is known what it printed, also where that is nothing.
    ///
    /// - Returns: what is kept of it.
    mutating func endIsKnown(_ id: TaskID) -> OutputLog {
        let log = entries[id]?.log ?? OutputLog()
        if entries[id] == nil { entries[id] = Entry() }
        return log
    }

    /// A task that is tried again goes on with its output, as far as that is still there.
    mutating func taskGoesOn(_ id: TaskID) {
        // The usual task prints for the first time, and is not among those kept.
        takeOut(id)
    }

    /// Forgets an ended task that is not known any more: mostly the oldest of its account that is kept, and
    /// not where an older one waits for another attempt.
    mutating func forget(_ id: TaskID) {
        takeOut(id)
        entries[id] = nil
    }

    private mutating func takeOut(_ id: TaskID) {
        guard let account = entries[id]?.account,
            let index = kept[account]?.tasks.firstIndex(where: { $0.id == id }),
            let bytes = kept[account]?.tasks[index].bytes
        else { return }
        if index == kept[account]?.tasks.startIndex {
            kept[account]?.tasks.removeFirst()
        } else {
            kept[account]?.tasks.remove(at: index)
        }
        entries[id]?.account = nil
        discount(bytes, of: account)
    }

    /// The same one for the same history, whatever the order of the table.
    private var accountOfMost: OwnerID? {
        kept.max { ($0.value.bytes, $1.key) < ($1.value.bytes, $0.key) }?.key
    }

    private mutating func emptyOldest(of account: OwnerID) {
        guard let oldest = kept[account]?.tasks.popFirst() else { return }
        discount(oldest.bytes, of: account)
        entries[oldest.id]?.account = nil
        entries[oldest.id]?.log.forget()
    }

    /// Counts a task no longer that was among those kept.
    private mutating func discount(_ bytes: Int, of account: OwnerID) {
        kept[account]?.bytes -= bytes
        keptBytes -= bytes
        if kept[account]?.tasks.isEmpty == true { kept[account] = nil }
    }
}
