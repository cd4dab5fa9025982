internal import ArgumentParser
internal import TaskAPI

/// Shows events as they happen.
struct Watch: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show what happens to tasks, as it happens.",
        discussion: """
            With an id: its present state first, and until it has ended. Without: what happens from now \
            on, until Ctrl-C. If the output is no terminal, the fields are separated by tabs: id, event, \
            name, detail.

            Example: bgtaskctl watch --output
            """
    )

    @Argument(
        help: "The task; all of yours if not given.", completion: .taskNumbers,
        transform: TaskNumber.parse)
    var id: TaskNumber?

    @Flag(help: "With what the tasks print.")
    var output = false

    @Flag(help: "Tasks of all users; for root and the group of operators.")
    var all = false

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        let console = session.console
        try connection.checkService()
        var input = Tasks.Watch.Input()
        input.id = id?.value
        input.output = output ? true : nil
        input.all = all ? true : nil
        var before = 0
        try connection.stream(Tasks.Watch.self, input) { reply throws(Failure) in
            let number = reply.event.number
            if before > 0, number > before + 1 {
                console.notice("\(number - before - 1) events are missing here; they came too fast")
            }
            before = number
            console.show(event: reply.event, TaskText.line(reply.event, console.style))
        }
        return 0
    }
}
