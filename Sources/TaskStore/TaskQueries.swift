internal import BudgetCore

/// What can be asked of a database; each runs while its caller holds the connection.
struct TaskQueries {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    private static let columns = ColumnNames.ofTask.joined(separator: ", ")

    /// Queued and started tasks in the order of their ids, with their attempts.
    func live() throws(StoreError) -> [StoredTask] {
        try withAttempts(
            tasks(
                "SELECT \(Self.columns) FROM tasks INDEXED BY tasks_live "
                    + "WHERE ended_at_us IS NULL ORDER BY id"))
    }

    /// A task with its attempts, where it is this owner's; `nil`: whosever it is.
    func task(_ id: TaskID, of owner: OwnerID?) throws(StoreError) -> StoredTask? {
        let sql = "SELECT \(Self.columns) FROM tasks WHERE id = ?"
        let number = SQLValue.number(Int64(clamping: id.rawValue))
        guard let owner else { return try withAttempts(tasks(sql, [number])).first }
        return try withAttempts(
            tasks(sql + " AND owner = ?", [number, .number(Int64(owner.rawValue))])
        ).first
    }

    func isThere(_ id: TaskID) throws(StoreError) -> Bool {
        let statement = try connection.statement("SELECT 1 FROM tasks WHERE id = ?", "read")
        defer { statement.reset() }
        try statement.bind(Int64(clamping: id.rawValue))
        return try statement.step()
    }

    /// - Parameter newestMax: how many of each task's attempts, the newest; `nil`: all.
    private func withAttempts(
        _ tasks: [StoredTask], newestMax: Int? = nil
    ) throws(StoreError) -> [StoredTask] {
        var tasks = tasks
        for index in tasks.indices where tasks[index].attempt > 1 {
            let task = tasks[index]
            // A reader may see attempts that have ended since it read the task.
            tasks[index].attempts = try attempts(of: task.id, newestMax: newestMax).filter {
                $0.attempt < task.attempt
            }
        }
        return tasks
    }

    /// The attempts after which a task was queued again, from the first.
    ///
    /// - Parameter newestMax: how many, the newest; `nil`: all.
    func attempts(
        of id: TaskID, newestMax: Int? = nil
    ) throws(StoreError) -> [StoredAttempt] {
        let sql =
            "SELECT attempt, started_at_us, \(ColumnNames.ofEnd.joined(separator: ", ")) "
            + "FROM attempts WHERE task = ? ORDER BY attempt DESC LIMIT ?"
        let statement = try connection.statement(sql, "read")
        defer { statement.reset() }
        try statement.bind(Int64(clamping: id.rawValue))
        try statement.bind(newestMax.map { Int64($0) } ?? -1)
        let check = RowCheck(path: connection.path, subject: "an attempt of task \(id)")
        var attempts: [StoredAttempt] = []
        while try statement.step() {
            var reader = ColumnReader(statement: statement, path: connection.path, next: 2)
            var row = EndRow()
            try row.visit(&reader)
            attempts.append(
                StoredAttempt(
                    attempt: Int(statement.integer(0) ?? 0),
                    startedAt: statement.integer(1).map(WallTime.init(microseconds:)),
                    end: try check.known(row.end(check), "ended_at_us")))
        }
        return attempts.reversed()
    }

    /// A page of the ended tasks that the filter lets through, newest end first.
    ///
    /// Of several outcomes each is asked for on its own and the answers are merged, for an index has the
    /// ends of one outcome in their order, and not those of two.
    func history(
        _ filter: HistoryFilter, after cursor: HistoryCursor?, countMax: Int
    ) throws(StoreError) -> HistoryPage {
        guard countMax > 0 else { return HistoryPage(tasks: [], next: cursor) }
        guard filter.withAttempts else {
            return try page(filter, after: cursor, countMax: countMax)
        }
        // All of one moment: else a prune between would leave a task without its attempts.
        return try connection.snapshot { () throws(StoreError) in
            var page = try page(filter, after: cursor, countMax: countMax)
            page.tasks = try withAttempts(page.tasks, newestMax: EndedAttempt.keptMax)
            return page
        }
    }

    private func page(
        _ filter: HistoryFilter, after cursor: HistoryCursor?, countMax: Int
    ) throws(StoreError) -> HistoryPage {
        let outcomes = filter.outcomes.sorted { $0.code < $1.code }
        var found: [StoredTask] = []
        for outcome in outcomes.isEmpty ? [nil] : outcomes.map(Optional.some) {
            let query = HistoryQuery(filter, outcome, after: cursor)
            found += try tasks(
                query.sql,
                query.parameters + [.number(Int64(countMax) + 1)])
        }
        if outcomes.count > 1 {
            found.sort {
                ($0.end?.at.microseconds ?? 0, $0.id) > ($1.end?.at.microseconds ?? 0, $1.id)
            }
        }
        let tasks = Array(found.prefix(countMax))
        guard found.count > countMax, let last = tasks.last, let end = last.end else {
            return HistoryPage(tasks: tasks, next: nil)
        }
        return HistoryPage(tasks: tasks, next: HistoryCursor(endedAt: end.at, id: last.id))
    }

    func endedCount() throws(StoreError) -> Int {
        Int(
            try connection.number(
                "SELECT count(*) FROM tasks INDEXED BY tasks_ended "
                    + "WHERE ended_at_us IS NOT NULL", "read"))
    }

