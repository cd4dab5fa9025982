internal import ArgumentParser
internal import TaskAPI
internal import Varlink

/// Stops a task.
struct Cancel: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Stop a task.",
        discussion: """
            A command gets SIGTERM and its grace, then everything that is left of it is killed; held time \
            is taken back at once.

            Example: bgtaskctl cancel 42 --reason "maintenance at noon"
            """
    )

    @Argument(help: "The task.") var id: TaskNumber

    @Option(help: ArgumentHelp("Why, for its record and the journal.", valueName: "text"))
    var reason: String?

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.Cancel.Input()
        input.id = id.value
        input.all = reach.asked
        input.reason = reason
        let reply = try session.connect().call(Tasks.Cancel.self, input)
        session.console.show(reply, "")
        return 0
    }
}

/// Kills what is suspended.
struct SimulateMemoryPressure: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Kill suspended applications, as memory pressure would.",
        discussion: """
            The least recently used one, or as many as --count says, of your own; root reaches those of \
            everybody. Nothing is told to them. Prints their ids, one a line.

            Example: bgtaskctl simulate-memory-pressure --count 2
            """
    )

    @Option(help: ArgumentHelp("How many, 1 if not given.", valueName: "count"))
    var count: Int?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is a number from 1 on") }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Applications.SimulateMemoryPressure.Input()
        input.count = count
        let console = session.console
        let reply = try session.connect().call(Applications.SimulateMemoryPressure.self, input)
        let lines = reply.terminated.map { VisibleText.oneLine($0) + "\n" }
        console.show(reply, lines.joined())
        if reply.terminated.isEmpty { console.hint("no application is suspended") }
        return 0
    }
}

/// Fires a handler early.
struct SimulateExpiration: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Fire a task's handler now, to test it.",
        discussion: """
            As if the budget had run out: the grace begins, and the limit comes after it.

            Example: bgtaskctl simulate-expiration 42
            """
    )

    @Argument(help: "The task.") var id: TaskNumber

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.SimulateExpiration.Input()
        input.id = id.value
        input.all = reach.asked
        let reply = try session.connect().call(Tasks.SimulateExpiration.self, input)
        session.console.show(reply, "")
        return 0
    }
}
