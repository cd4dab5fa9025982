internal import ArgumentParser
internal import TaskAPI

/// Says of a task that its work is done.
struct Complete: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Say that the work of a running task of yours is done, and how.",
        usage: "bgtaskctl complete [--id <id>] [--failed]",
        discussion: """
            The outcome is completed or failed from now on, or expired after the warning. A command may go on for \
            its grace, to clean up, and is killed then; how it exits is of no account any more. In a command that \
            bgtaskd runs the task is its own, which BGTASK_ID names.

            Example: bgtaskctl complete --failed
            """
    )

    @Option(help: ArgumentHelp("The task; BGTASK_ID if not given.", valueName: "id"))
    var id: Int?

    @Flag(help: "It has failed.")
    var failed = false

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.Complete.Input()
        input.id = try OwnTask.number(id)
        if failed { input.success = false }
        _ = try session.connect().call(Tasks.Complete.self, input)
        return 0
    }
}

/// The task that a command in it speaks of.
enum OwnTask {
    /// - Parameter id: the one that was asked for; the command's own if there is none.
    static func number(_ id: Int?) throws(Failure) -> Int {
        if let id { return id }
        guard let own = Surroundings.value("BGTASK_ID").flatMap(Int.init) else {
            throw Failure(
                "say which task with --id; BGTASK_ID is not set", status: ExitStatus.usage)
        }
        return own
    }
}
