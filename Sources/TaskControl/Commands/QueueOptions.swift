internal import ArgumentParser
internal import TaskAPI

extension Tasks.Unique: ExpressibleByArgument {}

/// A condition on the command line.
enum ConditionWord: String, CaseIterable, ExpressibleByArgument {
    case network
    case externalPower = "external-power"
    case idle

    /// The condition as the interface has it.
    var condition: Tasks.Condition {
        switch self {
        case .network: .network
        case .externalPower: .externalPower
        case .idle: .idle
        }
    }
}

/// From when on a command may run.
struct StartOptions: ParsableArguments {
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("Do not start it before this much time has passed.", valueName: "span"),
        transform: SpanOption.delay)
    var earliestBegin: Int?

    @Option(
        help: ArgumentHelp(
            "Do not start it before this time, \(PointInTime.help).", valueName: "time"),
        transform: PointInTime.parse)
    var at: PointInTime?

    func validate() throws {
        guard at != nil else { return }
        guard earliestBegin == nil else { throw ValidationError("give --in or --at, not both") }
        _ = try wait()
    }

    /// How long that is from now; `nil` where it may run at once.
    var milliseconds: Int? {
        // A time that has come while this was read is no wait.
        (try? wait()) ?? earliestBegin ?? at.map { _ in 0 }
    }

    private func wait() throws -> Int? {
        guard let at else { return earliestBegin }
        guard let seconds = at.seconds(after: WallClock.seconds) else {
            throw ValidationError("there is no such day as that of --at")
        }
        guard seconds >= 0 else { throw ValidationError("the time of --at is over") }
        guard seconds <= Self.waitMax else {
            throw ValidationError("a task can be held back for 366 days at most")
        }
        return seconds * 1000
    }

    /// In seconds.
    private static let waitMax = 366 * 86400
}

/// Tasks in one argument, by number or name: `12`, or `12,backup`.
struct TaskWords {
    let words: [String]

    /// Reads them.
    static func parse(_ text: String) throws -> TaskWords {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for word in words {
            guard !word.isEmpty, Int(word) ?? 1 > 0 else {
                throw ValidationError("\"\(word)\" is no task; write them as 12 or 12,13 or backup")
            }
        }
        return TaskWords(words: words)
    }

    /// The numbers of all of them, each once; `nil` where there are none.
    ///
    /// - Throws: where a name has no task.
    static func numbers(
        of lists: [TaskWords], _ finder: TaskFinder
    ) throws(Failure) -> [Int]? {
        let words = lists.flatMap(\.words)
        guard !words.isEmpty else { return nil }
        var seen: Set<Int> = []
        var numbers: [Int] = []
        for chosen in try finder.find(words) {
            if let failure = chosen.failure { throw failure }
            if seen.insert(chosen.id).inserted { numbers.append(chosen.id) }
        }
        return numbers
    }
}

/// When a command may run.
struct QueueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Wait for a slot of this group; see bgtaskctl group list.", valueName: "group"),
        completion: .groups)
    var group: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Among your own tasks those with the higher number run first: -1000 to 1000, 0 if not given.",
            valueName: "number"))
    var priority: Int?

    @OptionGroup var start: StartOptions

    @Option(
        help: ArgumentHelp("Run it only when this is so; may be repeated.", valueName: "condition"))
    var when: [ConditionWord] = []

    @Option(
        help: ArgumentHelp(
            "Run it once these tasks have completed, such as 12,backup; it fails if one ends otherwise.",
            valueName: "tasks"),
        transform: TaskWords.parse)
    var after: [TaskWords] = []

    @Option(
        help: ArgumentHelp(
            "Run it once these tasks have ended, however they end.", valueName: "tasks"),
        transform: TaskWords.parse)
    var afterAny: [TaskWords] = []

    @Option(
        help: ArgumentHelp(
            "Use this many of the daemon's slots, and of the group's, instead of one.",
            valueName: "count"))
    var slots: Int?

    @Flag(help: "Do not start it before bgtaskctl resume.")
    var paused = false

    @Option(
        help: ArgumentHelp(
            "Do not start it sooner than this after the last success of that name.",
            valueName: "span"),
        transform: SpanOption.delay)
    var minimumInterval: Int?

    @Option(
        help: ArgumentHelp(
            "If a unique task of that name has not ended: keep that one, replace it, or replaceQueued: only if it has not started.",
            valueName: "which"))
    var unique: Tasks.Unique?

    @Option(
        help: ArgumentHelp(
            "Maximum number of attempts, 1 to 100, the first included.", valueName: "count"))
    var attempts: Int?

    @Option(
        help: ArgumentHelp(
            "Before the second attempt, 30s if not given; doubles up to 5h.", valueName: "span"),
        transform: SpanOption.delay)
    var retryDelay: Int?

    @Flag(help: "Try it again too if the daemon or the machine stopped while it ran.")
    var retryInterrupted = false

    private static let priorities = -1000...1000
    private static let attemptCounts = 1...100
    private static let retryDelayMax = 5 * 3_600_000

    func validate() throws {
        if let priority, !Self.priorities.contains(priority) {
            throw ValidationError("--priority is a number from -1000 to 1000")
        }
        if group?.isEmpty == true { throw ValidationError("the name of --group is empty") }
        if slots ?? 1 < 1 { throw ValidationError("--slots is a number from 1 on") }
        guard let attempts else {
            if retryDelay != nil { throw ValidationError("--retry-delay needs --attempts") }
            if retryInterrupted {
                throw ValidationError("--retry-interrupted needs --attempts")
            }
            return
        }
        guard Self.attemptCounts.contains(attempts) else {
            throw ValidationError("--attempts is a number from 1 to 100, the first included")
        }
        if retryDelay ?? 0 > Self.retryDelayMax {
            throw ValidationError("--retry-delay is 5h at most")
        }
    }

    /// Writes into a submission what is asked for.
    func apply(to work: inout Tasks.Work, _ connection: DaemonConnection) throws(Failure) {
        work.group = group
        work.priority = priority
        work.earliestBeginMs = start.milliseconds
        let conditions = ConditionWord.allCases.filter(when.contains).map(\.condition)
        work.conditions = conditions.isEmpty ? nil : conditions
        let finder = TaskFinder(connection, all: nil, includesEnded: true)
        work.after = try TaskWords.numbers(of: after, finder)
        work.afterAny = try TaskWords.numbers(of: afterAny, finder)
        work.slots = slots
        work.paused = paused ? true : nil
        work.minimumIntervalMs = minimumInterval
        work.unique = unique
        guard let attempts else { return }
        var retry = Tasks.Retry()
        retry.attempts = attempts
        retry.delayMs = retryDelay
        retry.onInterruption = retryInterrupted ? true : nil
        work.retry = retry
    }
}
