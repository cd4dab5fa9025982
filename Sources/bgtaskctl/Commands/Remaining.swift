internal import ArgumentParser
internal import TaskAPI

/// Says what time is left.
struct Remaining: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Say how much time a task has left, and what bounds it.",
        discussion: "Example: bgtaskctl remaining 42"
    )

    @Argument(help: "The task.") var id: TaskNumber

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.RemainingTime.Input()
        input.id = id.value
        input.all = reach.asked
        let remaining = try session.connect().call(Tasks.RemainingTime.self, input).remaining
        session.console.show(remaining, TimeText.remaining(remaining) + "\n")
        return 0
    }
}
