internal import ArgumentParser
internal import TaskAPI

/// Borrows time for what the caller does itself.
struct Begin: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Start a task for work that you do yourself.",
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

    @Option(help: ArgumentHelp("The process that the task belongs to.", valueName: "pid"))
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
        input.budget = try borrow.budget(from: connection)
        input.pid = Int(pid ?? CallingShell.processID())
        let begun = try connection.call(Tasks.Begin.self, input)
        session.console.show(begun, "\(begun.id)\n")
        return 0
    }
}
