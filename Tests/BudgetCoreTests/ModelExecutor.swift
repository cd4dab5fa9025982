import BudgetCore

/// A program that runs commands and gives them their time, as docs/executor.md describes it, but without processes.
struct ModelExecutor {
    /// What a command will do.
    struct Plan {
        var isStarted = true
        var startsAfter = Duration.zero
        var lasts = Duration.seconds(1)
        var status: Int32 = 0
        /// How long after a signal it ends; `nil`: it does not.
        var obeysAfter: Duration?
        /// How long the command of its handler runs; `nil`: it has none.
        var handlerLasts: Duration?
        /// Whether processes are left when the main one has ended.
        var leavesProcesses = false
    }

    struct Command {
        let attempt: Int
        let plan: Plan
        var words: [UInt64]
        var handlerAt: Instant
        var limitAt: Instant
        var startsAt: Instant
        var exitsAt = Instant.never
        var handlerExitsAt = Instant.never
        var hasStarted = false
        var hasFailed = false
        /// In the order in which a list tells them.
        var fired = 0
        var firedAt: Instant?
        var limitFiredAt: Instant?
        var exit: (exit: ProcessExit, moment: Instant)?
        var handlerExitedAt: Instant?
        var goneAt: Instant?

        var isOver: Bool { hasFailed || goneAt != nil }
        var hasMain: Bool { hasStarted && exit == nil }
        var handlerRuns: Bool { handlerExitsAt != .never }
    }

    struct Report {
        enum What {
            case started, notStarted, warned(count: Int), limitReached, exited(ProcessExit)
            case handlerExited, gone
        }

        let id: TaskID
        let attempt: Int
        let what: What
        let moment: Instant
    }

    enum Event: Int {
        case start, exit, handlerExit, handler, limit
    }

    private(set) var instance = ExecutorInstance(high: 1, low: 1)
    private(set) var commands: [TaskID: Command] = [:]
    /// On their way to the daemon.
    private(set) var reports: [Report] = []
    /// How often each attempt was started.
    private(set) var starts: [TaskID: [Int: Int]] = [:]
    /// What fires is told to whoever compares.
    private(set) var fires: [(id: TaskID, event: Event, moment: Instant)] = []

    // MARK: - Orders

    /// - Returns: whether it has no such command yet.
    mutating func start(
        _ id: TaskID, attempt: Int, _ deadlines: CommandDeadlines, _ plan: Plan, at now: Instant
    ) -> Bool {
        guard commands[id] == nil else { return false }
        commands[id] = Command(
            attempt: attempt, plan: plan, words: deadlines.notes.words,
            handlerAt: deadlines.handlerAt, limitAt: deadlines.limitAt,
            startsAt: now + plan.startsAfter)
        advance(to: now)
        return true
    }

    /// - Returns: whether it took them: `nil` where there is nothing any more, `false` where the handler has fired more
    ///   often than the daemon knows.
    mutating func setDeadlines(
        _ id: TaskID, _ deadlines: CommandDeadlines, firesNow: Bool, known: Int, at now: Instant
    ) -> Bool? {
        guard var command = commands[id], !command.isOver else { return nil }
        guard known == command.fired else { return false }
        // What is due already is done now.
        command.handlerAt = firesNow ? now : max(deadlines.handlerAt, now)
        if command.limitFiredAt != nil { command.handlerAt = .never }
        command.limitAt = max(deadlines.limitAt, now)
        command.words = deadlines.notes.words
        commands[id] = command
        advance(to: now)
        return true
    }

    mutating func signal(_ id: TaskID, at now: Instant) {
        guard let command = commands[id], command.hasMain, let wait = command.plan.obeysAfter
        else { return }
        commands[id]?.exitsAt = min(command.exitsAt, now + wait)
    }

    mutating func kill(_ id: TaskID, at now: Instant) {
        guard let command = commands[id], !command.isOver else { return }
        if !command.hasStarted { start(id, at: now) }
        if commands[id]?.exit == nil { exit(id, .signal(.kill), at: now) }
        if commands[id]?.handlerRuns == true { handlerExit(id, at: now) }
        gone(id, at: now)
    }

    mutating func forget(_ id: TaskID) {
        commands[id] = nil
        reports.removeAll { $0.id == id }
    }

    /// Another one has come in its place, and nothing is left.
    mutating func isLost() {
        commands = [:]
        reports = []
        instance = ExecutorInstance(high: 1, low: instance.low + 1)
    }

    // MARK: - What a daemon hears

    mutating func takeReport() -> Report? { reports.isEmpty ? nil : reports.removeFirst() }

    mutating func takeFires() -> [(id: TaskID, event: Event, moment: Instant)] {
        defer { fires = [] }
        return fires
    }

