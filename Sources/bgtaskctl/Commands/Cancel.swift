internal import ArgumentParser
internal import TaskAPI

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
