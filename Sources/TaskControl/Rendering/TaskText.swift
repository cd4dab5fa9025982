package import TaskAPI

/// Shows what is known of a task, and what happens to tasks.
package enum TaskText {
    // MARK: A state

    /// The state, or that nothing ends it.
    private static func state(_ task: Tasks.Task) -> String {
        if task.stuck == true, task.outcome == nil { return "stuck" }
        let isStopped = task.paused == true && [.running, .dormant].contains(task.state)
        return isStopped ? "paused" : task.state.rawValue
    }

    /// The outcome, or the state.
    static func condition(_ task: Tasks.Task) -> String {
        task.outcome?.rawValue ?? state(task)
    }

    /// The colour of a task's state or outcome.
    static func colour(_ task: Tasks.Task) -> Style.Colour? {
        if let outcome = task.outcome { return colour(outcome) }
        return switch task.state {
        case .expiring: .yellow
        case .queued, .dormant: .grey
        case .running, .ended: nil
        }
    }

    /// The colour of an outcome.
    static func colour(_ outcome: Tasks.Outcome) -> Style.Colour {
        switch outcome {
        case .completed: .green
        case .failed, .overrun: .red
        case .expired, .cancelled, .abandoned, .interrupted: .yellow
        }
    }

    // MARK: All fields

    /// All that is known of a task: its fields, and a table of the attempts that are over.
    ///
    /// - Parameter submission: what it was submitted with, where that is known.
    static func story(
        _ task: Tasks.Task, _ submission: Tasks.ShowSubmission.Output? = nil, _ style: Style
    ) -> String {
        var fields = fields(task)
        if let submission { SubmissionText.add(submission, to: &fields) }
        let text = fields.text(style)
        guard let attempts = task.attempts, !attempts.isEmpty else { return text }
        return text + "\n" + AttemptText.table(attempts).text(style)
    }

    /// Every field of a task, in the order of the interface.
    package static func fields(_ task: Tasks.Task) -> Fields {
        var fields = Fields()
        fields.add("id", String(task.id))
        fields.add("name", task.name)
        fields.add("kind", task.kind.rawValue)
        fields.add("owner", String(task.owner))
        fields.add("application", task.application)
        fields.add("group", task.group)
        fields.add("priority", String(task.priority))
        fields.add("state", state(task), task.outcome == nil ? colour(task) : nil)
        fields.add("outcome", task.outcome?.rawValue, colour(task))
        fields.add("reason", task.reason)
        fields.add("profile", task.profile)
        fields.add("budget", TimeText.budget(task.budget))
        fields.add("remaining", task.remaining.map(TimeText.remaining))
        addUse(of: task, to: &fields)
        return fields
    }

    private static func addUse(of task: Tasks.Task, to fields: inout Fields) {
        fields.add("used", task.usedMs.map(TimeText.span))
        fields.add("age", TimeText.span(task.ageMs))
        if let ended = task.endedMs { fields.add("ended", WallClock.text(millisecondsAgo: ended)) }
        fields.add("attempt", AttemptText.count(task))
        fields.add("pid", task.pid.map(String.init))
        let isWoken = task.wake == true
        fields.add(
            "command",
            isWoken ? "(done by the application)" : task.command.map(CommandText.shown))
        fields.add("exit", task.exit.map(exit))
        fields.add("cpu", task.cpuMs.map(TimeText.span))
        fields.add("memory peak", task.memoryPeakBytes.map(SizeText.bytes))
        fields.add("progress", task.progress.map(ProgressText.full))
        fields.add("status", task.status)
        fields.add("waiting for", WaitingText.full(task))
        fields.add("not before", task.notBeforeMs.map { WallClock.text(millisecondsAgo: -$0) })
        fields.add("restart of", task.restartOf.map(String.init))
    }

    /// How a command ended.
    static func exit(_ exit: Tasks.Exit) -> String {
        if let signal = exit.signal { return "signal \(signal)" }
        return exit.status.map { "status \($0)" } ?? "unknown"
    }

    // MARK: Events

    /// One line for one event; of output one for each of its lines.
    package static func line(_ event: Tasks.Event, _ style: Style) -> String {
        guard event.kind == .output, let text = event.text, text.utf8.contains(0x0A) else {
            return plainLine(event, style)
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            var one = event
            one.text = String(line)
            return plainLine(one, style)
        }.joined()
    }

    private static func plainLine(_ event: Tasks.Event, _ style: Style) -> String {
        let task = event.task
        let detail = Table.Cell(detail(event))
        let name = Table.Cell(task.name)
        let kind = Table.Cell(event.kind.rawValue, colour(event))
        guard style.isTerminal else {
            return "\(task.id)\t\(kind.text)\t\(name.text)\t\(detail.text)\n"
        }
        let id = String(task.id)
        let before = String(repeating: " ", count: max(0, 5 - id.utf8.count))
        let after = String(repeating: " ", count: max(0, 8 - kind.text.utf8.count))
        return "\(before)\(id)  \(style.paint(kind.text, kind.colour))\(after)  \(name.text)"
            + (detail.text.isEmpty ? "\n" : "  \(detail.text)\n")
    }

    private static func colour(_ event: Tasks.Event) -> Style.Colour? {
        switch event.kind {
        case .expiring, .warning: .yellow
        case .ended: colour(event.task)
        case .output, .status: .grey
        default: nil
        }
    }

    private static func detail(_ event: Tasks.Event) -> String {
        let task = event.task
        switch event.kind {
        case .present: return present(task)
        case .queued: return task.waiting == nil ? "" : "waiting: \(WaitingText.short(task))"
        case .began: return joined(AttemptText.named(task), TimeText.budget(task.budget))
        case .extended, .resumed, .dormant:
            return task.remaining.map(TimeText.remaining) ?? ""
        case .expiring:
            let left = task.remaining?.hardMs.map { "\(TimeText.span($0)) left" }
            return joined(left, event.reason ?? task.reason)
        case .ended: return ended(task, event.reason)
        case .attempt: return AttemptText.over(task, event.reason)
        case .output: return joined(event.stream, event.text)
        case .status: return ProgressText.line(task) ?? ""
        case .warning: return joined(event.text, event.reason)
        }
    }

    private static func present(_ task: Tasks.Task) -> String {
        guard task.state != .ended else { return ended(task, nil) }
        if task.state == .queued, task.waiting != nil {
            return joined(task.state.rawValue, WaitingText.short(task))
        }
        let state = joined(task.state.rawValue, task.remaining.map(TimeText.remaining))
        return joined(state, ProgressText.line(task))
    }

    private static func ended(_ task: Tasks.Task, _ reason: String?) -> String {
        let outcome = task.outcome?.rawValue ?? "ended"
        let end = [task.exit.map(exit), AttemptText.named(task)].compactMap(\.self)
            .map { ", \($0)" }.joined()
        let used = task.usedMs.map { " after \(TimeText.span($0))" } ?? ""
        return joined("\(outcome)\(used)\(end)", reason ?? task.reason)
    }

    private static func joined(_ one: String?, _ other: String?) -> String {
        [one, other].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
