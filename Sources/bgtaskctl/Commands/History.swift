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
            --all) owner, name, outcome, when it ended, time used, command.

            Example: bgtaskctl history --name backup --outcome failed --since 7d
            """
    )

    @OptionGroup var filter: FilterOptions

    @Option(
        name: [.customLong("max"), .customShort("n")],
        help: ArgumentHelp("At most so many.", valueName: "count"))
    var countMax = 1000

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard countMax > 0 else { throw ValidationError("--max must be at least 1") }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        var tasks: [Tasks.Task] = []
        var left = countMax
        try session.connect().streamWhile(Tasks.History.self, input) { reply throws(Failure) in
            guard let task = reply.task else { return true }
            left -= 1
            if console.isJSON { console.write(JSONLine.text(task)) } else { tasks.append(task) }
            return left > 0
        }
        guard !console.isJSON else { return 0 }
        guard !tasks.isEmpty else {
            console.hint("no such task in the history")
            return 0
        }
        if left == 0 { console.hint("the newest \(countMax); --max shows more") }
        console.page(TaskText.history(tasks, owners: filter.all).text(console.style))
        return 0
    }

    private var input: Tasks.History.Input {
        var input = Tasks.History.Input()
        input.name = filter.name
        input.application = filter.application
        input.group = filter.group
        input.outcomes = filter.outcomes
        input.sinceMs = filter.since
        input.all = filter.allUsers
        return input
    }
}
