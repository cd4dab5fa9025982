package import TaskAPI

/// Tables of tasks.
///
/// For a person why a task waits stands beside its state unless it has a column of its own, and a column in which no
/// task has something to say is left out unless it was asked for. For a script the columns are always the same.
package enum TaskTable {
    /// The tasks that are there.
    ///
    /// - Parameters:
    ///   - users: the names of the owners, where each is to be told.
    ///   - width: of the screen; on a narrow one what they do and wait for needs the room of what few of them report.
    package static func listing(
        _ tasks: [Tasks.Task], users: ((Int) -> String)? = nil, width: Int = .max
    ) -> Table {
        let status: [TaskColumn] = width < statusWidthMin ? [] : [.status]
        let columns: [TaskColumn] =
            [.id] + (users == nil ? [] : [.user])
            + [.name, .state, .left, .used, .ended, .exit, .command] + status
        let reader = TaskColumn.Reader(
            isPerson: true, tellsWaiting: true, users: users ?? { String($0) })
        return table(tasks, columns, isChosen: false, reader)
    }

    private static let statusWidthMin = 100

    /// The same for a script.
    ///
    /// - Parameter owners: with the owner of each.
    package static func fields(_ tasks: [Tasks.Task], owners: Bool) -> Table {
        let columns: [TaskColumn] =
            [.id] + (owners ? [.owner] : [])
            + [.name, .state, .left, .used, .waiting, .command, .status]
        return table(tasks, columns, isChosen: false, TaskColumn.Reader())
    }

    /// Tasks that have ended.
    ///
    /// - Parameters:
    ///   - owners: with the owner of each.
    ///   - users: the name of a user.
    package static func history(
        _ tasks: [Tasks.Task], owners: Bool, isPerson: Bool, users: @escaping (Int) -> String
    ) -> Table {
        let owner: [TaskColumn] = owners ? [isPerson ? .user : .owner] : []
        let exit: [TaskColumn] = isPerson ? [.exit] : []
        let columns = [.id] + owner + [.name, .outcome, .ended] + exit + [.used, .command]
        let reader = TaskColumn.Reader(isPerson: isPerson, users: users)
        return table(tasks, columns, isChosen: false, reader)
    }

    /// The columns that somebody asked for.
    package static func chosen(
        _ tasks: [Tasks.Task], _ choice: ColumnChoice, isPerson: Bool,
        users: @escaping (Int) -> String
    ) -> Table {
        let tellsWaiting = isPerson && !choice.columns.contains(.waiting)
        let reader = TaskColumn.Reader(
            isPerson: isPerson, tellsWaiting: tellsWaiting, users: users)
        return table(tasks, choice.columns, isChosen: true, reader)
    }

    private static func table(
        _ tasks: [Tasks.Task], _ columns: [TaskColumn], isChosen: Bool, _ reader: TaskColumn.Reader
    ) -> Table {
        Table(
            columns: columns.map { $0.column(isChosen: isChosen) },
            rows: tasks.map { task in
                columns.map { column in
                    let isState = column == .state || column == .outcome
                    return Table.Cell(
                        column.text(task, reader), isState ? TaskText.colour(task) : nil)
                }
            })
    }
}
