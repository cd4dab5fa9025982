internal import ArgumentParser
internal import Systemd
internal import TaskAPI

/// Shows what a task printed.
struct Logs: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show what a task printed, or its whole story.",
        discussion: """
            Its standard output goes to standard output, its standard error to standard error. Only the \
            newest is kept; what is missing is said on standard error. On a terminal, control characters \
            are shown and not obeyed.

            With --journal: all that happened to the task, with what it printed, as far back as the system's \
            journal goes, and also where the daemon does not run. One line an entry: the time, who speaks \
            (task, stdout or stderr), the level where the output is no terminal, and the text. Root and the \
            group systemd-journal may read the system's journal, and users their own, where one is kept \
            for them. Only entries of the daemon itself are shown. With --follow, until the end of the \
            task is told; the usual end of a task that a program holds is told at the level debug alone.

            With --journal and no id: what the daemon says about itself.

            Example: bgtaskctl logs 42 --follow
            Example: bgtaskctl logs 42 --journal
            """
    )

    @Argument(help: "The task; with --journal, the daemon itself if not given.") var id: TaskNumber?

    @Flag(name: .shortAndLong, help: "Go on until the task has ended.")
    var follow = false

    @Flag(help: "What happened to the task and what it printed, from the system's journal.")
    var journal = false

    @Option(help: ArgumentHelp("With --journal: the daemon's unit.", valueName: "unit"))
    var unit = JournalSource.defaultUnit

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard journal || id != nil else {
            throw ValidationError("name the task, or say --journal for the daemon itself")
        }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        guard !journal, let id else { return try tellStory(session) }
        let connection = try session.connect()
        try connection.checkService()
        var input = Tasks.Output.Input()
        input.id = id.value
        input.all = reach.asked
        input.follow = follow ? true : nil
        let output = OutputText(session.console)
        try connection.stream(Tasks.Output.self, input) { piece throws(Failure) in
            output.show(piece)
        }
        return 0
    }

    private func tellStory(_ session: Session) throws(Failure) -> Int32 {
        let source = try JournalSource(global.socketChoice(), unit: unit)
        let reader = try source.reader(of: id?.value)
        let console = session.console
        var isFound = false
        do throws(SystemdError) {
            while true {
                while let record = try reader.next() {
                    guard source.believes(record), isWanted(record) else { continue }
                    isFound = true
                    console.write(
                        console.isJSON
                            ? StoryText.json(record) : StoryText.line(record, console.style))
                    if follow, id != nil, record[.outcome] != nil { return 0 }
                }
                guard follow else { break }
                console.flush()
                try reader.wait()
            }
        } catch {
            throw Failure("cannot read the journal: \(error)")
        }
        if !isFound {
            let subject = id.map { "task \($0.value)" } ?? "itself"
            throw Failure("the journal has no entry of \(unit) about \(subject)")
        }
        return 0
    }

    /// Whether an entry is about what was asked for; the reader knows the task already.
    private func isWanted(_ record: JournalRecord) -> Bool {
        id != nil || record[.taskID] == nil && record[.messageID] != nil
    }
}
