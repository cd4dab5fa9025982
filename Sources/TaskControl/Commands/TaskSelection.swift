internal import ArgumentParser
internal import TaskAPI

/// The tasks that a verb is about: each by its number or name, those of a group, or all that are one's own.
struct TaskSelection: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The tasks, by number or name.", valueName: "task"),
        completion: .tasks)
    var tasks: [String] = []

    @Option(
        help: ArgumentHelp("All live and queued tasks of this group.", valueName: "group"),
        completion: .groups)
    var group: String?

    @Flag(help: "All your live and queued tasks.")
    var allMine = false

    @OptionGroup var reach: ReachOptions

    /// Whether no task was named at all.
    var isEmpty: Bool { tasks.isEmpty && group == nil && !allMine }

    /// Refuses a command line that names no task.
    func requireSome() throws {
        if isEmpty { throw ValidationError("name a task, or say --group or --all-mine") }
    }

    func validate() throws {
        if allMine, !tasks.isEmpty || group != nil || reach.all {
            throw ValidationError("--all-mine says all; give no task, --group or --all beside it")
        }
        if tasks.contains("") { throw ValidationError("a task's name is not empty") }
    }

    /// Finds the tasks, each once.
    ///
    /// - Parameters:
    ///   - includesEnded: whether a name may also stand for the newest task of that name which has ended.
    ///   - states: in which of them those are that are not named by number; `nil`: all but ended ones.
    /// - Returns: with a failure for each name that has no such task.
    func choose(
        _ connection: DaemonConnection, includesEnded: Bool = false, states: [Tasks.State]? = nil
    ) throws(Failure) -> [TaskFinder.Chosen] {
        let finder = TaskFinder(
            connection, all: reach.asked, states: states, includesEnded: includesEnded)
        var chosen = try finder.find(tasks)
        if let group { chosen += try finder.find(ofGroup: group) }
        if allMine { chosen += try finder.find { _ in } }
        var seen: Set<Int> = []
        return chosen.filter { $0.failure != nil || seen.insert($0.id).inserted }
    }

    /// The same, where without any the task is meant that was submitted last, which is said.
    func chooseOrLast(
        _ connection: DaemonConnection, _ console: Console, includesEnded: Bool = true
    ) throws(Failure) -> [TaskFinder.Chosen] {
        guard isEmpty else { return try choose(connection, includesEnded: includesEnded) }
        let last = try TaskFinder(connection, all: reach.asked).findLast()
        console.hint("this is task \(last.id), \(last.name)")
        return [TaskFinder.Chosen(id: last.id, isFound: true)]
    }

    /// The same, where nothing is done unless each name has a task.
    func chooseKnown(
        _ connection: DaemonConnection, _ console: Console
    ) throws(Failure) -> [Int] {
        let chosen = try chooseOrLast(connection, console)
        if let failure = chosen.compactMap(\.failure).first { throw failure }
        return chosen.map(\.id)
    }
}

extension Session {
    /// Does something with each of the tasks; one that refuses keeps nobody else's from it.
    ///
    /// - Returns: the exit status: that of a refusal where there was one.
    func each(
        of tasks: [TaskFinder.Chosen], _ connection: DaemonConnection, all: Bool?,
        _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Int32 {
        try each(of: tasks, unless: { $0.isFound && hasEnded($0.id, connection, all: all) }, body)
    }

    /// The same, where a refusal counts also of a task that has ended.
    func each(
        of tasks: [TaskFinder.Chosen],
        unless isPassedOver: (TaskFinder.Chosen) -> Bool = { _ in false },
        _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Int32 {
        guard tasks.count != 1 else {
            if let failure = tasks[0].failure { throw failure }
            try body(tasks[0].id)
            return 0
        }
        if tasks.isEmpty { console.hint("no such task is live") }
        var status: Int32 = 0
        for task in tasks {
            do throws(Failure) {
                if let failure = task.failure { throw failure }
                try body(task.id)
            } catch {
                if isPassedOver(task) { continue }
                console.report(error)
                status = error.status ?? ExitStatus.refused
            }
        }
        return status
    }

    private func hasEnded(_ id: Int, _ connection: DaemonConnection, all: Bool?) -> Bool {
        var input = Tasks.Show.Input()
        input.id = id
        input.all = all
        return (try? connection.call(Tasks.Show.self, input).task.state) == .ended
    }
}
