internal import ArgumentParser
internal import Glibc
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

/// Shows events as they happen.
struct Watch: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show what happens to tasks, as it happens.",
        discussion: """
            With an id: its present state first, and until it has ended. Without: what happens from now \
            on, until Ctrl-C. Where the output is no terminal, the fields are divided by tabs: id, event, \
            name, detail.

            Example: bgtaskctl watch --output
            """
    )

    @Argument(help: "The task; all of yours if not given.") var id: TaskNumber?

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
            console.show(reply.event, TaskText.line(reply.event, console.style))
        }
        return 0
    }
}

/// Waits for the end of a task.
struct Wait: Verb {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a task has ended, and exit with its status.",
        discussion: """
            The exit status is that of run --wait: the command's, 124 where its time was up, 125 where \
            bgtaskctl or the daemon is the reason, or where the timeout is over.

            Example: bgtaskctl wait 42 --timeout 1min
            """
    )

    @Argument(help: "The task.") var id: TaskNumber

    @Option(
        help: ArgumentHelp("How long at most, \(SpanOption.help).", valueName: "span"),
        transform: SpanOption.milliseconds)
    var timeout: Int?

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    var refusalStatus: Int32 { ExitStatus.ours }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        try connection.checkService()
        let waiter = TaskWaiter(connection, session.console, try SignalInbox([SIGINT]))
        return try waiter.wait(for: id.value, timeoutMs: timeout, all: reach.asked)
    }
}

/// Says why a task is as it is.
struct Explain: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Say which rule holds a task back, bounds it, or stopped it.",
        discussion: "Example: bgtaskctl explain 42"
    )

    @Argument(help: "The task.") var id: TaskNumber

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.Explain.Input()
        input.id = id.value
        input.all = reach.asked
        let console = session.console
        let explanations = try session.connect().call(Tasks.Explain.self, input).explanations
        if console.isJSON {
            for explanation in explanations { console.write(JSONLine.text(explanation)) }
        } else {
            console.write(ExplanationText.lines(explanations, console.style))
        }
        if explanations.isEmpty { console.hint("nothing holds it back, and nothing bounds it") }
        return 0
    }
}
