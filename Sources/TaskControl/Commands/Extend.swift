internal import ArgumentParser
internal import TaskAPI

/// Starts budgets anew.
struct Extend: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Restart the budgets of tasks from now.",
        usage: "bgtaskctl extend <task> ... [<options>]",
        discussion: """
            Never adds to what remains, and never goes beyond the profile's lifetime limit, counted from \
            the start. Prints what the task has then, with several of them behind the number of each.

            Example: bgtaskctl extend 42
            """
    )

    @OptionGroup var selection: TaskSelection

    @OptionGroup var global: GlobalOptions

    func validate() throws { try selection.requireSome() }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        var input = Tasks.Extend.Input()
        input.all = selection.reach.asked
        // What waits in the queue has its whole budget left.
        let tasks = try selection.choose(connection, states: [.running, .expiring, .dormant])
        let console = session.console
        return try session.each(of: tasks, connection, all: input.all) { id throws(Failure) in
            input.id = id
            let remaining = try connection.call(Tasks.Extend.self, input).remaining
            let subject = tasks.count > 1 ? "\(id)\t" : ""
            console.show(remaining, of: id, subject + TimeText.remaining(remaining) + "\n")
        }
    }
}
