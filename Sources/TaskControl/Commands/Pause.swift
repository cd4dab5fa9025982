internal import ArgumentParser
internal import TaskAPI
internal import Varlink

/// Which queued tasks are held back or let go: some, or all of a user.
struct PauseTarget: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The tasks, by number or name.", valueName: "task"), completion: .tasks)
    var tasks: [String] = []

    @Flag(help: "All that you have queued, and what you submit from now on.")
    var allMine = false

    @Option(
        help: ArgumentHelp("The same of another user, by uid; for operators.", valueName: "uid"))
    var owner: Int?

    @OptionGroup var reach: ReachOptions

    func validate() throws {
        guard !tasks.isEmpty || allMine || owner != nil else {
            throw ValidationError("name a task, or say --all-mine")
        }
        let kinds = [!tasks.isEmpty, allMine, owner != nil].count { $0 }
        if kinds > 1 { throw ValidationError("give tasks, --all-mine or --owner, one of them") }
        if let owner, !(0...4_294_967_294).contains(owner) {
            throw ValidationError("--owner is a user's number; see id(1)")
        }
    }
}

/// Holds queued tasks back, and stops commands that run.
struct Pause: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Hold queued tasks back, or stop running ones for a while.",
        usage: "bgtaskctl pause <task> ... | --all-mine [<options>]",
        discussion: """
            Queued ones wait until they are resumed, over a restart of the daemon too. The processes of a \
            command that runs get SIGSTOP; its time goes on, and they are woken when it is nearly over. \
            --all-mine touches nothing that runs. bgtaskctl group pause holds a group back.

            Example: bgtaskctl pause 42 43
            Example: bgtaskctl pause --all-mine
            """
    )

    @OptionGroup var target: PauseTarget
    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        try session.setPaused(target, by: Tasks.PauseOwner.self, true)
    }
}

/// Lets queued tasks go on that are held back.
struct Resume: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Let paused tasks start, or go on.",
        usage: "bgtaskctl resume <task> ... | --all-mine [<options>]",
        discussion: """
            With --all-mine it ends a pause of all that you have queued; tasks that were paused by themselves \
            still wait.

            Example: bgtaskctl resume 42
            """
    )

    @OptionGroup var target: PauseTarget
    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        try session.setPaused(target, by: Tasks.ResumeOwner.self, false)
    }
}

extension Session {
    /// Has tasks, or all of a user, held back or let go.
    ///
    /// - Parameter order: what is asked for all of a user.
    /// - Returns: the exit status.
    fileprivate func setPaused<Order: Method>(
        _ target: PauseTarget, by order: Order.Type, _ isPaused: Bool
    ) throws(Failure) -> Int32 where Order.Input == Tasks.OwnerReference {
        let connection = try connect()
        guard target.tasks.isEmpty else {
            var input = Tasks.Change.Input()
            input.all = target.reach.asked
            input.paused = isPaused
            return try change(
                target.tasks, connection, input, states: [.queued, .running, .dormant])
        }
        var input = Tasks.OwnerReference()
        input.owner = target.owner
        console.show(try connection.call(order, input), "")
        return 0
    }

    /// Has tasks changed, each in the same way.
    ///
    /// - Parameters:
    ///   - tasks: their numbers or names.
    ///   - states: in which of them those are that are named.
    /// - Returns: the exit status.
    func change(
        _ tasks: [String], _ connection: DaemonConnection, _ change: Tasks.Change.Input,
        states: [Tasks.State] = [.queued]
    ) throws(Failure) -> Int32 {
        let finder = TaskFinder(connection, all: change.all, states: states)
        let chosen = try finder.find(tasks)
        return try each(of: chosen, connection, all: change.all) { id throws(Failure) in
            var input = change
            input.id = id
            console.show(try connection.call(Tasks.Change.self, input), "")
            if input.paused == false { PauseNote.tell(id, connection, console, all: input.all) }
        }
    }
}

/// Says that a task still waits for somebody, who may have forgotten it.
enum PauseNote {
    /// - Parameter all: whether it may be another user's.
    static func tell(
        _ id: Int, _ connection: DaemonConnection, _ console: Console, all: Bool? = nil
    ) {
        var input = Tasks.Show.Input()
        input.id = id
        input.all = all
        guard let task = try? connection.call(Tasks.Show.self, input).task, task.state == .queued
        else { return }
        switch task.waiting {
        case "pausedOwner":
            console.notice("all tasks of that user are paused; bgtaskctl resume --all-mine ends it")
        case "paused":
            let group = task.group ?? ""
            console.notice("group \(group) is paused; bgtaskctl group resume \(group) ends it")
        default: break
        }
    }
}
