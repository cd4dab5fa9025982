internal import BudgetCore

/// What can be asked about the last successes, from which minimum intervals run; each question runs while its
/// caller holds the connection.
package struct SuccessQueries {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// When a task of this owner and name last completed; `nil` where none is known.
    func lastSuccess(owner: OwnerID, name: String) throws(StoreError) -> WallTime? {
        try found(owner: owner, name: name)?.time
    }

    /// The same, with whether it is among the successes that are kept, or in the history alone.
    func found(
        owner: OwnerID, name: String
    ) throws(StoreError) -> (time: WallTime, isKept: Bool)? {
        if let kept = try time(Self.keptSuccess, owner, name) { return (kept, true) }
        return try time(Self.lastCompleted, owner, name).map { ($0, false) }
    }

    /// What the next successes take in the order of the table, by their owners.
    ///
    /// - Returns: with the last of them; `nil` where there are no more.
    func bytes(
        after success: KeptSuccess?, rowsMax: Int
    ) throws(StoreError) -> (bytes: [OwnerID: Int], last: KeptSuccess?) {
        let statement = try connection.statement(Self.successesBehind, "read")
        try statement.bind(success.map { Int64($0.owner.rawValue) } ?? -1)
        try statement.bind(success?.name ?? "")
        try statement.bind(Int64(rowsMax))
        let found = try rows(of: statement, bytesMax: .max)
        var bytes: [OwnerID: Int] = [:]
        for success in found { bytes[success.owner, default: 0] += success.bytes }
        return (bytes, found.count < rowsMax ? nil : found.last)
    }

    /// Successes whose interval is over: they hold nothing back any more.
    func over(at now: WallTime, rowsMax: Int) throws(StoreError) -> [KeptSuccess] {
        let statement = try connection.statement(Self.successesOver, "prune")
        try statement.bind(now.microseconds)
        try statement.bind(Int64(rowsMax))
        return try rows(of: statement, bytesMax: .max)
    }

    /// The oldest successes of an owner behind some of them, until what they take is enough.
    func oldest(
        of owner: OwnerID, behind count: Int, rowsMax: Int, bytesMax: Int
    ) throws(StoreError) -> [KeptSuccess] {
        let statement = try connection.statement(Self.oldestSuccesses, "prune")
        try statement.bind(Int64(owner.rawValue))
        try statement.bind(Int64(rowsMax))
        try statement.bind(Int64(count))
        return try rows(of: statement, bytesMax: bytesMax)
    }

    private func rows(
        of statement: Statement, bytesMax: Int
    ) throws(StoreError) -> [KeptSuccess] {
        defer { statement.reset() }
        var successes: [KeptSuccess] = []
        var bytes = 0
        while bytes < bytesMax, try statement.step() {
            let success = KeptSuccess(statement)
            successes.append(success)
            bytes += success.bytes
        }
        return successes
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

    package static let keptSuccess =
        "SELECT ended_at_us FROM last_successes WHERE owner = ? AND name = ?"

    package static let successesBehind =
        "SELECT owner, name FROM last_successes WHERE (owner, name) > (?, ?) "
        + "ORDER BY owner, name LIMIT ?"

    package static let successesOver =
        "SELECT owner, name FROM last_successes "
        + "WHERE ended_at_us + minimum_interval_ms * 1000 <= ? LIMIT ?"

    package static let oldestSuccesses =
        "SELECT owner, name FROM last_successes INDEXED BY last_successes_oldest "
        + "WHERE owner = ? ORDER BY ended_at_us, name LIMIT ? OFFSET ?"

    package static let lastCompleted =
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
}
