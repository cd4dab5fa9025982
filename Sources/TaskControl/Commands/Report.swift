internal import ArgumentParser
internal import TaskAPI

/// Says how far a task has come.
struct Report: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Say how far a running task of yours has come.",
        usage: "bgtaskctl report [--id <id>] [--completed <count> [--total <count>]] [<text>]",
        discussion: """
            list, show and watch show a bar, and the text. In a command that bgtaskd runs the task is its own, \
            which BGTASK_ID names. What is left out stays as it was; an empty text takes the last away.

            Example: bgtaskctl report --completed 21 --total 50 "compressing photos"
            """
    )

    @Option(help: ArgumentHelp("The task; BGTASK_ID if not given.", valueName: "id"))
    var id: Int?

    @Option(help: ArgumentHelp("Units that are done.", valueName: "count"))
    var completed: Int?

    @Option(help: ArgumentHelp("Of how many.", valueName: "count"))
    var total: Int?

    @Argument(help: ArgumentHelp("What it is doing.", valueName: "text"))
    var text: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard completed != nil || text != nil else {
            throw ValidationError("say --completed, or a text")
        }
        if total != nil, completed == nil { throw ValidationError("--total goes with --completed") }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.Report.Input()
        input.id = try OwnTask.number(id)
        (input.text, input.completed, input.total) = (text, completed, total)
        _ = try session.connect().call(Tasks.Report.self, input)
        return 0
    }
}