    /// Tells a new daemon of all that is not forgotten.
    mutating func list() -> [TaskID: FoundCommand] {
        reports = []
        for (id, command) in commands.sorted(by: { $0.key < $1.key }) { listReports(id, command) }
        return commands.mapValues { command in
            FoundCommand(
                attempt: command.attempt, processID: command.hasStarted ? .init(rawValue: 7) : nil,
                isRunning: command.hasStarted, handlerRuns: command.handlerRuns,
                notes: CommandNotes(words: command.words), handlerAt: command.handlerAt,
                limitAt: command.limitAt)
        }
    }

    private mutating func listReports(_ id: TaskID, _ command: Command) {
        func add(_ what: Report.What, _ moment: Instant?) {
            guard let moment else { return }
            reports.append(
                Report(id: id, attempt: command.attempt, what: what, moment: moment))
        }
        if command.hasFailed { add(.notStarted, command.startsAt) }
        add(.warned(count: command.fired), command.firedAt)
        add(.limitReached, command.limitFiredAt)
        if let exit = command.exit { add(.exited(exit.exit), exit.moment) }
        add(.handlerExited, command.handlerExitedAt)
        add(.gone, command.goneAt)
    }

    // MARK: - What comes about

    /// When something is due next; `never` where nothing is.
    var next: Instant { first?.at ?? .never }

    private var first: (at: Instant, id: TaskID, event: Event)? {
        var first: (at: Instant, id: TaskID, event: Event)?
        for (id, command) in commands where !command.isOver {
            let events: [(Instant, Event)] = [
                (command.hasStarted ? .never : command.startsAt, .start),
                (command.exit == nil ? command.exitsAt : .never, .exit),
                (command.handlerExitsAt, .handlerExit), (command.limitAt, .limit),
                (command.handlerAt, .handler),
            ]
            for (at, event) in events where at != .never {
                let key = (at, id, event.rawValue)
                if first.map({ key < ($0.at, $0.id, $0.event.rawValue) }) ?? true {
                    first = (at, id, event)
                }
            }
        }
        return first
    }

    mutating func advance(to now: Instant) {
        while let (at, id, event) = first, at <= now {
            switch event {
            case .start: start(id, at: at)
            case .exit: exit(id, .status(commands[id]?.plan.status ?? 0), at: at)
            case .handlerExit: handlerExit(id, at: at)
            case .limit: fireLimit(id, at: at)
            case .handler: fireHandler(id, at: at)
            }
        }
    }

    private mutating func report(_ id: TaskID, _ what: Report.What, at moment: Instant) {
        guard let attempt = commands[id]?.attempt else { return }
        reports.append(Report(id: id, attempt: attempt, what: what, moment: moment))
    }

    private mutating func start(_ id: TaskID, at now: Instant) {
        guard let command = commands[id] else { return }
        guard command.plan.isStarted else {
            commands[id]?.hasFailed = true
            return report(id, .notStarted, at: now)
        }
        commands[id]?.hasStarted = true
        commands[id]?.exitsAt = now + command.plan.lasts
        starts[id, default: [:]][command.attempt, default: 0] += 1
        report(id, .started, at: now)
    }

    private mutating func exit(_ id: TaskID, _ exit: ProcessExit, at now: Instant) {
        guard let command = commands[id], command.hasMain else { return }
        commands[id]?.exit = (exit, now)
        report(id, .exited(exit), at: now)
        if !command.handlerRuns, !command.plan.leavesProcesses { gone(id, at: now) }
    }

    private mutating func handlerExit(_ id: TaskID, at now: Instant) {
        guard let command = commands[id] else { return }
        commands[id]?.handlerExitsAt = .never
        commands[id]?.handlerExitedAt = now
        report(id, .handlerExited, at: now)
        if command.exit != nil, !command.plan.leavesProcesses { gone(id, at: now) }
    }

    private mutating func gone(_ id: TaskID, at now: Instant) {
        guard commands[id]?.hasStarted == true else { return }
        commands[id]?.goneAt = now
        report(id, .gone, at: now)
    }

    private mutating func fireHandler(_ id: TaskID, at now: Instant) {
        guard let command = commands[id] else { return }
        commands[id]?.handlerAt = .never
        commands[id]?.fired += 1
        commands[id]?.firedAt = now
        fires.append((id, .handler, now))
        report(id, .warned(count: command.fired + 1), at: now)
        signal(id, at: now)
        guard let lasts = command.plan.handlerLasts, !command.handlerRuns, command.exit == nil
        else { return }
        commands[id]?.handlerExitsAt = now + lasts
    }

    private mutating func fireLimit(_ id: TaskID, at now: Instant) {
        commands[id]?.limitAt = .never
        commands[id]?.handlerAt = .never
        if commands[id]?.limitFiredAt == nil {
            commands[id]?.limitFiredAt = now
            report(id, .limitReached, at: now)
        }
        fires.append((id, .limit, now))
        kill(id, at: now)
    }
}
