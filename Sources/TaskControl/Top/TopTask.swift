package import TaskAPI

/// A task as the live view knows it: what was last told of it, and when.
package struct TopTask {
    let told: Tasks.Task
    /// The name of its owner.
    let owner: String
    /// What a filter looks in: the number and names, in lower case.
    let sought: String
    /// What it does, in so many characters as can be seen.
    let doing: String
    /// When its limit comes, and when it began, on the clock of whoever asks; they stay as they are while what is told
    /// differs from them by no more than the way of an event takes, so that lines keep their places.
    private let limit: Int?
    private let beginning: Int
    private let toldAt: Int

    /// How much later than it was said something may be heard.
    private static let delayMax = 250
    /// How much of a name is looked in.
    private static let soughtMax = 256
    /// How many words of a command are looked at, and how much of each.
    private static let (wordsMax, wordMax) = (64, 256)

    /// - Parameters:
    ///   - before: what was known of it until now.
    ///   - now: milliseconds, on a clock that stands still while the machine sleeps.
    init(_ told: Tasks.Task, owner: String, after before: TopTask? = nil, at now: Int) {
        let told = told.bounded
        self.told = told
        self.owner = owner
        toldAt = now
        let limit = (told.remaining?.hardMs ?? told.remaining?.ms).map { now + $0 }
        let beginning = now - told.ageMs
        // When one begins that was queued, or goes on that stood still, they are others.
        let known = before.flatMap { TopTask.runs($0.told) == TopTask.runs(told) ? $0 : nil }
        // An end says nothing of it, and the line stays where it was.
        self.limit =
            told.state == .ended
            ? before?.limit : TopTask.steady(limit, after: known?.limit)
        self.beginning = TopTask.steady(beginning, after: known?.beginning) ?? beginning
        var short = told
        short.command = told.command?.prefix(TopTask.wordsMax).map {
            String($0.prefix(TopTask.wordMax))
        }
        doing = TaskColumn.doing(short) ?? ""
        sought = [String(told.id), told.name, owner, told.application ?? "", told.group ?? ""]
            .map { String($0.prefix(TopTask.soughtMax)).lowercased() }.joined(separator: "\n")
    }

    private static func runs(_ task: Tasks.Task) -> Bool {
        [.running, .expiring].contains(task.state)
    }

    private static func steady(_ time: Int?, after before: Int?) -> Int? {
        guard let time, let before, abs(time - before) <= delayMax else { return time }
        return before
    }

    var id: Int { told.id }
    var hasEnded: Bool { told.state == .ended }

    /// Whether it uses slots: a command that has begun. The dormant and the stuck do not.
    var slots: Int {
        guard told.kind == .run, [.running, .expiring].contains(told.state), told.stuck != true
        else { return 0 }
        return told.slots ?? 1
    }

    /// Whether something of it can change of which no event tells: what it waits for, and whether it is paused.
    var isToBeAskedFor: Bool { told.kind == .run && !hasEnded }

    /// What would be told of it now.
    package func task(at now: Int) -> Tasks.Task {
        var task = told
        let elapsed = max(0, now - toldAt)
        switch told.state {
        case .running, .expiring:
            task.ageMs = max(0, now - beginning)
            task.usedMs = told.usedMs.map { $0 + elapsed }
            let left = limit.map { max(0, $0 - now) }
            let grace = max(0, (told.remaining?.hardMs ?? 0) - (told.remaining?.ms ?? 0))
            if told.remaining?.hardMs != nil { task.remaining?.hardMs = left }
            if told.remaining?.ms != nil { task.remaining?.ms = left.map { max(0, $0 - grace) } }
        case .dormant: task.ageMs = max(0, now - beginning)
        case .queued:
            task.ageMs = max(0, now - beginning)
            task.notBeforeMs = told.notBeforeMs.map { max(0, $0 - elapsed) }
        case .ended: task.endedMs = told.endedMs.map { $0 + elapsed }
        }
        return task
    }

    // MARK: Order

    /// Where it stands in an order: before those that are greater.
    package struct Rank: Comparable {
        var phase = 0
        var number = 0
        var text = ""
        var id = 0

        package static func < (one: Rank, other: Rank) -> Bool {
            if one.phase != other.phase { return one.phase < other.phase }
            if one.number != other.number { return one.number < other.number }
            if one.text != other.text { return one.text < other.text }
            return one.id < other.id
        }
    }

    /// Where it stands in an order.
    package func rank(in order: TopOrder) -> Rank {
        switch order {
        case .left: leftRank
        case .age: Rank(number: beginning, id: id)
        case .name: Rank(text: told.name, id: id)
        case .user: Rank(text: owner, id: id)
        case .id: Rank(id: id)
        }
    }

    /// Those first whose limit comes first, then those that have none, then the queue as it stands.
    private var leftRank: Rank {
        switch told.state {
        case .expiring: Rank(phase: 0, number: limit ?? .max, id: id)
        case .running, .ended: Rank(phase: 1, number: limit ?? .max, id: id)
        case .dormant: Rank(phase: 2, id: id)
        case .queued: Rank(phase: 3, number: -told.priority, id: id)
        }
    }
}

/// The order of the lines.
package enum TopOrder: String, CaseIterable, Sendable {
    case left, age, name, user, id

    /// The one after it, and after the last the first.
    var next: TopOrder {
        let all = TopOrder.allCases
        return all.firstIndex(of: self).map { all[($0 + 1) % all.count] } ?? self
    }
}
