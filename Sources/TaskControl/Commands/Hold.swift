internal import ArgumentParser
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

/// Runs a command as a child of its own while it holds the time for it.
struct Hold: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Run a command here, in this terminal, under a time limit.",
        usage: "bgtaskctl hold [<options>] [--] <command> ...",
        discussion: """
            The command is a child of bgtaskctl, with this terminal and this environment. It finds its \
            task in $BGTASK_ID, $BGTASK_NAME, $BGTASK_SOCKET, $BGTASK_BUDGET_MS and $BGTASK_GRACE_MS. Before \
            the limit its process group gets SIGTERM; at the limit it is killed. If the task is cancelled, \
            or the daemon stops, it gets SIGTERM and its grace. The task ends when the command does. \
            With --json the task's number is printed first, as run does.

            The exit status is the command's (128+N if signal N ended it), 124 if its time was up, \
            125 if bgtaskctl or the daemon is the reason.

            Example: bgtaskctl hold --budget 10min --grace 30s -- ./migrate --all
            """
    )

    @OptionGroup var borrow: BorrowOptions

    @Option(
        help: ArgumentHelp(
            "The signal before the limit, SIGTERM if not given; none for no signal.",
            valueName: "signal"), completion: .signalsOrNone)
    var onExpiry = "SIGTERM"

    @OptionGroup var global: GlobalOptions

    @Argument(parsing: .captureForPassthrough, help: "The command and its arguments.")
    var words: [String] = []

    private var command: [String] { (try? PassedCommand.words(words, of: Hold.self)) ?? [] }

    func validate() throws {
        _ = try PassedCommand.words(words, of: Hold.self)
        _ = try SignalOption.name(onExpiry, allowsNone: true)
    }

    var refusalStatus: Int32 { ExitStatus.ours }

    /// Signals that are passed on to the command, and the one that says what became of it.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD]

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let events = try session.connect()
        let orders = try session.connect()
        let signals = try SignalInbox(Hold.signals)
        let subject = try begin(events, orders, session.console)
        // A reader that has gone must not take the command with it.
        let defaults = SignalInbox.isIgnored(SIGPIPE) ? [] : [SIGPIPE]
        Glibc.signal(SIGPIPE, SIG_IGN)
        let child = try start(subject, orders, defaults)
        var loop = HoldLoop(
            subject, events: events, orders: orders, console: session.console, signals: signals)
        let (status, exit) = loop.run(child)
        if status == 128 + SIGINT, child.hidesInterrupt(exit) {
            Glibc.signal(SIGINT, SIG_DFL)
            kill(0, SIGINT)
        }
        return status
    }

    /// Borrows the time, and asks what was granted.
    private func begin(
        _ events: DaemonConnection, _ orders: DaemonConnection, _ console: Console
    ) throws(Failure) -> HoldMachine.Subject {
        var input = Tasks.Begin.Input()
        input.name = borrow.name(for: command)
        input.application = borrow.owner
        input.profile = borrow.profile
        input.budget = try borrow.budget(from: orders)
        try events.send(Tasks.Begin.self, input, more: true)
        let begun = try events.answer(Tasks.Begin.self)
        if console.isJSON {
            console.write(JSONLine.text(begun))
            console.flush()
        }
        var question = Tasks.Show.Input()
        question.id = begun.id
        var subject = HoldMachine.Subject()
        subject.id = begun.id
        subject.command = BorrowOptions.programName(of: command)
        subject.budget = try orders.call(Tasks.Show.self, question).task.budget
        do { subject.signal = try SignalOption.name(onExpiry, allowsNone: true) } catch {
            throw Failure("\(error)")
        }
        return subject
    }

    private func start(
        _ subject: HoldMachine.Subject, _ orders: DaemonConnection, _ defaults: [Int32]
    ) throws(Failure) -> HeldCommand {
        var variables = [
            "BGTASK_ID": String(subject.id), "BGTASK_NAME": borrow.name(for: command),
            "BGTASK_SOCKET": Hold.plainPath(orders.socket.path),
        ]
        if let budget = subject.budget {
            variables["BGTASK_BUDGET_MS"] = String(budget.durationMs)
            variables["BGTASK_GRACE_MS"] = String(budget.graceMs)
        }
        do throws(Failure) {
            return try HeldCommand(command, variables: variables, defaults: defaults)
        } catch {
            var input = Tasks.Cancel.Input()
            input.id = subject.id
            input.reason = error.line
            _ = try? orders.call(Tasks.Cancel.self, input)
            throw error
        }
    }

    /// The socket's path as it is for whoever has another working directory.
    private static func plainPath(_ address: String) -> String {
        let path = (try? VarlinkClient.path(of: address)) ?? address
        return path.hasPrefix("@") ? path : Surroundings.absolute(path)
    }
}
