internal import ArgumentParser
internal import TaskAPI

/// Lists what the disk knows of tasks that have ended.
struct History: Verb {
    static let configuration = CommandConfiguration(
        abstract: "List commands that have ended, the newest first, from the daemon's history.",
        usage: "bgtaskctl history [<options>]",
        discussion: """
            The history is on disk, and goes back as far as [store] historyMax, historyBytesMax and \
            historyAge say. Where the output is no terminal, the fields are divided by tabs: id, (with \
            --all) owner, name, outcome, when it ended, time used, command. --columns chooses others. \
            --limit is 1000 if not given; with --sort or --reverse the whole history is read and ordered \
            first.

            Example: bgtaskctl history --name backup --outcome failed --since 7d
            Example: bgtaskctl history --sort -used --limit 10 --columns id,name,used,ended
            """
    )

    @OptionGroup var filter: FilterOptions

    @OptionGroup var listing: ListingOptions

    @Option(
        name: .customLong("max"), help: ArgumentHelp("The same as --limit.", valueName: "count"))
    var countMax: Int?

    @OptionGroup var global: GlobalOptions

    private static let countMaxDefault = 1000

    func validate() throws {
        guard countMax ?? 1 > 0 else { throw ValidationError("--max must be at least 1") }
        if countMax != nil, listing.limit != nil {
            throw ValidationError("give --limit or --max, not both")
        }
    }

    private var limit: Int { countMax ?? listing.limit ?? Self.countMaxDefault }

    /// Whether the entries are shown as they come, the newest first.
    private var isNewestFirst: Bool { listing.sort == nil && !listing.reverse }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        var tasks: [Tasks.Task] = []
        var count = 0
        let connection = try session.connect()
        try console.saying {
            ActivityText.history(count: count)
        } while: { () throws(Failure) in
            try connection.streamWhile(Tasks.History.self, filter.history) {
                reply throws(Failure) in
                guard let task = reply.task else { return true }
                count += 1
                if console.isJSON, isNewestFirst {
                    console.write(JSONLine.text(task))
                } else {
                    tasks.append(task)
                }
                return !isNewestFirst || count < limit
            }
        }
        let users = UserNames()
        let shown = listing.choose(from: tasks, atMost: limit, users: users.name)
        guard !console.isJSON else {
            for task in shown { console.write(JSONLine.text(task)) }
            return 0
        }
        guard !tasks.isEmpty else {
            console.hint("no such task in the history")
            return 0
        }
        console.page(table(shown, users, console.style).text(console.style))
        if isNewestFirst, count == limit, listing.limit == nil, countMax == nil {
            console.hint("the newest \(limit); --limit shows more")
        } else if shown.count < count {
            console.hint("\(shown.count) of \(count); --limit shows more")
        }
        return 0
    }

    private func table(_ tasks: [Tasks.Task], _ users: UserNames, _ style: Style) -> Table {
        if let choice = listing.columns {
            return TaskTable.chosen(
                tasks, choice, isPerson: style.isTerminal, users: users.name)
        }
        return TaskTable.history(
            tasks, owners: filter.all, isPerson: style.isTerminal, users: users.name)
    }
}
