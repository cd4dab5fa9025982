internal import ArgumentParser
internal import TaskAPI

/// Submits again what ended commands were submitted with.
struct Restart: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Submit ended commands again, as they were submitted.",
        usage: "bgtaskctl restart <task> ... | --all-failed | --group <group> [<options>]",
        discussion: """
            Each is a new task with the command, the environment, the input and the budget of the old one. \
            When that was to start, whether it was paused and what it came after does not count again; but of \
            several that came after one another, each comes after the new ones. A name stands for the newest \
            task of that name that has ended.

            Prints the number of the new task, behind the old one's unless a single task is named. What \
            --on-end had run is a task of its own, which is not run again.

            Example: bgtaskctl restart 42
            Example: bgtaskctl restart --all-failed --since 1h
            """
    )

    @Argument(
        help: ArgumentHelp("The tasks, by number or name.", valueName: "task"),
        completion: .tasks)
    var tasks: [String] = []

    @Flag(help: "All of yours that have neither completed nor were cancelled or restarted already.")
    var allFailed = false

    @Option(
        help: ArgumentHelp("The same, of this group.", valueName: "group"), completion: .groups)
    var group: String?

    @Option(
        help: ArgumentHelp(
            "With these: that ended since then; 24h ago if not given.", valueName: "time"),
        transform: SinceOption.milliseconds)
    var since: Int?

    @OptionGroup var global: GlobalOptions

    private static let sinceDefault = 86_400_000

    func validate() throws {
        let isByOutcome = allFailed || group != nil
        guard isByOutcome || !tasks.isEmpty else {
            throw ValidationError("name a task, or say --all-failed or --group")
        }
        if isByOutcome, !tasks.isEmpty {
            throw ValidationError("give tasks, or --all-failed or --group, not both")
        }
        if since != nil, !isByOutcome {
            throw ValidationError("--since goes with --all-failed or --group")
        }
        if tasks.contains("") { throw ValidationError("a task's name is not empty") }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        let finder = EndedTaskFinder(connection)
        let chosen =
            tasks.isEmpty
            ? try finder.findFailed(of: group, since: since ?? Self.sinceDefault)
            : try finder.find(tasks)
        if chosen.isEmpty {
            if let group { try TaskFinder.requireGroup(group, connection) }
            session.console.hint("no such task has failed")
            return 0
        }
        var restarts = Restarts(connection, of: chosen)
        let console = session.console
        return try session.each(of: chosen) { id throws(Failure) in
            let (submitted, left) = try restarts.restart(id)
            // Whether they are several is what was asked, and not what was found.
            let subject = tasks.count == 1 ? "" : "\(id)\t"
            console.show(submitted, "\(subject)\(submitted.id)\n")
            SubmissionText.tellReceipt(submitted, console)
            if !left.isEmpty {
                let numbers = left.map(String.init).joined(separator: ", ")
                console.notice(
                    "task \(submitted.id) does not come after task \(numbers), as task \(id) did; "
                        + "restart them together to keep the order")
            }
        }
    }
}

/// Finds tasks that have ended.
struct EndedTaskFinder {
    private let connection: DaemonConnection

    init(_ connection: DaemonConnection) {
        self.connection = connection
    }

    /// Finds tasks by number, or by name the newest that has ended, each once, in the order of their numbers.
    func find(_ words: [String]) throws(Failure) -> [TaskFinder.Chosen] {
        var ids: Set<Int> = []
        for word in words {
            guard let number = Int(word), number >= 0 else {
                ids.insert(try newest(named: word))
                continue
            }
            ids.insert(number)
        }
        return ids.sorted().map { TaskFinder.Chosen(id: $0, isFound: false) }
    }

    /// Finds what has neither completed nor was cancelled, and was not restarted since, in the order of the numbers.
    ///
    /// - Parameters:
    ///   - group: of this group alone.
    ///   - milliseconds: that ended within this time.
    func findFailed(
        of group: String?, since milliseconds: Int
    ) throws(Failure) -> [TaskFinder.Chosen] {
        var failed: Set<Int> = []
        var restarted: Set<Int> = []
        var past = Tasks.History.Input()
        past.sinceMs = milliseconds
        try connection.stream(Tasks.History.self, past) { reply throws(Failure) in
            guard let task = reply.task else { return }
            if let id = task.restartOf { restarted.insert(id) }
            guard group == nil || task.group == group,
                task.command.flatMap(EndCommand.script) == nil
            else { return }
            if task.outcome != .completed, task.outcome != .cancelled { failed.insert(task.id) }
        }
        try connection.stream(Tasks.List.self, Tasks.List.Input()) { reply throws(Failure) in
            if let id = reply.task?.restartOf { restarted.insert(id) }
        }
        return failed.subtracting(restarted).sorted().map {
            TaskFinder.Chosen(id: $0, isFound: true)
        }
    }

    private func newest(named name: String) throws(Failure) -> Int {
        var input = Tasks.History.Input()
        input.name = name
        let newest = try connection.call(Tasks.History.self, input).tasks?.first
        guard let newest else {
            throw Failure(
                "no command \(name) has ended, or it is not yours; see: bgtaskctl history")
        }
        return newest.id
    }
}

/// Has tasks restarted so that each comes after the new ones of those that it came after.
struct Restarts {
    private let connection: DaemonConnection
    private let chosen: Set<Int>
    /// The new task of each that was restarted.
    private var numbers: [Int: Int] = [:]

    /// - Parameter tasks: all that are to be restarted.
    init(_ connection: DaemonConnection, of tasks: [TaskFinder.Chosen]) {
        self.connection = connection
        chosen = Set(tasks.map(\.id))
    }

    /// Restarts one of them. What it came after is to be restarted before it.
    ///
    /// - Returns: with what it came after that was not restarted.
    mutating func restart(
        _ id: Int
    ) throws(Failure) -> (submitted: Tasks.Submit.Output, left: [Int]) {
        var reference = Tasks.ShowSubmission.Input()
        reference.id = id
        let work = try connection.call(Tasks.ShowSubmission.self, reference).work
        let missing = (work.after ?? []).first { chosen.contains($0) && numbers[$0] == nil }
        if let missing {
            throw Failure(
                "task \(id) was not restarted: it came after task \(missing), which was not")
        }
        var input = Tasks.Restart.Input()
        input.id = id
        input.after = renumbered(work.after)
        input.afterAny = renumbered(work.afterAny)
        let submitted = try connection.call(Tasks.Restart.self, input)
        numbers[id] = submitted.id
        return (submitted, (work.after ?? []).filter { numbers[$0] == nil })
    }

    private func renumbered(_ predecessors: [Int]?) -> [Int]? {
        let found = (predecessors ?? []).compactMap { numbers[$0] }
        return found.isEmpty ? nil : found
    }
}
