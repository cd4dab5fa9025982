internal import ArgumentParser
internal import Glibc

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
