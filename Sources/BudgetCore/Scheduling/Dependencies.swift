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
/// Each waits for tasks that were submitted before it, so that none waits for itself over others.
struct Dependencies: Sendable {
    private struct Follower: Sendable {
        var dependencies: [Dependency]
        /// What it waits for in vain.
        var broken: BrokenDependency?

        var isWaiting: Bool { broken != nil || dependencies.contains { $0.outcome == nil } }
    }

    /// Until they have ended.
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
        followers[id] = Follower(dependencies: dependencies, broken: broken)
        for open in dependencies where open.outcome == nil {
            waiting[open.predecessor.id, default: []].append(id)
        }
    }

    /// A task does not wait any more, whatever for.
    mutating func remove(_ id: TaskID) {
        guard let follower = followers.removeValue(forKey: id) else { return }
        for open in follower.dependencies where open.outcome == nil {
            forget(id, after: open.predecessor.id)
        }
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
            guard var follower = followers[one],
                let place = follower.dependencies.firstIndex(where: { $0.predecessor.id == id })
            else { continue }
            follower.dependencies[place].outcome = outcome
            if follower.dependencies[place].isBroken, follower.broken == nil {
                follower.broken = BrokenDependency(id, outcome)
                broken.append(one)
            }
            followers[one] = follower
            if !follower.isWaiting { free.append(one) }
        }
        return (free, broken)
    }
}
