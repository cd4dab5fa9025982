internal import BudgetCore

extension TaskQueries {
    /// A page of the ended tasks that the filter lets through, newest end first.
    ///
    /// Of several outcomes each is asked for on its own and the answers are merged, for an index has the
    /// ends of one outcome in their order, and not those of two.
    func history(
        _ filter: HistoryFilter, after cursor: HistoryCursor?, countMax: Int
    ) throws(StoreError) -> HistoryPage {
        guard countMax > 0 else { return HistoryPage(tasks: [], next: cursor) }
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
}

/// The statement that answers a filter for one outcome, or for all.
struct HistoryQuery {
    private(set) var parameters: [SQLValue] = []
    private var conditions = ["ended_at_us IS NOT NULL"]
    private let index: String

    init(_ filter: HistoryFilter, _ outcome: Outcome?, after cursor: HistoryCursor?) {
        index = HistoryQuery.index(filter, outcome)
        if let name = filter.name { add("name = ?", .text(name)) }
        if let application = filter.application { add("application = ?", .text(application)) }
        if let group = filter.group { add("group_name = ?", .text(group)) }
        if let owner = filter.owner { add("owner = ?", .number(Int64(owner.rawValue))) }
        if let outcome { add("outcome = ?", .number(outcome.code)) }
        if let since = filter.since { add("ended_at_us >= ?", .number(since.microseconds)) }
        if let cursor {
            add("(ended_at_us, id) < (?, ?)", .number(cursor.endedAt.microseconds))
            parameters.append(.number(Int64(clamping: cursor.id.rawValue)))
        }
    }

    var sql: String {
        "SELECT \(ColumnNames.ofTask.joined(separator: ", ")) FROM tasks INDEXED BY \(index) WHERE "
            + conditions.joined(separator: " AND ")
            + " ORDER BY ended_at_us DESC, id DESC LIMIT ?"
    }

    private mutating func add(_ condition: String, _ value: SQLValue) {
        conditions.append(condition)
        parameters.append(value)
    }

    /// The index whose first column says most; each has the ends in the order of their time.
    private static func index(_ filter: HistoryFilter, _ outcome: Outcome?) -> String {
        if filter.name != nil { return "tasks_ended_name" }
        if filter.application != nil { return "tasks_ended_application" }
        if filter.group != nil { return "tasks_ended_group" }
        // Most tasks complete, so that their owner says more; few of one owner end otherwise.
        if filter.owner != nil { return "tasks_ended_owner" }
        return outcome == nil ? "tasks_ended" : "tasks_ended_outcome"
    }
}
