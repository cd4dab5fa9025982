internal import Containers

/// A task did not end as another one needs it that was to come after it.
package struct BrokenDependency: Equatable, Sendable {
    package let id: TaskID
    /// How it ended; `nil` where that is not known any more.
    package let outcome: Outcome?

    package init(_ id: TaskID, _ outcome: Outcome?) {
        self.id = id
        self.outcome = outcome
    }
}

/// A task that another one comes after, and how it ended.
package struct Dependency: Equatable, Sendable {
    package let predecessor: Predecessor
    /// `nil` where it has not ended.
    package internal(set) var outcome: Outcome?

    package init(_ predecessor: Predecessor, _ outcome: Outcome? = nil) {
        self.predecessor = predecessor
        self.outcome = outcome
    }

    /// Whether it ended as it was not to.
    var isBroken: Bool {
        guard let outcome else { return false }
        return outcome != .completed && !predecessor.anyOutcome
    }
}

/// Which tasks wait for the end of others (rule 29 in docs/architecture.md).
///
/// Each waits for tasks that were submitted before it, so that none waits for itself over others. Nothing here takes
/// longer with the number of tasks: an end is told to those that wait for it one by one, as many at a time as is asked
/// for, and a task that waits no longer leaves its place in others' lists for later.
struct Dependencies: Sendable {
    private struct Follower: Sendable {
        var dependencies: [Dependency]
        /// How many of these have not ended, as far as it was told.
        var openCount: Int
        /// What it waits for in vain.
        var broken: BrokenDependency?

        var isWaiting: Bool { broken != nil || openCount > 0 }
    }

    /// Those that wait for one task, in the order of their submissions. Some of them may wait no longer.
    private struct List: Sendable {
        struct Entry: Sendable {
            let follower: TaskID
            /// Where the task is among those that the follower comes after.
            let place: Int
        }

        var entries: [Entry] = []
        /// How many of them wait.
        var waitingCount = 0
    }

    /// A task that has ended, and whom that is still to be told.
    private struct Ending: Sendable {
        let id: TaskID
        let outcome: Outcome
        let entries: [List.Entry]
    }

    /// Until they have ended.
    private var followers: [TaskID: Follower] = [:]
    /// Who waits for a task.
    private var waiting: [TaskID: List] = [:]
    private var endings = Deque<Ending>()
    /// To how many of those that wait for it the first of these has been told.
    private var toldCount = 0

    /// How many tasks may wait for one.
    static let followersMax = 1000
    /// A list is gone through for those that wait no longer once it has twice as many entries as tasks that wait, and
    /// so many more.
    private static let leftEntriesMin = 16

    var isEmpty: Bool { followers.isEmpty && waiting.isEmpty && endings.isEmpty }

    /// Whether an end is still to be told to some that wait for it.
    var hasUntold: Bool { !endings.isEmpty }

    /// Whether one more may wait for a task.
    func hasRoom(after id: TaskID) -> Bool {
        waiting[id]?.waitingCount ?? 0 < Dependencies.followersMax
    }

    /// Whether a task waits for others, or waits in vain.
    func holdBack(_ id: TaskID) -> Bool { followers[id]?.isWaiting ?? false }

    /// What a task comes after.
    func all(of id: TaskID) -> [Dependency] { followers[id]?.dependencies ?? [] }

    /// What a task still waits for.
    func open(of id: TaskID) -> [Predecessor] {
        all(of: id).filter { $0.outcome == nil }.map(\.predecessor)
    }

    /// Why a task waits in vain; `nil` where it does not.
    func broken(of id: TaskID) -> BrokenDependency? { followers[id]?.broken }

    /// Lets a task come after others.
    mutating func add(
        _ id: TaskID, after dependencies: [Dependency], broken: BrokenDependency? = nil
    ) {
        guard !dependencies.isEmpty || broken != nil else { return }
        let openCount = dependencies.count { $0.outcome == nil }
        followers[id] = Follower(
            dependencies: dependencies, openCount: openCount, broken: broken)
        for (place, open) in dependencies.enumerated() where open.outcome == nil {
            waiting[open.predecessor.id, default: List()].entries.append(
                List.Entry(follower: id, place: place))
            waiting[open.predecessor.id]?.waitingCount += 1
        }
    }

    /// A task does not wait any more, whatever for.
    mutating func remove(_ id: TaskID) {
        guard let follower = followers.removeValue(forKey: id), follower.openCount > 0
        else { return }
        for open in follower.dependencies where open.outcome == nil {
            forgetOne(after: open.predecessor.id)
        }
    }

    /// One task less waits for another.
    private mutating func forgetOne(after predecessor: TaskID) {
        // It is not there where it has ended, and some are still to be told.
        guard let list = waiting[predecessor] else { return }
        guard list.waitingCount > 1 else { return waiting[predecessor] = nil }
        waiting[predecessor]?.waitingCount -= 1
        let leftCount = list.entries.count - list.waitingCount
        guard leftCount > list.waitingCount + Dependencies.leftEntriesMin else { return }
        let entries = list.entries.filter { followers[$0.follower] != nil }
        waiting[predecessor]?.entries = entries
    }

    /// A task has ended for good; those that wait for it are told by `tell`.
    mutating func ended(_ id: TaskID, _ outcome: Outcome) {
        guard let list = waiting.removeValue(forKey: id) else { return }
        endings.append(Ending(id: id, outcome: outcome, entries: list.entries))
    }

    /// Tells those that wait how tasks have ended, the oldest end first.
    ///
    /// - Parameter allowance: at most so many of them; what is left of it afterwards.
    /// - Returns: those that wait for nothing any more, and those that wait in vain from now on.
    mutating func tell(_ allowance: inout Int) -> (free: [TaskID], broken: [TaskID]) {
        var (free, broken): ([TaskID], [TaskID]) = ([], [])
        while allowance > 0, let ending = endings.first {
            let end = min(toldCount + allowance, ending.entries.count)
            allowance -= end - toldCount
            for entry in ending.entries[toldCount..<end] {
                switch tell(entry, ending) {
                case .waits: break
                case .isFree: free.append(entry.follower)
                case .isBroken: broken.append(entry.follower)
                }
            }
            toldCount = end
            guard toldCount == ending.entries.count else { break }
            _ = endings.popFirst()
            toldCount = 0
        }
        return (free, broken)
    }

    private enum Told {
        /// Still, or not any more for another reason.
        case waits
        case isFree
        case isBroken
    }

    private mutating func tell(_ entry: List.Entry, _ ending: Ending) -> Told {
        followers.withValue(of: entry.follower) { follower in
            follower.openCount -= 1
            follower.dependencies[entry.place].outcome = ending.outcome
            guard follower.broken == nil else { return .waits }
            guard !follower.dependencies[entry.place].isBroken else {
                follower.broken = BrokenDependency(ending.id, ending.outcome)
                return .isBroken
            }
            return follower.openCount == 0 ? .isFree : .waits
        } ?? .waits
    }
}

extension Dictionary {
    /// Changes a value where it is: a copy would copy what it holds as well.
    fileprivate mutating func withValue<Result>(
        of key: Key, _ change: (inout Value) -> Result
    ) -> Result? {
        guard let index = index(forKey: key) else { return nil }
        return change(&values[index])
    }
}
