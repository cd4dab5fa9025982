internal import ArgumentParser
internal import TaskAPI

/// Shows all that is known of a task.
struct Show: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show everything that is known of a task.",
        discussion: "Example: bgtaskctl show 42"
    )

    @Argument(help: "The task.") var id: TaskNumber

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.Show.Input()
        input.id = id.value
        input.all = reach.asked
        let task = try session.connect().call(Tasks.Show.self, input).task
        session.console.show(task, TaskText.story(task, session.console.style))
        return 0
    }
}
