internal import ArgumentParser
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

extension TopOrder: ExpressibleByArgument {}

/// Shows what runs, waits and stands still, and goes on showing it.
struct Top: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Watch what runs, waits and is frozen, in the terminal.",
        discussion: """
            One line a task, with a bar of its budget; below, what the chosen one prints. The key ? names the \
            keys, q quits. If input or output is no terminal, or with --json, it is shown once.

            Example: bgtaskctl top
            Example: watch bgtaskctl top --sort age
            """
    )

    @Flag(help: "Tasks of all users; for root and the group of operators.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "Only tasks that have this in their number, or in a name of theirs or their user's, application's or group's.",
            valueName: "text"), completion: .taskNames)
    var filter: String?

    @Option(
        help: ArgumentHelp("Order by what is left, age, name, user or id.", valueName: "order"))
    var sort = TopOrder.left

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let isInteractive =
            !session.console.isJSON && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
            && Surroundings.value("TERM") ?? "dumb" != "dumb"
        guard isInteractive else { return try showOnce(session) }
        let feed = try TopFeed(session, isOfEverybody: all, at: TopLoop.now)
        try checkReach(session)
        let signals = try SignalInbox(TopLoop.signals, terminal: STDOUT_FILENO)
        guard let screen = CursesScreen(isColoured: Screen.standardOutput?.isColoured == true)
        else {
            return try showOnce(session)
        }
        var loop = TopLoop(model(screen.size), feed, session, screen, signals)
        let number = loop.run()
        screen.leave()
        if let number { SignalInbox.die(of: number) }
        return 0
    }

    private func model(_ size: TopSize) -> TopModel {
        TopModel(
            size: size, order: sort, filter: filter ?? "", isOfEverybody: all,
            users: UserNames().name)
    }

    /// Makes sure that a daemon is there that tells this user what is asked for, before the screen is another.
    private func checkReach(_ session: Session) throws(Failure) {
        var input = Tasks.List.Input()
        input.all = all ? true : nil
        // Of no task, for the answer alone.
        input.name = ""
        _ = try session.connect().call(Tasks.List.self, input)
    }

    // MARK: Once

    private func showOnce(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        let console = session.console
        var input = Tasks.List.Input()
        input.all = all ? true : nil
        var tasks: [Tasks.Task] = []
        try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
            tasks += [reply.task].compactMap(\.self) + (reply.tasks ?? [])
        }
        let now = TopLoop.now
        var model = model(TopSize(width: Top.width, height: nil))
        _ = model.handle(.listed(tasks), at: now)
        model.arrange()
        guard !console.isJSON else {
            for task in model.list.rows.compactMap({ model.list[$0]?.told }) {
                console.write(JSONLine.text(task))
            }
            return 0
        }
        var ofApplications = Applications.List.Input()
        ofApplications.all = input.all
        let applications = try connection.call(Applications.List.self, ofApplications).applications
        for event: TopModel.Event in [
            .grouped(try connection.call(Tasks.Groups.self, Empty())), .appeared(applications),
            .measured(MemoryPressure.now()),
        ] {
            _ = model.handle(event, at: now)
        }
        for line in TopLayout(model, at: now).snapshot() { console.write(line.text + "\n") }
        return 0
    }

    /// How wide a snapshot is: as the terminal, or as whoever reads it says (watch(1) does).
    private static var width: Int {
        let asked = Surroundings.value("COLUMNS").flatMap { Int($0) } ?? usualWidth
        return Screen.standardOutput?.width ?? min(max(asked, 20), 1000)
    }

    private static let usualWidth = 132
}
