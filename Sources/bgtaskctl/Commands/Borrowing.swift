internal import ArgumentParser
internal import Glibc
internal import TaskAPI

/// Borrows time for what the caller does itself.
struct Begin: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Borrow time for work of your own.",
        usage: "bgtaskctl begin --name <name> [<options>]",
        discussion: """
            Prints the task's id. The task belongs to the process of --pid, without it to the shell that \
            calls bgtaskctl, and is abandoned when that ends.

            Example, in a script:

              id=$(bgtaskctl begin --name flush --budget 1min)
              flush-everything
              bgtaskctl end $id
            """
    )

    @OptionGroup var borrow: BorrowOptions

    @Option(help: ArgumentHelp("The process that holds the time.", valueName: "pid"))
    var pid: Int32?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard borrow.name != nil else { throw ValidationError("--name is missing") }
        if let pid, pid <= 0 { throw ValidationError("\(pid) is no process") }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        var input = Tasks.Begin.Input()
        input.name = borrow.name ?? ""
        input.application = borrow.owner
        input.profile = borrow.profile
        input.budget = try borrow.budget(from: connection, session.console)
        input.pid = Int(pid ?? CallingShell.processID())
        let begun = try connection.call(Tasks.Begin.self, input)
        session.console.show(begun, "\(begun.id)\n")
        return 0
    }
}

/// Gives borrowed time back.
struct End: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Give borrowed time back.",
        discussion: """
            Prints the outcome: completed, or expired where the handler has fired. A task that has ended \
            already is left as it is.

            Example: bgtaskctl end 42
            """
    )

    @Argument(help: "The task.") var id: TaskNumber

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
