internal import ArgumentParser
internal import Glibc
internal import TaskAPI

/// Lists tasks.
struct List: Verb {
    static let configuration = CommandConfiguration(
        abstract: "List tasks, and what time they have left.",
        usage: "bgtaskctl list [<options>]",
        discussion: """
            Live tasks only, unless --ended, --outcome or --since asks for those that have ended. Where \
            the output is no terminal, the fields are divided by tabs: id, (with --all) owner, name, state \
            or outcome, time left, time used, why it waits, command, status.

            Example: bgtaskctl list --outcome overrun --outcome failed --since 1h
            """
    )

    @Option(help: ArgumentHelp("Only tasks in this state; may be repeated.", valueName: "state"))
    var state: [Tasks.State] = []

    @Flag(help: "Those too that have ended.")
    var ended = false

    @OptionGroup var filter: FilterOptions
    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        let connection = try session.connect()
        var tasks: [Tasks.Task] = []
        try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
            for task in [reply.task].compactMap({ $0 }) + (reply.tasks ?? []) {
                if console.isJSON { console.write(JSONLine.text(task)) } else { tasks.append(task) }
            }
        }
        guard !console.isJSON else { return 0 }
        guard !tasks.isEmpty else {
            console.hint(
                wantsEnded ? "no such tasks" : "no such task is live; --ended shows others")
            try hintAtOthers(connection, console)
            return 0
        }
        console.page(text(tasks, console.style))
        try hintAtOthers(connection, console)
        return 0
    }

    /// The tasks, and on a terminal how many there are.
    private func text(_ tasks: [Tasks.Task], _ style: Style) -> String {
        guard style.isTerminal else {
            return TaskText.table(tasks, owners: filter.all).text(style)
        }
        let users = UserNames()
        let table = TaskText.listing(tasks, users: filter.all ? users.name : nil)
        var summary = TaskSummary()
        for task in tasks { summary.add(task) }
        let count = tasks.count == 1 ? "1 task" : "\(tasks.count) tasks"
        return table.text(style) + "\n\(count): \(summary.counted)\n"
    }

    /// Tells root of what `--all` would list too.
    private func hintAtOthers(
        _ connection: DaemonConnection, _ console: Console
    ) throws(Failure) {
        let user = geteuid()
        guard user == 0, !filter.all, console.style.isTerminal else { return }
        var input = input
        input.all = true
        var count = 0
        try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
            let tasks = [reply.task].compactMap(\.self) + (reply.tasks ?? [])
            count += tasks.count { $0.owner != Int(user) }
        }
        guard count > 0 else { return }
        console.hint("\(count) \(count == 1 ? "task" : "tasks") of other users; --all lists them")
    }

    /// Whether a condition is given that live tasks cannot meet.
    private var wantsOnlyEnded: Bool {
        state.isEmpty && (filter.outcomes != nil || filter.since != nil)
    }

    private var wantsEnded: Bool {
        ended || filter.outcomes != nil || filter.since != nil || state.contains(.ended)
    }

    private var input: Tasks.List.Input {
        var input = Tasks.List.Input()
        input.states = wantsOnlyEnded ? [.ended] : state.isEmpty ? nil : state
        input.name = filter.name
        input.application = filter.application
        input.group = filter.group
        input.ended = wantsEnded ? true : nil
        input.outcomes = filter.outcomes
        input.sinceMs = filter.since
        input.all = filter.allUsers
        return input
    }
}
