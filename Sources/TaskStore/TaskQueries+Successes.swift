internal import BudgetCore

extension TaskQueries {
    /// When a task of this owner and name last completed; `nil` where none is known.
    func lastSuccess(owner: OwnerID, name: String) throws(StoreError) -> WallTime? {
        if let kept = try time(Self.keptSuccess, owner, name) { return kept }
        return try time(Self.lastCompleted, owner, name)
    }

    /// The same for each of these tasks that has a minimum interval; none is known: no entry.
    func lastSuccesses(of tasks: [StoredTask]) throws(StoreError) -> [TaskID: WallTime] {
        struct Key: Hashable {
            let owner: OwnerID
            let name: String
        }
        var asked: [Key: WallTime?] = [:]
        var successes: [TaskID: WallTime] = [:]
        for task in tasks where task.queueing.minimumInterval != nil {
            let key = Key(owner: task.owner, name: task.name)
            if asked[key] == nil {
                let found = try lastSuccess(owner: task.owner, name: task.name)
                asked.updateValue(found, forKey: key)
            }
            successes[task.id] = asked[key] ?? nil
        }
        return successes
    }

    static let keptSuccess = "SELECT ended_at_us FROM last_successes WHERE owner = ? AND name = ?"

    static let lastCompleted =
        "SELECT ended_at_us FROM tasks INDEXED BY tasks_completed "
        + "WHERE owner = ? AND name = ? AND outcome = 0 ORDER BY ended_at_us DESC LIMIT 1"

    private func time(
        _ sql: String, _ owner: OwnerID, _ name: String
    ) throws(StoreError) -> WallTime? {
        let statement = try connection.statement(sql, "read")
        defer { statement.reset() }
        try statement.bind(Int64(owner.rawValue))
        try statement.bind(name)
        guard try statement.step() else { return nil }
        return statement.integer(0).map(WallTime.init(microseconds:))
    }

    /// The groups that are paused, in the order of their names.
    func pausedGroups() throws(StoreError) -> [String] {
        let statement = try connection.statement(
            "SELECT name FROM paused_groups ORDER BY name", "read")
        defer { statement.reset() }
        var groups: [String] = []
        while try statement.step() { groups.append(statement.text(0) ?? "") }
        return groups
    }
}