    /// How many ended tasks each owner has; the index alone is read.
    func endedCounts() throws(StoreError) -> [OwnerID: Int] {
        let statement = try connection.statement(
            "SELECT owner, count(*) FROM tasks INDEXED BY tasks_ended_owner "
                + "WHERE ended_at_us IS NOT NULL GROUP BY owner", "read")
        defer { statement.reset() }
        var counts: [OwnerID: Int] = [:]
        while try statement.step() {
            let owner = OwnerID(rawValue: UInt32(clamping: statement.integer(0) ?? 0))
            counts[owner, default: 0] += Int(clamping: statement.integer(1) ?? 0)
        }
        return counts
    }

    /// What an ended task takes.
    func keptRow(_ id: Int64) throws(StoreError) -> KeptRow? {
        let statement = try connection.statement(
            "SELECT \(SQL.keptRow) FROM tasks WHERE id = ? AND ended_at_us IS NOT NULL", "read")
        try statement.bind(id)
        return try KeptRow.only(of: statement)
    }

    /// What the next ended tasks take in the order of their ids, by their owners.
    ///
    /// - Returns: with the last of these ids; `nil` where there are no more.
    func keptBytes(
        after id: Int64, rowsMax: Int
    ) throws(StoreError) -> (bytes: [OwnerID: Int], last: Int64?) {
        let statement = try connection.statement(
            "SELECT \(SQL.keptRow), ended_at_us IS NULL FROM tasks WHERE id > ? ORDER BY id LIMIT ?",
            "read")
        defer { statement.reset() }
        try statement.bind(id)
        try statement.bind(Int64(rowsMax))
        var bytes: [OwnerID: Int] = [:]
        var (last, count) = (id, 0)
        while try statement.step() {
            let row = KeptRow(statement)
            (last, count) = (row.id, count + 1)
            if statement.integer(3) == 0 { bytes[row.owner, default: 0] += row.bytes }
        }
        return (bytes, count < rowsMax ? nil : last)
    }

    /// The tasks that a statement answers with, whose columns are those of a row.
    func tasks(
        _ sql: String, _ parameters: [SQLValue] = []
    ) throws(StoreError) -> [StoredTask] {
        try connection.rows(sql, parameters) { reader throws(StoreError) in
            var row = TaskRow()
            try row.visit(&reader)
            return try row.task(connection.path)
        }
    }

    /// The number of the state folder.
    func identity() throws(StoreError) -> StateFolderIdentity {
        let statement = try connection.statement("SELECT number FROM folder_identity", "read")
        defer { statement.reset() }
        let check = RowCheck(path: connection.path, subject: "the folder's identity")
        let text = try statement.step() ? statement.text(0) ?? "" : ""
        let halves = try check.known(NumberText.halves(text), "number")
        return try check.known(
            StateFolderIdentity(high: halves.high, low: halves.low), "number")
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

    /// The owners whose tasks are paused, in the order of their uids.
    func pausedOwners() throws(StoreError) -> [OwnerID] {
        let statement = try connection.statement(
            "SELECT owner FROM paused_owners ORDER BY owner", "read")
        defer { statement.reset() }
        var owners: [OwnerID] = []
        while try statement.step() {
            owners.append(OwnerID(rawValue: UInt32(clamping: statement.integer(0) ?? 0)))
        }
        return owners
    }

    /// How many slots there are by order.
    func slotOrders() throws(StoreError) -> SlotOrders {
        let statement = try connection.statement(
            "SELECT group_name, slots FROM slot_orders", "read")
        defer { statement.reset() }
        var orders: [String?: Int] = [:]
        while try statement.step() {
            let group = statement.text(0) ?? ""
            orders[group.isEmpty ? nil : group] = Int(clamping: statement.integer(1) ?? 1)
        }
        return SlotOrders(orders)
    }

    /// What tasks that have not ended come after, in the order of the predecessors' ids.
    func dependencies() throws(StoreError) -> [TaskID: [Dependency]] {
        let statement = try connection.statement(
            "SELECT task, predecessor, any_outcome, outcome FROM dependencies "
                + "ORDER BY predecessor, task", "read")
        defer { statement.reset() }
        let check = RowCheck(path: connection.path, subject: "a dependency")
        var found: [TaskID: [Dependency]] = [:]
        while try statement.step() {
            let task = TaskID(rawValue: UInt64(clamping: statement.integer(0) ?? 0))
            let predecessor = Predecessor(
                TaskID(rawValue: UInt64(clamping: statement.integer(1) ?? 0)),
                anyOutcome: statement.integer(2) != 0)
            let code = statement.integer(3)
            let outcome = try code.map { code throws(StoreError) in
                try check.known(Outcome(code: code), "outcome")
            }
            found[task, default: []].append(Dependency(predecessor, outcome))
        }
        return found
    }

    /// All applications, in the order of their owners and of their ids.
    func applications() throws(StoreError) -> [StoredApplication] {
        try connection.rows(Self.allApplications, []) { reader throws(StoreError) in
            var row = ApplicationRow()
            try row.visit(&reader)
            return try row.application(connection.path)
        }
    }

    /// The primary key has them in this order.
    static let allApplications =
        "SELECT \(ColumnNames.ofApplication.joined(separator: ", ")) FROM applications "
        + "ORDER BY owner, id"
}
