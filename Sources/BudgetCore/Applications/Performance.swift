/// A task that an application does itself, for which it is woken where it has to be.
struct Performance: Equatable, Sendable {
    let task: TaskID
    /// The task's name, by which the application knows what to do.
    let identifier: String
    /// When the task is to be stopped; `never`: no limit.
    fileprivate(set) var until: Instant
    /// The delivery that the application was told by; `nil` before it is awake.
    var delivery: UInt64?
    /// Whether the task's handler has fired.
    fileprivate(set) var isExpiring = false
}

/// What an application has to do with a task that it performs.
enum PerformanceNews: Equatable, Sendable {
    /// It was told.
    case told
    /// It could not be told, and will not be; the text says why.
    case notStarted(String)
    /// It says that it is done, and whether that was a success.
    case done(isSuccess: Bool)
    /// It is gone.
    case lost
}

/// The tasks that an application performs, or will perform when it is awake, in the order in which they came.
package struct Performances: Sendable {
    private var entries: [Performance] = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// When the last of them is stopped.
    var until: Instant? { entries.map(\.until).max() }
    package var tasks: [TaskID] { entries.map(\.task) }

    /// Those that the application was told of.
    var told: [Performance] { entries.filter { $0.delivery != nil } }

    mutating func add(_ performance: Performance) { entries.append(performance) }

    /// The first that the application was not told of.
    var firstUntold: Performance? { entries.first { $0.delivery == nil } }

    /// The application is told of a task.
    ///
    /// - Returns: the performance as it is then.
    mutating func told(_ task: TaskID, by delivery: UInt64) -> Performance? {
        guard let index = index(of: task) else { return nil }
        entries[index].delivery = delivery
        return entries[index]
    }

    /// The handler of a task has fired, and until then it has to be done.
    ///
    /// - Returns: the performance as it is then.
    mutating func expired(_ task: TaskID, until: Instant) -> Performance? {
        guard let index = index(of: task) else { return nil }
        (entries[index].isExpiring, entries[index].until) = (true, until)
        return entries[index]
    }

    /// A task has more time than it had.
    mutating func extended(_ task: TaskID, until: Instant) {
        guard let index = index(of: task) else { return }
        (entries[index].isExpiring, entries[index].until) = (false, until)
    }

    mutating func remove(_ task: TaskID) -> Performance? {
        index(of: task).map { entries.remove(at: $0) }
    }

    mutating func remove(delivery: UInt64) -> Performance? {
        entries.firstIndex { $0.delivery == delivery }.map { entries.remove(at: $0) }
    }

    mutating func takeUntold() -> [Performance] {
        let untold = entries.filter { $0.delivery == nil }
        entries.removeAll { $0.delivery == nil }
        return untold
    }

    mutating func takeTold() -> [Performance] {
        let told = told
        entries.removeAll { $0.delivery != nil }
        return told
    }

    private func index(of task: TaskID) -> Int? { entries.firstIndex { $0.task == task } }
}
