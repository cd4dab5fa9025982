package import TaskAPI

/// Tells how a run of an application ended.
package enum TerminationText {
    /// For a table: `memoryPressure, 3min ago`.
    static func short(_ end: Applications.Termination) -> String {
        "\(end.reason.rawValue), \(ago(end))"
    }

    /// The whole story on one line: how, when and why it ended, and each task that it still held.
    package static func story(_ end: Applications.Termination) -> String {
        var text = "\(verb(end.reason)) \(ago(end))\(exit(end))\(why(end.reason))"
        if let away = end.backgroundMs {
            text += "; it had been in the background for \(TimeText.span(away))"
        }
        guard !end.held.isEmpty else { return text }
        let count = end.held.count == 1 ? "1 task" : "\(end.held.count) tasks"
        return "\(text); it still held \(count): \(end.held.map(held).joined(separator: ", "))"
    }

    private static func verb(_ reason: Applications.TerminationReason) -> String {
        switch reason {
        case .exited, .exitsOnSuspend: "ended"
        case .crashed: "crashed"
        case .interrupted: "interrupted"
        case .terminated, .memoryPressure, .backgroundTimeOverrun, .messageOverrun, .taskOverrun:
            "terminated"
        }
    }

    private static func why(_ reason: Applications.TerminationReason) -> String {
        switch reason {
        case .exited: ", by itself"
        case .crashed: ""
        case .terminated: ", by order"
        case .memoryPressure: ", because memory was short while it was suspended"
        case .backgroundTimeOverrun: ", because its background time was over"
        case .messageOverrun: ", because it did not finish with a silent message in time"
        case .taskOverrun: ", because it was not done in time with a task that it was woken for"
        case .exitsOnSuspend: ", because it ends when another would be suspended"
        case .interrupted: ", because the daemon or the machine stopped"
        }
    }

    private static func ago(_ end: Applications.Termination) -> String {
        "\(TimeText.span(end.agoMs)) ago"
    }

    private static func exit(_ end: Applications.Termination) -> String {
        if let signal = end.signal { return " (signal \(signal))" }
        return end.status.map { " (status \($0))" } ?? ""
    }

    /// `upload (id 17, 2min 58s old, budget 3min, grace 5s)`.
    private static func held(_ task: Applications.HeldTask) -> String {
        let age = "id \(task.id), \(TimeText.span(task.ageMs)) old"
        guard let duration = task.durationMs else { return "\(task.name) (\(age), no limit)" }
        let grace = task.graceMs.map { ", grace \(TimeText.span($0))" } ?? ""
        return "\(task.name) (\(age), budget \(TimeText.span(duration))\(grace))"
    }
}

/// Says what became of a message.
package enum ReceiptText {
    package static func line(_ reply: Applications.Push.Output) -> String {
        switch reply.receipt {
        case .delivered: "delivered" + (reply.callback.map { ": \($0.rawValue)" } ?? "") + "\n"
        case .deferred:
            "deferred" + (reply.notBeforeMs.map { ": not before \(TimeText.span($0))" } ?? "")
                + "\n"
        case .dropped:
            "dropped: it has no callback for this message, or none is called in its state\n"
        }
    }
}
