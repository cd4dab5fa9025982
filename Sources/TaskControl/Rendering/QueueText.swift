package import TaskAPI

/// Says why a queued task waits.
package enum WaitingText {
    /// The rules in a person's words; what is not here is shown by its name.
    private static let words: [String: String] = [
        "store": "disk", "shutdown": "shutdown", "paused": "paused", "earliestBegin": "time",
        "retry": "retry", "network": "network", "externalPower": "external power", "idle": "idle",
        "minimumInterval": "interval", "unique": "same name", "tasksPerOwnerMax": "owner's limit",
        "slotsPerOwnerMax": "owner's slots", "shortage": "no room",
        "after": "other tasks", "pausedTask": "paused", "pausedOwner": "all paused",
        "changing": "starting",
        "groupSlots": "group's slots", "slots": "slots", "starting": "starting",
    ]

    /// Those that hold for a known time.
    private static let timed: Set<String> = [
        "earliestBegin", "retry", "minimumInterval", "shortage",
    ]

    /// For a table: `interval, 9min 41s`, or nothing where it does not wait.
    package static func short(_ task: Tasks.Task) -> String {
        guard task.state == .queued, let rule = task.waiting else { return Table.nothing }
        if rule == "after", let first = task.after?.first {
            let others = (task.after?.count ?? 1) - 1
            return "after \(first)" + (others > 0 ? " and \(others) more" : "")
        }
        let word = words[rule] ?? rule
        guard timed.contains(rule), let time = task.notBeforeMs.map(TimeText.span) else {
            return word
        }
        return rule == "earliestBegin" ? "in \(time)" : "\(word), \(time)"
    }

    /// With the rule by the name that explain has for it: `minimumInterval, for 9min 41s at least`.
    static func full(_ task: Tasks.Task) -> String? {
        guard let rule = task.waiting else { return nil }
        guard let time = task.notBeforeMs.map(TimeText.span) else { return rule }
        return "\(rule), for \(time) at least"
    }
}

/// Shows the attempts of a task that is tried again.
enum AttemptText {
    /// Which attempt a task is in: `2 of 3`.
    static func count(_ task: Tasks.Task) -> String {
        count(task.attempt, of: task)
    }

    private static func count(_ attempt: Int, of task: Tasks.Task) -> String {
        String(attempt) + (task.attemptsMax.map { " of \($0)" } ?? "")
    }

    /// `attempt 2 of 3` for a task that is tried again; `nil` for others.
    static func named(_ task: Tasks.Task) -> String? {
        guard task.attempt > 1 || task.attemptsMax ?? 1 > 1 else { return nil }
        return "attempt \(count(task))"
    }

    /// The attempts that are over.
    static func table(_ attempts: [Tasks.Attempt]) -> Table {
        Table(
            columns: [
                .init("ATTEMPT", isRight: true), .init("OUTCOME"), .init("EXIT"), .init("ENDED"),
                .init("USED", isRight: true), .init("REASON", widthMin: 8),
            ],
            rows: attempts.map { attempt in
                [
                    Table.Cell(String(attempt.attempt)),
                    Table.Cell(attempt.outcome.rawValue, TaskText.colour(attempt.outcome)),
                    Table.Cell(attempt.exit.map(TaskText.exit) ?? Table.nothing),
                    Table.Cell(WallClock.text(millisecondsAgo: attempt.endedMs)),
                    Table.Cell(attempt.usedMs.map(TimeText.span) ?? Table.nothing),
                    Table.Cell(attempt.reason ?? Table.nothing),
                ]
            })
    }

    /// The end of an attempt that another follows: `attempt 1 of 3 failed (status 1); next in 30s`.
    static func over(_ task: Tasks.Task, _ reason: String?) -> String {
        let next = task.notBeforeMs.map { "; next in \(TimeText.span($0))" } ?? ""
        guard let last = task.attempts?.last else {
            let because = reason.map { ": \($0)" } ?? ""
            return "attempt \(count(max(task.attempt - 1, 1), of: task)) is over\(because)\(next)"
        }
        return "attempt \(count(last.attempt, of: task)) \(end(of: last, reason))\(next)"
    }

    private static func end(of attempt: Tasks.Attempt, _ reason: String?) -> String {
        let why = attempt.reason ?? reason
        switch attempt.outcome {
        case .overrun: return "overran its limit"
        case .failed:
            return "failed" + ((attempt.exit.map(TaskText.exit) ?? why).map { " (\($0))" } ?? "")
        case .cancelled, .abandoned, .interrupted:
            return "was \(attempt.outcome.rawValue)" + (why.map { " (\($0))" } ?? "")
        case .completed, .expired: return attempt.outcome.rawValue
        }
    }
}

/// Shows the groups of the queue.
package enum GroupText {
    package static func table(_ groups: [Tasks.Group]) -> Table {
        Table(
            columns: [
                .init("GROUP", widthMin: 12), .init("SLOTS", isRight: true),
                .init("RUNNING", isRight: true), .init("QUEUED", isRight: true), .init("STATE"),
            ],
            rows: groups.map { group in
                let numbers = [group.slots, group.running, group.queued]
                let state =
                    group.paused ? Table.Cell("paused", .yellow) : Table.Cell("open", .green)
                return [Table.Cell(group.name)] + numbers.map { Table.Cell(String($0)) } + [state]
            })
    }

    /// What an order has done, for a person; a script knows by the exit status.
    package static func ordered(_ name: String, isPaused: Bool, _ style: Style) -> String {
        guard style.isTerminal else { return "" }
        return "\(VisibleText.oneLine(name)) \(isPaused ? "is paused" : "goes on")\n"
    }
}
