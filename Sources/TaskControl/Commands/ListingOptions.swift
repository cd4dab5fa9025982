internal import ArgumentParser
internal import TaskAPI

/// Which of the tasks that were found a list shows, in which order, and what of each.
struct ListingOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Order by this column, or by several divided by commas; -COLUMN is descending.",
            valueName: "column"),
        transform: TaskOrder.parse)
    var sort: TaskOrder?

    @Flag(help: "In the reverse order.")
    var reverse = false

    @Option(
        name: [.customLong("limit"), .customShort("n")],
        help: ArgumentHelp("At most so many.", valueName: "count"))
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "Show these columns, divided by commas, of: \(TaskColumn.names).",
            valueName: "columns"),
        transform: ColumnChoice.parse)
    var columns: ColumnChoice?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    /// Whether all tasks are shown, in the order in which they come.
    var isWhole: Bool { sort == nil && !reverse && limit == nil }

    /// Those of the tasks that are to be shown, in their order.
    ///
    /// - Parameter limit: how many at most; `nil` for all.
    func choose(
        from tasks: [Tasks.Task], atMost limit: Int?, users: @escaping (Int) -> String
    ) -> [Tasks.Task] {
        var chosen = sort?.sorted(tasks, users: users) ?? tasks
        if reverse { chosen.reverse() }
        return limit.map { Array(chosen.prefix($0)) } ?? chosen
    }
}
