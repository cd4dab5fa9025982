internal import BudgetCore

/// The output of live tasks, and of those that have ended as far as there is room for it.
struct OutputStore {
    /// What a log costs besides its bytes.
    private static let overhead = 256

    /// Ended tasks of one owner that still have their bytes, oldest first, each with what it takes.
    private struct Kept {
        var tasks: ArraySlice<(id: TaskID, bytes: Int)> = []
        var bytes = 0
    }

    private var logs: [TaskID: OutputLog] = [:]
    private var kept: [OwnerID: Kept] = [:]
    private var keptBytes = 0

    subscript(id: TaskID) -> OutputLog? { logs[id] }

    mutating func append(
        _ bytes: ArraySlice<UInt8>, of stream: OutputStream, task: TaskID, max: Int
    ) {
        logs[task, default: OutputLog()].append(bytes, of: stream, max: max)
    }

    /// Counts a task's output among the ended ones, and makes room for it: the owner who has most loses
    /// the oldest bytes.
    mutating func taskEnded(_ id: TaskID, of owner: OwnerID, totalMax: Int) {
        guard logs[id] != nil else { return }
        logs[id]?.fit()
        let bytes = (logs[id]?.memoryBytes ?? 0) + OutputStore.overhead
        kept[owner, default: Kept()].tasks.append((id, bytes))
        kept[owner]?.bytes += bytes
        keptBytes += bytes
        while keptBytes > totalMax, let most = ownerOfMost { emptyOldest(of: most) }
    }

    /// A task that is tried again goes on with its output, as far as that is still there.
    mutating func taskGoesOn(_ id: TaskID, of owner: OwnerID) {
        // The usual task prints for the first time, and is not among those kept.
        guard logs[id] != nil else { return }
        takeOut(id, of: owner)
    }

    /// Forgets an ended task that is not known any more: mostly the oldest of its owner that is kept, and
    /// not where an older one waits for another attempt.
    mutating func forget(_ id: TaskID, of owner: OwnerID) {
        guard logs[id] != nil else { return }
        takeOut(id, of: owner)
        logs[id] = nil
    }

    private mutating func takeOut(_ id: TaskID, of owner: OwnerID) {
        guard let index = kept[owner]?.tasks.firstIndex(where: { $0.id == id }),
            let bytes = kept[owner]?.tasks[index].bytes
        else { return }
        if index == kept[owner]?.tasks.startIndex {
            kept[owner]?.tasks.removeFirst()
        } else {
            kept[owner]?.tasks.remove(at: index)
        }
        discount(bytes, of: owner)
    }

    /// The same one for the same history, whatever the order of the table.
    private var ownerOfMost: OwnerID? {
        kept.max { ($0.value.bytes, $1.key) < ($1.value.bytes, $0.key) }?.key
    }

    private mutating func emptyOldest(of owner: OwnerID) {
        guard let oldest = kept[owner]?.tasks.popFirst() else { return }
        discount(oldest.bytes, of: owner)
        logs[oldest.id]?.forget()
    }

    /// Counts a task no longer that was among those kept.
    private mutating func discount(_ bytes: Int, of owner: OwnerID) {
        kept[owner]?.bytes -= bytes
        keptBytes -= bytes
        if kept[owner]?.tasks.isEmpty == true { kept[owner] = nil }
    }
}
