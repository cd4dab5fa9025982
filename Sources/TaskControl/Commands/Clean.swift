internal import ArgumentParser
internal import TaskAPI

/// Has the daemon forget tasks that have ended.
struct Clean: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Remove ended tasks from the lists and from the history.",
        usage: "bgtaskctl clean [<task> ...] [<options>]",
        discussion: """
            Without a task, all of yours that have ended, or those that the options choose. A name stands for \
            all tasks of that name that have ended. Their output and what restart needs go with them, and \
            nothing brings them back; the journal keeps its entries. What is queued or runs is never removed, and tasks that wait \
            for one of them have what they need.

            Example: bgtaskctl clean --outcome completed
            Example: bgtaskctl clean --name backup --before 7d
            """
    )

    @Argument(
        help: ArgumentHelp("The tasks, by number or name.", valueName: "task"),
        completion: .tasks)
    var tasks: [String] = []

    @OptionGroup var filter: FilterOptions

    @Option(
        help: ArgumentHelp(
            "Only tasks that ended before then, \(SinceOption.help).", valueName: "time"),
        transform: SinceOption.milliseconds)
    var before: Int?

    @OptionGroup var global: GlobalOptions

    /// So many the daemon takes at once.
    private static let idsMax = 500

    func validate() throws {
        if tasks.contains("") { throw ValidationError("a task's name is not empty") }
        let isFiltered = filter.isSome || before != nil
        if !tasks.isEmpty, isFiltered {
            throw ValidationError("give tasks, or the options that choose them, not both")
        }
        if tasks.isEmpty, filter.all, !isFiltered {
            throw ValidationError(
                "--all alone would remove the history of all users; say which tasks")
        }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        let ids = try tasks.isEmpty ? chosen(connection) : named(connection)
        if ids.isEmpty, let group = filter.group { try TaskFinder.requireGroup(group, connection) }
        for start in stride(from: 0, to: ids.count, by: Self.idsMax) {
            var input = Tasks.Clean.Input()
            input.ids = Array(ids[start..<min(start + Self.idsMax, ids.count)])
            input.all = filter.allUsers
            _ = try connection.call(Tasks.Clean.self, input)
        }
        if session.console.isJSON { session.console.write("{\"removed\":\(ids.count)}\n") }
        session.console.hint(Self.summary(ids.count))
        return 0
    }

    private static func summary(_ count: Int) -> String {
        switch count {
        case 0: "nothing to remove"
        case 1: "1 task removed"
        default: "\(count) tasks removed"
        }
    }

    /// Those that the command line names, where each is there and has ended.
    private func named(_ connection: DaemonConnection) throws(Failure) -> [Int] {
        var ids: Set<Int> = []
        for word in tasks {
            guard let number = Int(word), number >= 0 else {
                var named = filter.history
                named.name = word
                let found = try ended(connection, named)
                guard !found.isEmpty else {
                    throw Failure(
                        "no task \(word) has ended, or it is not yours; see: bgtaskctl history")
                }
                ids.formUnion(found)
                continue
            }
            var input = Tasks.Show.Input()
            (input.id, input.all) = (number, filter.allUsers)
            // Before anything is removed, of however many.
            guard try connection.call(Tasks.Show.self, input).task.state == .ended else {
                throw Failure(
                    "task \(number) has not ended; to stop it: bgtaskctl cancel \(number)")
            }
            ids.insert(number)
        }
        return ids.sorted()
    }

    private func chosen(_ connection: DaemonConnection) throws(Failure) -> [Int] {
        try ended(connection, filter.history).sorted()
    }

    /// Those that have ended, of the history and of what the daemon has in memory, where what programs held is.
    private func ended(
        _ connection: DaemonConnection, _ choice: Tasks.History.Input
    ) throws(Failure) -> Set<Int> {
        var ids: Set<Int> = []
        func add(_ task: Tasks.Task?) {
            guard let task, task.endedMs ?? 0 >= before ?? 0 else { return }
            ids.insert(task.id)
        }
        try connection.stream(Tasks.History.self, choice) { reply throws(Failure) in
            add(reply.task)
        }
        var listed = Tasks.List.Input()
        (listed.states, listed.ended) = ([.ended], true)
        (listed.name, listed.application, listed.group) = (
            choice.name, choice.application, choice.group
        )
        (listed.outcomes, listed.sinceMs, listed.all) = (
            choice.outcomes, choice.sinceMs, choice.all
        )
        try connection.stream(Tasks.List.self, listed) { reply throws(Failure) in
            add(reply.task)
        }
        return ids
    }
}
