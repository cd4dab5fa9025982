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
            or outcome, time left, time used, why it waits, command, status. --columns chooses others.

            Example: bgtaskctl list --outcome overrun --outcome failed --since 1h
            Example: bgtaskctl list --all --columns id,user,name,age --sort -age --limit 10
            """
    )

    @Option(help: ArgumentHelp("Only tasks in this state; may be repeated.", valueName: "state"))
    var state: [Tasks.State] = []

    @Flag(help: "Those too that have ended.")
    var ended = false

    @OptionGroup var filter: FilterOptions
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        let connection = try session.connect()
        var tasks: [Tasks.Task] = []
        try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
            for task in [reply.task].compactMap({ $0 }) + (reply.tasks ?? []) {
                if console.isJSON, listing.isWhole {
                    console.write(JSONLine.text(task))
                } else {
                    tasks.append(task)
                }
            }
        }
        let users = UserNames()
        // Of what has ended the newest are asked for, of the queue what comes first.
        let isOfNewest = wantsEnded && listing.sort == nil && !listing.reverse
        let shown =
            isOfNewest
            ? tasks.suffix(listing.limit ?? .max)
            : listing.choose(from: tasks, atMost: listing.limit, users: users.name)[...]
        guard !console.isJSON else {
            for task in shown { console.write(JSONLine.text(task)) }
            return 0
        }
        // Asked before the pager, which may be looked at for longer than the daemon keeps a connection.
        let others = try countOthers(connection, console)
        if tasks.isEmpty {
            console.hint(
                wantsEnded
                    ? "no such tasks"
                    : isFiltered
                        ? "no such task is live; --ended shows others"
                        : "nothing runs or waits; --ended shows what has ended")
        } else {
            console.page(text(Array(shown), of: tasks, users, console.style))
        }
        if others > 0 {
            let count = others == 1 ? "1 task" : "\(others) tasks"
            console.hint("\(count) of other users; --all lists them")
        }
        return 0
    }

    /// Some of the tasks, and on a terminal how many there are.
    private func text(
        _ shown: [Tasks.Task], of tasks: [Tasks.Task], _ users: UserNames, _ style: Style
    ) -> String {
        guard style.isTerminal else { return table(shown, users, style).text(style) }
        var summary = TaskSummary()
        for task in tasks { summary.add(task) }
        let all = tasks.count == 1 ? "1 task" : "\(tasks.count) tasks"
        let count = shown.count < tasks.count ? "\(shown.count) of \(all)" : all
        return table(shown, users, style).text(style) + "\n\(count): \(summary.counted)\n"
    }

    private func table(_ tasks: [Tasks.Task], _ users: UserNames, _ style: Style) -> Table {
        if let choice = listing.columns {
            return TaskTable.chosen(
                tasks, choice, isPerson: style.isTerminal, users: users.name)
        }
        return style.isTerminal
            ? TaskTable.listing(
                tasks, users: filter.all ? users.name : nil, width: style.width)
            : TaskTable.fields(tasks, owners: filter.all)
    }

    /// How many tasks `--all` would list too, for root at a terminal.
    private func countOthers(
        _ connection: DaemonConnection, _ console: Console
    ) throws(Failure) -> Int {
        let user = geteuid()
        guard user == 0, !filter.all, !isFiltered, console.style.isTerminal else { return 0 }
        var input = input
        input.all = true
        var count = 0
        try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
            let tasks = [reply.task].compactMap(\.self) + (reply.tasks ?? [])
            count += tasks.count { $0.owner != Int(user) }
        }
        return count
    }

    /// Whether only some tasks are asked for.
    private var isFiltered: Bool {
        !state.isEmpty || filter.name != nil || filter.application != nil || filter.group != nil
            || filter.outcomes != nil || filter.since != nil
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
