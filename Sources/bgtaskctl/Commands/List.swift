internal import ArgumentParser
internal import TaskAPI

extension Tasks.State: ExpressibleByArgument {}
extension Tasks.Outcome: ExpressibleByArgument {}

/// Lists tasks.
struct List: Verb {
    static let configuration = CommandConfiguration(
        abstract: "List tasks, and what time they have left.",
        usage: "bgtaskctl list [<options>]",
        discussion: """
            Live tasks only, unless --ended, --outcome or --since asks for those that have ended. Where \
            the output is no terminal, the fields are divided by tabs: id, (with --all) owner, name, state \
            or outcome, time left, time used, command.

            Example: bgtaskctl list --outcome overrun --outcome failed --since 1h
            """
    )

    @Option(help: ArgumentHelp("Only tasks in this state; may be repeated.", valueName: "state"))
    var state: [Tasks.State] = []

    @Option(help: ArgumentHelp("Only tasks of this name.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Only tasks of this application.", valueName: "id"))
    var application: String?

    @Option(help: ArgumentHelp("Only tasks of this group.", valueName: "group"))
    var group: String?

    @Flag(help: "Those too that have ended.")
    var ended = false

    @Option(
        help: ArgumentHelp("Only tasks that ended so; may be repeated.", valueName: "outcome"))
    var outcome: [Tasks.Outcome] = []

    @Option(
        help: ArgumentHelp(
            "Only tasks that ended at most so long ago, \(SpanOption.help).", valueName: "span"),
        transform: SpanOption.milliseconds)
    var since: Int?

    @Flag(help: "Tasks of all users; for root and the group of operators.")
    var all = false

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        var tasks: [Tasks.Task] = []
        try session.connect().stream(Tasks.List.self, input) { reply throws(Failure) in
            for task in [reply.task].compactMap({ $0 }) + (reply.tasks ?? []) {
                if console.isJSON { console.write(JSONLine.text(task)) } else { tasks.append(task) }
            }
        }
        guard !console.isJSON else { return 0 }
        guard !tasks.isEmpty else {
            console.hint(
                wantsEnded ? "no such tasks" : "no such task is live; --ended shows others")
            return 0
        }
        console.write(TaskText.table(tasks, owners: all).text(console.style))
        return 0
    }

    /// Whether a condition is given that live tasks cannot meet.
    private var wantsOnlyEnded: Bool {
        state.isEmpty && !ended && (!outcome.isEmpty || since != nil)
    }

    private var wantsEnded: Bool {
        ended || !outcome.isEmpty || since != nil || state.contains(.ended)
    }

    private var input: Tasks.List.Input {
        var input = Tasks.List.Input()
        input.states = wantsOnlyEnded ? [.ended] : state.isEmpty ? nil : state
        input.name = name
        input.application = application
        input.group = group
        input.ended = wantsEnded ? true : nil
        input.outcomes = outcome.isEmpty ? nil : outcome
        input.sinceMs = since
        input.all = all ? true : nil
        return input
    }
}
