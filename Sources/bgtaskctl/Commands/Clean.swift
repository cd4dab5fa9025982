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

    @Option(
        help: ArgumentHelp("Only tasks of this name.", valueName: "name"), completion: .taskNames)
    var name: String?

    @Option(
        help: ArgumentHelp("Only tasks of this group.", valueName: "group"), completion: .groups)
    var group: String?

    @Option(
        help: ArgumentHelp("Only tasks that ended so; may be repeated.", valueName: "outcome"))
    var outcome: [Tasks.Outcome] = []

    @Option(
        help: ArgumentHelp(
            "Only tasks that ended before then, \(SinceOption.help).", valueName: "time"),
        transform: SinceOption.milliseconds)
    var before: Int?

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    /// So many the daemon takes at once.
    private static let idsMax = 500

    func validate() throws {
        if tasks.contains("") { throw ValidationError("a task's name is not empty") }
        let isFiltered = name != nil || group != nil || !outcome.isEmpty || before != nil
        if !tasks.isEmpty, isFiltered {
            throw ValidationError("give tasks, or the options that choose them, not both")
        }
        if tasks.isEmpty, reach.all, !isFiltered {
            throw ValidationError(
                "--all alone would remove the history of all users; say which tasks")
        }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        let ids = try tasks.isEmpty ? chosen(connection) : named(connection)
        if ids.isEmpty, let group { try TaskFinder.requireGroup(group, connection) }
        for start in stride(from: 0, to: ids.count, by: Self.idsMax) {
            var input = Tasks.Clean.Input()
            input.ids = Array(ids[start..<min(start + Self.idsMax, ids.count)])
            input.all = reach.asked
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
                let found = try ended(connection) { $0.name == word }
                guard !found.isEmpty else {
                    throw Failure(
                        "no task \(word) has ended, or it is not yours; see: bgtaskctl history")
                }
                ids.formUnion(found)
                continue
            }
            var input = Tasks.Show.Input()
            (input.id, input.all) = (number, reach.asked)
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
        try ended(connection) { task in
            (name == nil || task.name == name) && (group == nil || task.group == group)
                && (outcome.isEmpty || task.outcome.map(outcome.contains) == true)
                && (before == nil || task.endedMs ?? 0 >= before ?? 0)
        }.sorted()
    }

    /// Those that have ended, of the history and of what the daemon has in memory, where what programs held is.
    private func ended(
        _ connection: DaemonConnection, _ isMeant: (Tasks.Task) -> Bool
    ) throws(Failure) -> Set<Int> {
        var ids: Set<Int> = []
        var past = Tasks.History.Input()
        past.all = reach.asked
        try connection.stream(Tasks.History.self, past) { reply throws(Failure) in
            if let task = reply.task, isMeant(task) { ids.insert(task.id) }
        }
        var listed = Tasks.List.Input()
        (listed.all, listed.states, listed.ended) = (reach.asked, [.ended], true)
        try connection.stream(Tasks.List.self, listed) { reply throws(Failure) in
            if let task = reply.task, isMeant(task) { ids.insert(task.id) }
        }
        return ids
    }
}
