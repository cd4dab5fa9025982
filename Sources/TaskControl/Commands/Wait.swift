internal import ArgumentParser
internal import Glibc

/// Waits for the end of tasks.
struct Wait: Verb {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until tasks have ended, and exit with their status.",
        usage: "bgtaskctl wait [<task> ...] [<options>]",
        discussion: """
            The exit status is that of run --wait: the command's, 124 if its time was up, 125 if \
            bgtaskctl or the daemon is the reason, or the timeout is over. Of several tasks it is the \
            first that is not 0, in the order in which they are given.

            Example: bgtaskctl wait 42 --timeout 1min
            Example: bgtaskctl wait --all-mine
            """
    )

    @OptionGroup var selection: TaskSelection

    @Flag(help: "Until the first of them has ended; prints its number.")
    var any = false

    @Option(
        help: ArgumentHelp("How long at most, \(SpanOption.help).", valueName: "span"),
        transform: SpanOption.milliseconds)
    var timeout: Int?

    @OptionGroup var global: GlobalOptions

    var refusalStatus: Int32 { ExitStatus.ours }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        try connection.checkService()
        let all = selection.reach.asked
        let ids = try selection.chooseKnown(connection, session.console)
        let signals = try SignalInbox([SIGINT])
        let waiter = TaskWaiter(connection, session.console, signals, session.connect)
        if ids.count == 1, !any {
            return try waiter.wait(for: ids[0], timeoutMs: timeout, all: all)
        }
        return try waiter.wait(for: ids, any: any, timeoutMs: timeout, all: all)
    }
}
