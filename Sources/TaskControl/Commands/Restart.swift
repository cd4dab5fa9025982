internal import ArgumentParser
internal import TaskAPI

/// Submits again what ended commands were submitted with.
struct Restart: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Submit ended commands again, as they were submitted.",
        usage:
            "bgtaskctl restart <task> ... | --all-failed | --all-mine | --group <group> [<options>]",
        discussion: """
            Each is a new task with the command, the environment, the input and the budget of the old one. \
            When that was to start, whether it was paused and what it came after does not count again; but of \
            several that came after one another, each comes after the new ones. A name stands for the newest \
            task of that name that has ended.

            Prints the number of the new task, behind the old one's unless a single task is named. What \
            --on-end had run is run again behind the new task, where the history still has it; by --all-failed \
            it is not run alone.

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

    @Flag(help: "All of yours that have ended, however they did, and were not restarted already.")
    var allMine = false

    @Option(
        help: ArgumentHelp(
            "Those of this group that failed, or with --all-mine all of it.", valueName: "group"),
        completion: .groups)
    var group: String?

    @Option(
        help: ArgumentHelp(
            "With these: that ended since then; 24h ago if not given.", valueName: "time"),
        transform: SinceOption.milliseconds)
    var since: Int?

    @OptionGroup var global: GlobalOptions

    private static let sinceDefault = 86_400_000

    func validate() throws {
        let isByOutcome = allFailed || allMine || group != nil
        guard isByOutcome || !tasks.isEmpty else {
            throw ValidationError("name a task, or say --all-failed, --all-mine or --group")
        }
        if isByOutcome, !tasks.isEmpty {
            throw ValidationError("give tasks, or --all-failed, --all-mine or --group, not both")
        }
        if allFailed, allMine {
            throw ValidationError("give --all-failed or --all-mine, not both")
        }
        if since != nil, !isByOutcome {
            throw ValidationError("--since goes with --all-failed, --all-mine or --group")
        }
        if tasks.contains("") { throw ValidationError("a task's name is not empty") }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        let finder = EndedTaskFinder(connection)
        let chosen =
            tasks.isEmpty
            ? try finder.find(
                ofGroup: group, since: since ?? Self.sinceDefault, whateverOutcome: allMine)
            : try finder.find(tasks)
        if chosen.isEmpty {
            if let group { try TaskFinder.requireGroup(group, connection) }
            session.console.hint("no such task has \(allMine ? "ended" : "failed")")
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
            do throws(Failure) {
                guard let hook = try restarts.restartHook(of: id) else { return }
                console.notice(
                    hook.isRestarted
                        ? "task \(hook.id) runs the command of --on-end when task \(submitted.id) has ended"
                        : "what --on-end runs after task \(id) (task \(hook.id)) has not ended, and is not run again"
                )
            } catch {
                console.notice("what --on-end ran after task \(id) is not run again: \(error.line)")
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

    /// Finds what was not restarted since it ended, in the order of the numbers.
    ///
    /// - Parameters:
    ///   - group: of this group alone.
    ///   - milliseconds: that ended within this time.
    ///   - whateverOutcome: also what has completed or was cancelled.
    func find(
        ofGroup group: String?, since milliseconds: Int, whateverOutcome: Bool
    ) throws(Failure) -> [TaskFinder.Chosen] {
        var ended: Set<Int> = []
        var restarted: Set<Int> = []
        var past = Tasks.History.Input()
        past.sinceMs = milliseconds
        try connection.stream(Tasks.History.self, past) { reply throws(Failure) in
            guard let task = reply.task else { return }
            if let id = task.restartOf { restarted.insert(id) }
            guard group == nil || task.group == group,
                task.command.flatMap(EndCommand.script) == nil
            else { return }
            if whateverOutcome || task.outcome != .completed && task.outcome != .cancelled {
                ended.insert(task.id)
            }
        }
        try connection.stream(Tasks.List.self, Tasks.List.Input()) { reply throws(Failure) in
            if let id = reply.task?.restartOf { restarted.insert(id) }
        }
        return ended.subtracting(restarted).sorted().map {
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
    private var names: [Int: String] = [:]
    /// What was found of the commands of --on-end, by the names of their tasks.
    private var known: [String: [Hook]] = [:]

    private struct Hook {
        let id: Int
        let hasEnded: Bool
    }

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
        names[id] = work.name
        let left = ((work.after ?? []) + (work.afterAny ?? [])).filter { numbers[$0] == nil }
        return (submitted, left)
    }

    /// Restarts what --on-end had run after a task that was restarted.
    ///
    /// - Returns: its new number, or its old one where it cannot be, since it has not ended; `nil` where the history
    ///   has none, or it is to be restarted by itself.
    mutating func restartHook(of id: Int) throws(Failure) -> (id: Int, isRestarted: Bool)? {
        guard let name = names[id], let number = numbers[id] else { return nil }
        // Of many tasks of a name the history is read once.
        if known[name] == nil { known[name] = try find(after: name) }
        // It was submitted right after the task; others of that name came after others.
        let later = known[name]?.filter { $0.id > id && !chosen.contains($0.id) } ?? []
        for hook in later.prefix(Self.hooksLookedAtMax) {
            var reference = Tasks.ShowSubmission.Input()
            reference.id = hook.id
            let work = try connection.call(Tasks.ShowSubmission.self, reference).work
            guard work.afterAny == [id] else { continue }
            guard hook.hasEnded else { return (hook.id, false) }
            var input = Tasks.Restart.Input()
            (input.id, input.afterAny) = (hook.id, [number])
            return (try connection.call(Tasks.Restart.self, input).id, true)
        }
        return nil
    }

    /// The commands of --on-end that came after tasks of a name, in the order of their numbers.
    private func find(after name: String) throws(Failure) -> [Hook] {
        var hooks: [Hook] = []
        func note(_ task: Tasks.Task?) {
            guard let task, task.command.flatMap(EndCommand.script) != nil else { return }
            hooks.append(Hook(id: task.id, hasEnded: task.state == .ended))
        }
        var past = Tasks.History.Input()
        past.name = EndCommand.name(after: name)
        try connection.stream(Tasks.History.self, past) { reply throws(Failure) in
            note(reply.task)
        }
        var present = Tasks.List.Input()
        present.name = past.name
        try connection.stream(Tasks.List.self, present) { reply throws(Failure) in
            note(reply.task)
        }
        return hooks.sorted { $0.id < $1.id }
    }

    /// Between a task and its command may be those of tasks that others submitted at the same moment.
    private static let hooksLookedAtMax = 16

    private func renumbered(_ predecessors: [Int]?) -> [Int]? {
        let found = (predecessors ?? []).compactMap { numbers[$0] }
        return found.isEmpty ? nil : found
    }
}
