internal import TaskAPI

/// The tasks of an answer that is one message, as far as one may go.
struct CollectedTasks {
    private static let countMax = 1000
    /// Bytes of texts.
    private static let bytesMax = 1 << 20
    /// What a task takes besides its texts, about.
    private static let taskOverhead = 512
    /// What an attempt takes besides its texts, about.
    private static let attemptOverhead = 128

    private(set) var tasks: [Tasks.Task] = []
    private(set) var isTruncated = false
    private var textBytes = 0

    /// What it holds in memory, about.
    var heldBytes: Int { textBytes + tasks.count * CollectedTasks.taskOverhead }

    /// - Returns: whether there was room for it.
    mutating func take(_ task: Tasks.Task) -> Bool {
        textBytes += task.command?.reduce(0) { $0 + $1.utf8.count } ?? 0
        textBytes += task.name.utf8.count + (task.reason?.utf8.count ?? 0)
        textBytes +=
            task.attempts?.reduce(0) { $0 + Self.attemptOverhead + ($1.reason?.utf8.count ?? 0) }
            ?? 0
        isTruncated =
            tasks.count == CollectedTasks.countMax
            || textBytes > CollectedTasks.bytesMax && !tasks.isEmpty
        if !isTruncated { tasks.append(task) }
        return !isTruncated
    }
}
