internal import ArgumentParser
internal import TaskAPI

/// Says what time is left.
struct Remaining: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Say how much time a task has left, and what limits it.",
        usage: "bgtaskctl remaining [<task> ...] [<options>]",
        discussion: """
            A task that is queued has its whole budget left. Of several tasks each line begins with the \
            number of its task.

            Example: bgtaskctl remaining 42
            """
    )

    @OptionGroup var selection: TaskSelection

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        var input = Tasks.RemainingTime.Input()
        input.all = selection.reach.asked
        let tasks = try selection.chooseOrLast(
            connection, session.console, includesEnded: false)
        let console = session.console
        return try session.each(of: tasks, connection, all: input.all) { id throws(Failure) in
            input.id = id
            let remaining = try connection.call(Tasks.RemainingTime.self, input).remaining
            let subject = tasks.count > 1 ? "\(id)\t" : ""
            console.show(remaining, of: id, subject + TimeText.remaining(remaining) + "\n")
        }
    }
}
