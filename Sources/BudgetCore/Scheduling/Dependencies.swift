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

/// Which tasks wait for the end of others (rule 29 in docs/architecture.md).
///
/// Each waits for tasks that were submitted before it, so that none waits for itself over others.
struct Dependencies: Sendable {
    private struct Follower: Sendable {
        /// What it still waits for.
        var open: [Predecessor]
        /// What it waits for in vain.
        var broken: BrokenDependency?
    }

    private var followers: [TaskID: Follower] = [:]
    /// Who waits for a task, in the order of their submissions.
    private var waiting: [TaskID: [TaskID]] = [:]

    /// How many tasks may wait for one.
    static let followersMax = 1000

    var isEmpty: Bool { followers.isEmpty && waiting.isEmpty }

    /// Whether one more may wait for a task.
    func hasRoom(after id: TaskID) -> Bool {
        waiting[id]?.count ?? 0 < Dependencies.followersMax
    }

    /// Whether a task waits for others, or waits in vain.
    func holdBack(_ id: TaskID) -> Bool { followers[id] != nil }

    /// What a task still waits for.
    func open(of id: TaskID) -> [Predecessor] { followers[id]?.open ?? [] }

    /// Why a task waits in vain; `nil` where it does not.
    func broken(of id: TaskID) -> BrokenDependency? { followers[id]?.broken }

    /// Lets a task wait for others that have not ended.
    mutating func add(
        _ id: TaskID, after open: [Predecessor], broken: BrokenDependency? = nil
    ) {
        guard !open.isEmpty || broken != nil else { return }
        followers[id] = Follower(open: open, broken: broken)
        for predecessor in open { waiting[predecessor.id, default: []].append(id) }
    }

    /// A task does not wait any more, whatever for.
    mutating func remove(_ id: TaskID) {
        guard let follower = followers.removeValue(forKey: id) else { return }
        for predecessor in follower.open { forget(id, after: predecessor.id) }
    }

    private mutating func forget(_ id: TaskID, after predecessor: TaskID) {
        waiting[predecessor]?.removeAll { $0 == id }
        if waiting[predecessor]?.isEmpty == true { waiting[predecessor] = nil }
    }

    /// A task has ended for good.
    ///
    /// - Returns: those that wait for nothing any more, and those that wait in vain from now on.
    mutating func ended(_ id: TaskID, _ outcome: Outcome) -> (free: [TaskID], broken: [TaskID]) {
        var (free, broken): ([TaskID], [TaskID]) = ([], [])
        for one in waiting.removeValue(forKey: id) ?? [] {
            guard var follower = followers[one] else { continue }
            let isMet = follower.open.allSatisfy {
                $0.id != id || $0.anyOutcome || outcome == .completed
            }
            follower.open.removeAll { $0.id == id }
            if !isMet, follower.broken == nil {
                follower.broken = BrokenDependency(id, outcome)
                broken.append(one)
            }
            let isFree = follower.open.isEmpty && follower.broken == nil
            followers[one] = isFree ? nil : follower
            if isFree { free.append(one) }
        }
        return (free, broken)
    }
}
