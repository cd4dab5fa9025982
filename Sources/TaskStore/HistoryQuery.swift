package import BudgetCore

/// The statement that answers a filter for one outcome, or for all.
package struct HistoryQuery {
    private(set) var parameters: [SQLValue] = []
    private var conditions = ["ended_at_us IS NOT NULL"]
    private let index: String

    package init(_ filter: HistoryFilter, _ outcome: Outcome?, after cursor: HistoryCursor?) {
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

    package var sql: String {
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
