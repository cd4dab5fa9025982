internal import ArgumentParser
internal import Systemd
internal import TaskAPI

/// Shows what tasks printed.
struct Logs: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show what tasks printed, or the whole story of one.",
        usage: "bgtaskctl logs [<task> ...] [<options>]",
        discussion: """
            Its standard output goes to standard output, its standard error to standard error. Only the \
            newest is kept, and of tasks that have ended also over a restart of the daemon; what is missing \
            is said on standard error. Without a task: of the one that you submitted last. On a terminal, control characters \
            are shown and not obeyed. Of several tasks each piece stands below a line that names its task; \
            with --follow they come as they are printed.

            With --journal: all that happened to the task, with what it printed, as far back as the system's \
            journal goes, and also where the daemon does not run. One line an entry: the time, who speaks \
            (task, stdout or stderr), the level where the output is no terminal, and the text. Root and the \
            group systemd-journal may read the system's journal, and users their own, where one is kept \
            for them. Only entries of the daemon itself are shown. With --follow, until the end of the \
            task is told; the usual end of a task that a program holds is told at the level debug alone.

            With --journal and no id: what the daemon says about itself.

            Example: bgtaskctl logs 42 --follow
            Example: bgtaskctl logs --group uploads --since 10min
            Example: bgtaskctl logs -n 20 --stderr
            Example: bgtaskctl logs 42 --journal
            """
    )

    @OptionGroup var selection: TaskSelection

    @Flag(name: .shortAndLong, help: "Go on until the tasks have ended.")
    var follow = false

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp(
            "Only so many of the last lines, and what follows them.", valueName: "count"))
    var lines: Int?

    @Option(
        help: ArgumentHelp(
            "Only what was printed since then, \(SinceOption.help).", valueName: "time"),
        transform: SinceOption.milliseconds)
    var since: Int?

    @Flag(help: "Only what they printed to standard output.")
    var stdout = false

    @Flag(help: "Only what they printed to standard error.")
    var stderr = false

    @Flag(help: "What happened to the task and what it printed, from the system's journal.")
    var journal = false

    @Option(help: ArgumentHelp("With --journal: the daemon's unit.", valueName: "unit"))
    var unit = JournalSource.defaultUnit

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let lines, lines < 0 { throw ValidationError("--lines is a number from 0 on") }
        if stdout, stderr {
            throw ValidationError(
                "--stdout and --stderr exclude each other; without them it is both")
        }
        guard !journal || part == OutputPart() else {
            throw ValidationError("--journal goes with none of --lines, --stdout and --stderr")
        }
        guard !journal || storyID != nil || selection.isEmpty else {
            throw ValidationError("--journal tells of one task, by its number")
        }
    }

    private var part: OutputPart {
        OutputPart(linesMax: lines, stream: stdout ? "stdout" : stderr ? "stderr" : nil)
    }

    /// The task whose story is told; `nil` for the daemon's own.
    private var storyID: Int? {
        guard selection.tasks.count == 1, selection.group == nil else { return nil }
        return selection.tasks.first.flatMap { Int($0) }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        guard !journal else { return try tellStory(session) }
        let connection = try session.connect()
        try connection.checkService()
        let tasks = try selection.chooseOrLast(connection, session.console)
        var input = Tasks.Output.Input()
        input.all = selection.reach.asked
        input.follow = follow ? true : nil
        input.sinceMs = since
        let reader = OutputReader(session, input, part)
        if tasks.count > 1, follow {
            if let failure = tasks.compactMap(\.failure).first { throw failure }
            return try reader.follow(tasks.map(\.id))
        }
        return try session.each(of: tasks) { id throws(Failure) in
            let hasPrinted = try reader.show(id, connection, isNamed: tasks.count > 1)
            if follow || !hasPrinted { tellEnd(of: id, connection, session.console) }
        }
    }

    /// Says how a task has ended, where that is something to be said.
    private func tellEnd(of id: Int, _ connection: DaemonConnection, _ console: Console) {
        var input = Tasks.Show.Input()
        input.id = id
        input.all = selection.reach.asked
        // The output was shown, whatever this comes to.
        guard let task = try? connection.call(Tasks.Show.self, input).task else { return }
        if task.state == .queued, task.attempt <= 1 {
            return console.notice("task \(id) has not started")
        }
        guard task.state == .ended, let reason = ExitStatus.reason(for: task) else { return }
        console.notice(reason)
    }

    private func tellStory(_ session: Session) throws(Failure) -> Int32 {
        let source = try JournalSource(global.socketChoice(), unit: unit)
        let reader = try source.reader(of: storyID)
        let console = session.console
        let earliest = since.map(WallClock.microseconds(millisecondsAgo:)) ?? 0
        var isFound = false
        do throws(SystemdError) {
            while true {
                while let record = try reader.next() {
                    guard record.microseconds >= earliest, source.believes(record),
                        isWanted(record)
                    else { continue }
                    isFound = true
                    console.write(
                        console.isJSON
                            ? StoryText.json(record) : StoryText.line(record, console.style))
                    if follow, storyID != nil, record[.outcome] != nil { return 0 }
                }
                guard follow else { break }
                console.flush()
                try reader.wait()
            }
        } catch {
            throw Failure("cannot read the journal: \(error)")
        }
        if !isFound {
            let subject = storyID.map { "task \($0)" } ?? "itself"
            throw Failure("the journal has no entry of \(unit) about \(subject)")
        }
        return 0
    }

    /// Whether an entry is about what was asked for; the reader knows the task already.
    private func isWanted(_ record: JournalRecord) -> Bool {
        storyID != nil || record[.taskID] == nil && record[.messageID] != nil
    }
}
