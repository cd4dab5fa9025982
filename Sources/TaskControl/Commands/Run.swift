package import ArgumentParser
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

/// Has the daemon run a command.
package struct Run: Verb {
    package static let configuration = CommandConfiguration(
        abstract: "Have the daemon run a command under a time limit.",
        usage: """
            bgtaskctl run [<options>] [--] <command> ...
            bgtaskctl run [<options>] --application <id>
            bgtaskctl run [<options>] --wake <id>
            """,
        discussion: """
            Prints the task's id as the first line, with --follow on standard error. The command runs in \
            the current directory and without this shell's environment, but for what --env adds. When the \
            budget, less its grace, is spent, every process of the task gets SIGTERM. What is still there \
            at the limit is killed.

            If all slots are taken, or --group, --in, --when, --minimum-interval or --unique hold it \
            back, it waits in the queue, and its budget does not count yet: bgtaskctl explain ID says why.

            With --wait or --follow the exit status is the command's (128+N if signal N ended it), 124 if \
            its time was up, 125 if bgtaskctl or the daemon is the reason. Ctrl-C stops the \
            waiting and leaves the task to its budget: bgtaskctl cancel ID stops it.

            Examples:

              bgtaskctl run --budget 2min --follow -- make test
              bgtaskctl run --name upload --minimum-interval 10min --when network -- ./upload
            """
    )

    package init() {}

    @OptionGroup var borrow: BorrowOptions

    @Option(
        help: ArgumentHelp(
            "The directory that the command runs in; the current one if not given.",
            valueName: "path"),
        completion: .directory)
    var directory: String?

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp(
            "Set a variable for the command; NAME alone passes your own.",
            valueName: "name=value"))
    var environment: [String] = []

    @Option(
        help: ArgumentHelp(
            "Set the variables of a file, NAME=VALUE a line; may be repeated.", valueName: "path"),
        completion: .file())
    var envFile: [String] = []

    @Flag(help: "Pass all of this shell's variables.")
    var envAll = false

    @Option(
        help: ArgumentHelp(
            "The signal before the limit, SIGTERM if not given; none for no signal.",
            valueName: "signal"), completion: .signalsOrNone)
    var onExpiry: String?

    @Option(
        help: ArgumentHelp(
            "A command to run before the limit, by /bin/sh -c.", valueName: "command"))
    var onExpiryRun: String?

    @Option(
        help: ArgumentHelp(
            "What the command reads as its standard input, 1 MiB at most; - for this one's.",
            valueName: "file"), completion: .file())
    var input: String?

    @Option(
        help: ArgumentHelp(
            "A command that runs as a task of its own when this one has ended, by /bin/sh -c.",
            valueName: "command"))
    var onEnd: String?

    @Option(
        help: ArgumentHelp(
            "There is no command: this application does the work, woken or started in the background for it.",
            valueName: "id"), completion: .applications)
    var wake: String?

    @OptionGroup var queue: QueueOptions

    @Flag(help: "Wait for the end, and exit with the command's status.")
    var wait = false

    @Flag(
        name: .shortAndLong,
        help: "Show the output as it comes, wait, and exit with the command's status.")
    var follow = false

    @Flag(help: "Do not print the task's number.")
    var quiet = false

    @OptionGroup var global: GlobalOptions

    @Argument(parsing: .captureForPassthrough, help: "The command and its arguments.")
    package var words: [String] = []

    private var command: [String] { (try? PassedCommand.words(words, of: Run.self)) ?? [] }

    package func validate() throws {
        if let wake {
            try checkAlone(wake)
        } else if !runsRegistered {
            _ = try PassedCommand.words(words, of: Run.self)
        }
        if borrow.name == nil, queue.unique != nil || queue.minimumInterval != nil {
            // The name of the program, such as sh, is that of commands that have nothing to do with this one.
            throw ValidationError(
                "--unique and --minimum-interval are about the tasks of one name; give it with --name"
            )
        }
        // What is read of a pipe can be read once.
        _ = try EnvironmentOption.variables(environment)
        _ = try handler()
    }

    /// Whether it is the command that an application is registered with.
    private var runsRegistered: Bool { words.isEmpty && borrow.application?.isEmpty == false }

    /// Refuses what a command has, beside an application that does the work itself.
    private func checkAlone(_ wake: String) throws {
        if let word = words.first {
            throw ValidationError(
                "with --wake the application does the work, and there is no command; take \(VisibleText.oneLine(word)) away"
            )
        }
        let mine: [(String, Bool)] = [
            ("--application", borrow.application != nil), ("--directory", directory != nil),
            ("--env", !environment.isEmpty), ("--env-file", !envFile.isEmpty),
            ("--env-all", envAll), ("--input", input != nil), ("--on-expiry", onExpiry != nil),
            ("--on-expiry-run", onExpiryRun != nil), ("--follow", follow),
        ]
        if let (option, _) = mine.first(where: { $0.1 }) {
            throw ValidationError("\(option) is for a command, and with --wake there is none")
        }
    }

    var refusalStatus: Int32 { wait || follow ? ExitStatus.ours : ExitStatus.refused }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        var submission = Tasks.Submit.Input()
        submission.work = try work(connection)
        let signals = wait || follow ? try SignalInbox([SIGINT]) : nil
        let submitted = try submit(submission, connection)
        if !quiet { show(submitted, session.console) }
        SubmissionText.tellReceipt(submitted, session.console)
        tellOrder(submitted, submission.work.after ?? [], session.console)
        if let onEnd {
            try submit(onEnd, after: submitted, submission.work, connection, session.console)
        }
        if signals == nil { tellMissing(submission.work, session.console) }
        if input == nil, wake == nil, InputOption.isIgnored {
            session.console.notice(
                "the command does not get what is piped here; --input - does that, and </dev/null says that none is meant"
            )
        }
        if connection.socket.origin == .user { SessionNote.tell(session.console) }
        // Who looks is told that it may take for ever.
        if session.console.isErrorTerminal {
            PauseNote.tell(submitted.id, connection, session.console)
        }
        guard let signals else { return 0 }
        let waiter = TaskWaiter(connection, session.console, signals, session.connect)
        return try waiter.wait(for: submitted.id, following: follow)
    }

    /// Submits it; where it comes after a task that ended otherwise than it must, that is said.
    private func submit(
        _ submission: Tasks.Submit.Input, _ connection: DaemonConnection
    ) throws(Failure) -> Tasks.Submit.Output {
        do throws(Failure) {
            return try connection.call(Tasks.Submit.self, submission)
        } catch {
            guard let refusal = error.refusal, refusal.name == Tasks.AlreadyEnded.name,
                let ended = try? refusal.decode(Tasks.AlreadyEnded.self)
            else { throw error }
            throw Failure(
                "task \(ended.id) ended as \(ended.outcome.rawValue), so that what comes after it would never "
                    + "start; --after-any \(ended.id) starts it however that ended",
                status: error.status, refusal: refusal)
        }
    }

    /// Has a command run when a task has ended, as a task that comes after it.
    private func submit(
        _ script: String, after submitted: Tasks.Submit.Output, _ work: Tasks.Work,
        _ connection: DaemonConnection, _ console: Console
    ) throws(Failure) {
        guard submitted.receipt != .coalesced else {
            return console.notice(
                "--on-end is of no account: task \(submitted.id) was submitted before")
        }
        var input = Tasks.Submit.Input()
        input.work = EndCommand(script, after: submitted.id, work).work
        let end = try connection.call(Tasks.Submit.self, input)
        console.notice(
            "task \(end.id) runs the command of --on-end when task \(submitted.id) has ended")
    }

    /// Standard output is the command's where that is followed.
    private func show(_ submitted: Tasks.Submit.Output, _ console: Console) {
        guard follow, !console.isJSON else { return console.show(submitted, "\(submitted.id)\n") }
        console.notice("task \(submitted.id)")
    }

    /// A program that is not there is told at once; it may come before the task starts.
    private func tellMissing(_ work: Tasks.Work, _ console: Console) {
        if let directory = work.directory, access(directory, F_OK) != 0, errno == ENOENT {
            return console.notice(
                "there is no folder \(VisibleText.oneLine(directory)); the task fails if it is not there when the task starts"
            )
        }
        guard let program = work.command?.first,
            let complaint = ProgramSearch.complaint(
                about: program, in: work.directory ?? "/", path: work.environment?["PATH"])
        else { return }
        console.notice("\(complaint); the task fails if it is not there when the task starts")
    }

    /// What becomes of a task that comes after others is said at once: nobody is asked again.
    private func tellOrder(
        _ submitted: Tasks.Submit.Output, _ after: [Int], _ console: Console
    ) {
        let open = Set(submitted.after ?? [])
        let needed = after.filter(open.contains)
        guard !needed.isEmpty else { return }
        let tasks = needed.map(String.init).joined(separator: ", ")
        console.notice(
            "task \(submitted.id) starts when \(needed.count == 1 ? "task" : "tasks") \(tasks) "
                + "\(needed.count == 1 ? "has" : "have") completed; it fails without having run "
                + "if \(needed.count == 1 ? "that one" : "one of them") ends otherwise")
    }

    private func work(
        _ connection: DaemonConnection
    ) throws(Failure) -> Tasks.Work {
        var work = Tasks.Work()
        work.profile = borrow.profile
        try queue.apply(to: &work, connection)
        work.budget = try borrow.budget(from: connection)
        if let wake {
            (work.name, work.application, work.wake) = (borrow.name ?? wake, wake, true)
            return work
        }
        work.application = borrow.owner
        if runsRegistered {
            work.name = borrow.name ?? borrow.owner ?? ""
        } else {
            work.name = borrow.name(for: command)
            work.command = command
        }
        // The daemon knows that of a registered command.
        if !runsRegistered || directory != nil { work.directory = try place() }
        work.input = try input.map { file throws(Failure) in try InputOption.read(file) }
        do {
            let variables = try EnvironmentOption.variables(
                environment, files: envFile, withAll: envAll)
            work.environment = variables.isEmpty ? nil : variables
            work.expiration = try handler()
        } catch {
            throw Failure("\(error)")
        }
        return work
    }

    private func place() throws(Failure) -> String {
        guard directory != nil || Surroundings.isDirectoryText else {
            throw Failure("the name of the current directory is not UTF-8; give --directory")
        }
        guard let place = directory.map(Surroundings.absolute) ?? Surroundings.directory else {
            throw Failure("the current directory does not exist any more; give --directory")
        }
        return place
    }

    private func handler() throws -> Tasks.ExpirationHandler? {
        guard onExpiry != nil || onExpiryRun != nil else { return nil }
        var handler = Tasks.ExpirationHandler()
        handler.signal = try onExpiry.map { try SignalOption.name($0, allowsNone: true) }
        handler.command = onExpiryRun.map { ["/bin/sh", "-c", $0] }
        return handler
    }
}

/// A signal on the command line.
enum SignalOption {
    /// Its full name, such as `SIGTERM`; empty for `none`.
    static func name(_ text: String, allowsNone: Bool) throws -> String {
        if allowsNone, text == "none" || text.isEmpty { return "" }
        guard let number = SignalName.number(of: text.uppercased()) else {
            throw ValidationError("\"\(text)\" is no signal; write it as SIGTERM or TERM")
        }
        return SignalName.name(of: number)
    }
}
