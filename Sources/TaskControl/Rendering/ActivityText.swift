package import TaskAPI

/// What a command that takes long says of what it waits for.
package enum ActivityText {
    /// One task, as it was so long ago; `nil` where nothing is known of it.
    package static func task(_ id: Int, _ task: Tasks.Task?, millisecondsAgo: Int) -> String {
        guard let task else { return "waiting for task \(id)" }
        return "waiting for \(id) \(task.name): \(condition(task, millisecondsAgo))"
    }

    private static func condition(_ task: Tasks.Task, _ ago: Int) -> String {
        let state = TaskText.condition(task)
        switch task.state {
        case .queued:
            return task.waiting == nil ? state : "\(state): \(WaitingText.short(task))"
        case .running:
            let milliseconds = task.remaining?.hardMs ?? task.remaining?.ms
            return milliseconds.map { "\(state), \(left($0, ago)) left" } ?? state
        case .expiring:
            return task.remaining?.hardMs.map { "\(state), stopped in \(left($0, ago))" } ?? state
        case .dormant, .ended: return state
        }
    }

    /// In whole seconds, since it is told each second.
    private static func left(_ milliseconds: Int, _ ago: Int) -> String {
        let (left, overflow) = milliseconds.subtractingReportingOverflow(ago)
        return TimeText.span(overflow ? 0 : max(left, 0) / 1000 * 1000)
    }

    /// Several tasks, of which some have ended.
    package static func tasks(_ ids: [Int], endedCount: Int) -> String {
        let list = ids.dropFirst(endedCount).map(String.init).joined(separator: " ")
        return endedCount == 0
            ? "waiting for \(ids.count) tasks: \(list)"
            : "waiting, \(endedCount) of \(ids.count) tasks have ended: \(list)"
    }

    /// The first of several tasks to end.
    package static func first(of ids: [Int]) -> String {
        "waiting for the first of \(ids.count) tasks: "
            + ids.map(String.init).joined(separator: " ")
    }

    package static func history(count: Int) -> String {
        "reading the history: \(count) tasks so far"
    }

    /// An order about an application, by the name of its method.
    package static func order(_ method: String, about id: String, milliseconds: Int) -> String {
        var words = ""
        for letter in method.split(separator: ".").last ?? "" {
            words += letter.isUppercase && !words.isEmpty ? " " : ""
            words += letter.lowercased()
        }
        return "waiting for \(id): \(words), \(TimeText.span(milliseconds / 1000 * 1000)) so far"
    }

    /// The text on one line of a screen, whose last column stays free: there a terminal would begin another.
    package static func line(_ text: String, width: Int) -> String {
        TextWidth.cut(VisibleText.oneLine(text), to: max(width - 1, 0))
    }
}
