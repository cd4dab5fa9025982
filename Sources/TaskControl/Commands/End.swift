internal import ArgumentParser
internal import TaskAPI

/// Gives borrowed time back.
struct End: Verb {
    static let configuration = CommandConfiguration(
        abstract: "End a task that begin has started.",
        discussion: """
            Prints the outcome: completed, or expired if the warning has come. A task that has ended \
            already is left as it is.

            Example: bgtaskctl end 42
            """
    )

    @Argument(help: "The task.", completion: .taskNumbers, transform: TaskNumber.parse)
    var id: TaskNumber

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.End.Input()
        input.id = id.value
        let ended = try session.connect().call(Tasks.End.self, input)
        session.console.show(ended, ended.outcome.map { "\($0.rawValue)\n" } ?? "")
        if ended.outcome == nil {
            session.console.notice("0 is the id of no task; nothing has ended")
        }
        return 0
    }
}
