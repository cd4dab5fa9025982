internal import ArgumentParser
internal import TaskAPI

/// Starts a budget anew.
struct Extend: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Start a task's budget anew from now.",
        discussion: """
            Never adds to what remains, and never goes beyond the profile's lifetime limit, counted from \
            the begin. Prints what the task has then.

            Example: bgtaskctl extend 42
            """
    )

    @Argument(help: "The task.") var id: TaskNumber

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.Extend.Input()
        input.id = id.value
        input.all = reach.asked
        let remaining = try session.connect().call(Tasks.Extend.self, input).remaining
        session.console.show(remaining, TimeText.remaining(remaining) + "\n")
        return 0
    }
}
