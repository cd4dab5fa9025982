internal import ArgumentParser
internal import TaskAPI

/// Stops tasks.
struct Cancel: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Stop tasks.",
        usage: "bgtaskctl cancel <task> ... [<options>]",
        discussion: """
            A command gets SIGTERM and its grace, then everything that is left of it is killed; a held \
            task ends at once. A task that is being stopped already gets the signal of --signal too.

            Example: bgtaskctl cancel 42 --reason "maintenance at noon"
            Example: bgtaskctl cancel --group uploads --signal KILL
            """
    )

    @OptionGroup var selection: TaskSelection

    @Option(
        help: ArgumentHelp(
            "The signal that a command gets, SIGTERM if not given; SIGKILL ends it without a grace.",
            valueName: "signal"), completion: .signals)
    var signal: String?

    @Option(help: ArgumentHelp("Why, for its record and the journal.", valueName: "text"))
    var reason: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        try selection.requireSome()
        if let signal { _ = try SignalOption.name(signal, allowsNone: false) }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        var input = Tasks.Cancel.Input()
        input.all = selection.reach.asked
        input.reason = reason
        input.signal = signal.flatMap { try? SignalOption.name($0, allowsNone: false) }
        let tasks = try selection.choose(connection)
        return try session.each(of: tasks, connection, all: input.all) { id throws(Failure) in
            input.id = id
            let reply = try connection.call(Tasks.Cancel.self, input)
            session.console.show(reply, "")
        }
    }
}
