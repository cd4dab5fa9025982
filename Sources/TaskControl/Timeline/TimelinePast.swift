internal import TaskAPI

/// What the daemon tells of a span of time that ends now: from its history, and of what is there.
struct TimelinePast {
    /// When it was told, in milliseconds since 1970.
    let now: Int
    private let filter: FilterOptions
    /// How many milliseconds of the past are asked for.
    private let since: Int
    private var tasks: [Int: TimelineEntry] = [:]
    private var spans: [Applications.Span] = []

    init(_ filter: FilterOptions, since: Int) {
        now = WallClock.milliseconds
        self.filter = filter
        self.since = since
    }

    /// What is drawn that began before a moment so many milliseconds ago.
    func entries(until: Int?) -> [TimelineEntry] {
        let end = now - (until ?? 0)
        let runs = TimelineEntry.runs(of: spans, now: now)
        let times = ApplicationTimes(runs)
        let drawn = tasks.values.map(times.added) + (showsApplications ? runs : [])
        return drawn.filter { $0.begin <= end }
    }

    /// Whether applications have rows: not where only some of their tasks are asked for.
    private var showsApplications: Bool {
        filter.name == nil && filter.group == nil && filter.outcomes == nil
    }

    /// Reads all of it. A task that ends meanwhile is told as one that has ended, since that is asked for last.
    ///
    /// - Parameter json: where what is told is written as it comes, each task once; nothing is kept then.
    mutating func read(_ connection: DaemonConnection, json: Console?) throws(Failure) {
        var told: Set<Int> = []
        for input in [filter.outcomes == nil ? live : nil, ended].compactMap(\.self) {
            try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
                for task in [reply.task].compactMap(\.self) + (reply.tasks ?? []) {
                    add(task, json, &told)
                }
            }
        }
        try connection.stream(Tasks.History.self, history) { reply throws(Failure) in
            for task in [reply.task].compactMap(\.self) + (reply.tasks ?? []) {
                add(task, json, &told)
            }
        }
        try connection.stream(Applications.History.self, states) { reply throws(Failure) in
            for span in [reply.span].compactMap(\.self) + (reply.spans ?? []) {
                if let json {
                    if showsApplications { json.write(JSONLine.text(span)) }
                } else {
                    spans.append(span)
                }
            }
        }
    }

    private mutating func add(_ task: Tasks.Task, _ json: Console?, _ told: inout Set<Int>) {
        guard let json else {
            tasks[task.id] = TimelineEntry(task, now: now)
            return
        }
        if told.insert(task.id).inserted { json.write(JSONLine.text(task)) }
    }

    // MARK: What is asked

    private var live: Tasks.List.Input {
        var input = ended
        input.states = [.queued, .dormant, .running, .expiring]
        (input.ended, input.sinceMs) = (nil, nil)
        return input
    }

    private var ended: Tasks.List.Input {
        var input = Tasks.List.Input()
        input.states = [.ended]
        (input.ended, input.attempts, input.all) = (true, true, filter.allUsers)
        (input.name, input.application, input.group) =
            (filter.name, filter.application, filter.group)
        (input.outcomes, input.sinceMs) = (filter.outcomes, since)
        return input
    }

    private var history: Tasks.History.Input {
        var input = filter.history
        (input.attempts, input.sinceMs) = (true, since)
        return input
    }

    private var states: Applications.History.Input {
        var input = Applications.History.Input()
        (input.id, input.sinceMs, input.all) = (filter.application, since, filter.allUsers)
        return input
    }
}

/// When the applications of a timeline were frozen, and in front.
package struct ApplicationTimes {
    private let spans: [Key: [TimelineSpan]]

    private struct Key: Hashable {
        let owner: Int
        let application: String
    }

    package init(_ runs: [TimelineEntry]) {
        spans = Dictionary(grouping: runs) { Key(owner: $0.owner, application: $0.name) }
            .mapValues { runs in
                runs.flatMap(\.spans).compactMap(Self.inTasks).sorted { $0.begin < $1.begin }
            }
    }

    /// What a span of an application means to its tasks; `nil` where they just run.
    private static func inTasks(_ span: TimelineSpan) -> TimelineSpan? {
        switch span.kind {
        case .frozen: span
        case .foreground: TimelineSpan(.dormant, span.begin, span.end)
        case .waiting, .unknown, .running, .grace, .dormant, .background: nil
        }
    }

    /// A task with these times in it.
    package func added(to task: TimelineEntry) -> TimelineEntry {
        guard let application = task.application,
            let times = spans[Key(owner: task.owner, application: application)]
        else { return task }
        return task.overlaid(with: task.sharesTime ? times : times.filter { $0.kind == .frozen })
    }
}
