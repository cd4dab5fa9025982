internal import ArgumentParser
internal import Settings
package import TaskAPI

/// What a list can show of a task.
///
/// The raw value is the column's name on the command line.
package enum TaskColumn: String, CaseIterable, Sendable {
    case id, user, owner, name, state, outcome, waiting, left, used, age, ended, exit, command,
        status, application, group, priority, kind, profile, budget, attempt, pid, cpu, memory,
        reason

    /// The names of all columns, as they are listed for a person.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Finds a column by its name.
    ///
    /// - Throws: a line that names the nearest one and all that there are.
    static func named(_ name: some StringProtocol) throws -> TaskColumn {
        if let column = TaskColumn(rawValue: name.lowercased()) { return column }
        let hint = Spelling.hint(for: String(name), among: allCases.map(\.rawValue))
        let shown = VisibleText.oneLine(String(name))
        let all = hint.isEmpty ? "; there are: \(names)" : "\(hint) There are: \(names)"
        throw ValidationError("there is no column \"\(shown)\"\(all)")
    }

    // MARK: A table

    /// The column of a table.
    ///
    /// - Parameter isChosen: whether somebody asked for it, so that it is there also where it is empty.
    func column(isChosen: Bool) -> Table.Column {
        Table.Column(
            rawValue.uppercased(), isRight: isNumber, widthMin: widthMin,
            isOptional: !isChosen && isOptional)
    }

    private var isNumber: Bool {
        switch self {
        case .id, .owner, .left, .used, .age, .priority, .budget, .pid, .cpu, .memory: true
        default: false
        }
    }

    private var widthMin: Int? {
        switch self {
        case .user: 6
        case .name, .state, .waiting, .command, .status, .application, .group, .reason: 8
        default: nil
        }
    }

    private var isOptional: Bool {
        switch self {
        case .left, .ended, .exit, .waiting, .status: true
        default: false
        }
    }

    /// What it says of a task.
    package func text(_ task: Tasks.Task, _ reader: Reader) -> String {
        let text: String? =
            switch self {
            case .id: String(task.id)
            case .user: reader.users(task.owner)
            case .owner: String(task.owner)
            case .name: task.name
            case .state: reader.tellsWaiting ? Self.condition(task) : TaskText.condition(task)
            case .outcome: task.outcome?.rawValue
            case .command: Self.doing(task)
            case .status: ProgressText.line(task)
            case .application: task.application
            case .group: task.group
            case .priority: String(task.priority)
            case .kind: task.kind.rawValue
            case .profile: task.profile
            case .pid: task.pid.map(String.init)
            case .memory: task.memoryPeakBytes.map(SizeText.bytes)
            case .reason: task.reason
            case .attempt: AttemptText.count(task)
            case .exit: task.state == .ended ? task.exit.map(Self.brief) : nil
            case .waiting: WaitingText.short(task)
            case .left, .used, .age, .ended, .budget, .cpu: time(task, reader)
            }
        return text ?? Table.nothing
    }

    private func time(_ task: Tasks.Task, _ reader: Reader) -> String? {
        switch self {
        case .left: TimeText.left(task)
        case .used: task.usedMs.map(TimeText.span)
        case .age: TimeText.span(task.ageMs)
        case .ended:
            task.endedMs.map {
                reader.isPerson
                    ? WallClock.brief(millisecondsAgo: $0) : WallClock.text(millisecondsAgo: $0)
            }
        case .budget: task.budget.map { TimeText.span($0.durationMs) } ?? "no limit"
        case .cpu: task.cpuMs.map(TimeText.span)
        default: nil
        }
    }

    /// The outcome, or the state and what it waits for.
    private static func condition(_ task: Tasks.Task) -> String {
        let waiting = WaitingText.short(task)
        let condition = TaskText.condition(task)
        return waiting == Table.nothing ? condition : "\(condition): \(waiting)"
    }

    private static func brief(_ exit: Tasks.Exit) -> String {
        exit.signal ?? exit.status.map(String.init) ?? Table.nothing
    }

    /// What a task does: its command, or who does it.
    static func doing(_ task: Tasks.Task) -> String? {
        if let command = task.command { return CommandText.shown(command) }
        if task.wake == true { return "(done by application \(task.application ?? ""))" }
        guard task.kind == .held else { return nil }
        return task.pid.map { "(held by process \($0))" } ?? "(held)"
    }

    /// Whom a table is for.
    package struct Reader {
        /// A person, who wants to know the time of day of what was today; a script gets all dates alike.
        var isPerson = false
        /// Whether the state says too what a task waits for.
        var tellsWaiting = false
        /// The name of a user.
        var users: (Int) -> String = { String($0) }

        package init(
            isPerson: Bool = false, tellsWaiting: Bool = false,
            users: @escaping (Int) -> String = { String($0) }
        ) {
            self.isPerson = isPerson
            self.tellsWaiting = tellsWaiting
            self.users = users
        }
    }

    // MARK: An order

    /// What tasks are ordered by in this column; what has nothing to say comes last.
    package enum Rank: Comparable {
        case number(Int)
        case text(String)
    }

    /// What decides in this column where a task stands; `nil` where it has nothing to say.
    package func rank(_ task: Tasks.Task, users: @escaping (Int) -> String) -> Rank? {
        switch self {
        case .id: .number(task.id)
        case .owner: .number(task.owner)
        case .priority: .number(task.priority)
        case .attempt: .number(task.attempt)
        case .age: .number(task.ageMs)
        case .left: task.state == .ended || task.state == .queued ? nil : left(task)
        case .state: .number(Self.place(of: task))
        case .used: task.usedMs.map(Rank.number)
        // The later an end was, the less time has passed since.
        case .ended: task.endedMs.map { Rank.number(-$0) }
        case .budget: task.budget.map { Rank.number($0.durationMs) }
        case .pid: task.pid.map(Rank.number)
        case .cpu: task.cpuMs.map(Rank.number)
        case .memory: task.memoryPeakBytes.map(Rank.number)
        case .exit: task.exit?.status.map(Rank.number) ?? task.exit?.signal.map(Rank.text)
        case .user, .name, .outcome, .waiting, .command, .status, .application, .group, .kind,
            .profile, .reason:
            word(task, users)
        }
    }

    private func word(_ task: Tasks.Task, _ users: @escaping (Int) -> String) -> Rank? {
        let text = text(task, Reader(users: users))
        return text == Table.nothing ? nil : .text(text)
    }

    private func left(_ task: Tasks.Task) -> Rank? {
        (task.remaining?.hardMs ?? task.remaining?.ms).map(Rank.number)
    }

    /// In the order of a task's life, and of the outcomes.
    private static func place(of task: Tasks.Task) -> Int {
        let states = Tasks.State.allCases
        guard let outcome = task.outcome else { return states.firstIndex(of: task.state) ?? 0 }
        return states.count + (Tasks.Outcome.allCases.firstIndex(of: outcome) ?? 0)
    }
}

