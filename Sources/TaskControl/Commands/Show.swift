internal import ArgumentParser
internal import Glibc
internal import TaskAPI

/// Shows all that is known of tasks.
struct Show: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show everything that is known of tasks.",
        usage: "bgtaskctl show [<task> ...] [<options>]",
        discussion: """
            A name stands for the tasks of that name which have not ended, and for the newest that has where \
            there is none.

            Example: bgtaskctl show 42
            """
    )

    @OptionGroup var selection: TaskSelection

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        var input = Tasks.Show.Input()
        input.all = selection.reach.asked
        let tasks = try selection.chooseOrLast(connection, session.console)
        let console = session.console
        return try session.each(of: tasks, connection, all: input.all) { id throws(Failure) in
            input.id = id
            let task = try connection.call(Tasks.Show.self, input).task
            let submission = submission(of: task, connection)
            let gap = id == tasks.first?.id ? "" : "\n"
            console.show(
                ShownTask(task, submission), gap + TaskText.story(task, submission, console.style))
        }
    }

    /// What a command of one's own was submitted with, where that is kept.
    private func submission(
        of task: Tasks.Task, _ connection: DaemonConnection
    ) -> Tasks.ShowSubmission.Output? {
        guard task.kind == .run, task.owner == Int(geteuid()) else { return nil }
        var input = Tasks.ShowSubmission.Input()
        input.id = task.id
        return try? connection.call(Tasks.ShowSubmission.self, input)
    }
}
