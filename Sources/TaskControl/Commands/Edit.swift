internal import ArgumentParser
internal import TaskAPI

/// Changes when queued tasks may run.
struct Edit: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Change when queued tasks may run.",
        usage: "bgtaskctl edit <task> ... [<options>]",
        discussion: """
            What is not named stays as it is. A task that has started cannot be changed.

            Example: bgtaskctl edit 42 --priority 10 --in 0s
            Example: bgtaskctl edit 42 43 --group none --when none
            """
    )

    @Argument(
        help: ArgumentHelp("The tasks, by number or name.", valueName: "task"), completion: .tasks)
    var tasks: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The new priority: -1000 to 1000.", valueName: "number"))
    var priority: Int?

    @Option(
        help: ArgumentHelp("The new group; none for no group.", valueName: "group"),
        completion: .groups)
    var group: String?

    @OptionGroup var start: StartOptions

    @Option(
        help: ArgumentHelp(
            "Run it only when this is so, and no other condition; may be repeated. none for nothing.",
            valueName: "condition"),
        completion: .list(ConditionWord.allCases.map(\.rawValue) + ["none"]))
    var when: [String] = []

    @Option(
        help: ArgumentHelp("How many slots it uses.", valueName: "count"))
    var slots: Int?

    @OptionGroup var reach: ReachOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard !tasks.isEmpty else { throw ValidationError("name a task") }
        if slots ?? 1 < 1 { throw ValidationError("--slots is a number from 1 on") }
        if let priority, !(-1000...1000).contains(priority) {
            throw ValidationError("--priority is a number from -1000 to 1000")
        }
        _ = try conditions()
    }

    private var isNothing: Bool {
        priority == nil && group == nil && start.milliseconds == nil && when.isEmpty
            && slots == nil
    }

    private func conditions() throws -> [Tasks.Condition]? {
        guard !when.isEmpty else { return nil }
        if when == ["none"] { return [] }
        return try when.map { text in
            guard let word = ConditionWord(rawValue: text) else {
                let known = ConditionWord.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("\"\(text)\" is no condition; there are \(known) and none")
            }
            return word.condition
        }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        // Not said before all of the line is understood.
        if isNothing {
            throw Failure(
                "say what is to be changed, such as --priority; see: bgtaskctl help edit",
                status: ExitStatus.usage)
        }
        let connection = try session.connect()
        var input = Tasks.Change.Input()
        input.all = reach.asked
        input.priority = priority
        input.group = group == "none" ? "" : group
        input.earliestBeginMs = start.milliseconds
        input.conditions = (try? conditions()) ?? nil
        input.slots = slots
        return try session.change(tasks, connection, input)
    }
}