/// Which columns a list shows, and in which order.
package struct ColumnChoice: Equatable {
    let columns: [TaskColumn]

    /// Reads names divided by commas.
    package static func parse(_ text: String) throws -> ColumnChoice {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        return ColumnChoice(columns: try names.map { try TaskColumn.named($0) })
    }
}

/// The order of a list.
package struct TaskOrder: Equatable {
    let keys: [Key]

    /// One column that decides, where those before it leave it open.
    struct Key: Equatable {
        let column: TaskColumn
        var isDescending = false

        /// Whether one rank stands before another; `nil` where they are equal.
        func isBefore(_ one: TaskColumn.Rank?, _ other: TaskColumn.Rank?) -> Bool? {
            guard one != other else { return nil }
            guard let one else { return false }
            guard let other else { return true }
            return isDescending ? one > other : one < other
        }
    }

    /// Reads names of columns divided by commas, each with a `-` before it where it is descending.
    package static func parse(_ text: String) throws -> TaskOrder {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        return TaskOrder(
            keys: try names.map { name in
                let isDescending = name.hasPrefix("-")
                let column = try TaskColumn.named(isDescending ? name.dropFirst() : name)
                return Key(column: column, isDescending: isDescending)
            })
    }

    /// The tasks in this order; those that are equal in it stay as they are.
    ///
    /// - Parameter users: the name of a user.
    package func sorted(
        _ tasks: [Tasks.Task], users: @escaping (Int) -> String
    ) -> [Tasks.Task] {
        let ranked = tasks.enumerated().map { index, task in
            (index, keys.map { $0.column.rank(task, users: users) })
        }
        let order = ranked.sorted { one, other in
            for (key, ranks) in zip(keys, zip(one.1, other.1)) {
                if let isBefore = key.isBefore(ranks.0, ranks.1) { return isBefore }
            }
            return one.0 < other.0
        }
        return order.map { tasks[$0.0] }
    }
}
