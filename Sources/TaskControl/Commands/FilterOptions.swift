internal import ArgumentParser
internal import TaskAPI

extension Tasks.State: ExpressibleByArgument {}
extension Tasks.Outcome: ExpressibleByArgument {}

/// Which tasks a listing is about.
struct FilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only tasks of this name.", valueName: "name"), completion: .taskNames)
    var name: String?

    @Option(
        help: ArgumentHelp("Only tasks of this application.", valueName: "id"),
        completion: .applications)
    var application: String?

    @Option(
        help: ArgumentHelp("Only tasks of this group.", valueName: "group"), completion: .groups)
    var group: String?

    @Option(
        help: ArgumentHelp("Only tasks that ended so; may be repeated.", valueName: "outcome"))
    var outcome: [Tasks.Outcome] = []

    @Option(
        help: ArgumentHelp(
            "Only tasks that ended since then, \(SinceOption.help).", valueName: "time"),
        transform: SinceOption.milliseconds)
    var since: Int?

    @Flag(help: "Tasks of all users; for root and the group of operators.")
    var all = false

    var outcomes: [Tasks.Outcome]? { outcome.isEmpty ? nil : outcome }
    /// `all` as the interface has it, where false is left out.
    var allUsers: Bool? { all ? true : nil }

    /// Whether some are chosen.
    var isSome: Bool {
        name != nil || application != nil || group != nil || !outcome.isEmpty || since != nil
    }

    /// What the history is asked.
    var history: Tasks.History.Input {
        var input = Tasks.History.Input()
        (input.name, input.application, input.group) = (name, application, group)
        (input.outcomes, input.sinceMs, input.all) = (outcomes, since, allUsers)
        return input
    }
}
