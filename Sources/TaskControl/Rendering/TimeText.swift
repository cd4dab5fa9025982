internal import Settings
package import TaskAPI

/// Shows times in a person's words.
package enum TimeText {
    /// A length of time, as exact as somebody wants to know who looks at it: `340ms`, `4.2s`, `2min 55s`,
    /// `1h 5min`, `3d 2h`.
    package static func span(_ milliseconds: Int) -> String {
        guard milliseconds > 0 else { return "0s" }
        if milliseconds < 100 { return "\(milliseconds)ms" }
        if milliseconds < 995 { return "\((milliseconds + 5) / 10)0ms" }
        if milliseconds < 9950 {
            let tenths = (milliseconds + 50) / 100
            return tenths % 10 == 0 ? "\(tenths / 10)s" : "\(tenths / 10).\(tenths % 10)s"
        }
        let seconds = milliseconds / 1000 + (milliseconds % 1000 >= 500 ? 1 : 0)
        let unit = seconds < 3600 ? 1 : seconds < 86400 ? 60 : 3600
        return TimeSpan.finite(.seconds(seconds / unit * unit)).description
    }

    /// A time that goes on or counts down before somebody's eyes, in whole seconds.
    static func countdown(_ milliseconds: Int) -> String {
        let seconds = max(0, milliseconds) / 1000 + (max(0, milliseconds) % 1000 > 0 ? 1 : 0)
        return span(min(seconds, .max / 1000) * 1000)
    }

    /// A budget: its limit, and when the handler fires.
    package static func budget(_ budget: Tasks.Budget?) -> String {
        guard let budget else { return "no limit" }
        let warning = span(budget.durationMs - budget.graceMs)
        return "\(span(budget.durationMs)) (warning at \(warning), grace \(span(budget.graceMs)))"
    }

    /// What a task has left, and what bounds it.
    package static func remaining(_ remaining: Tasks.Remaining) -> String {
        guard let hardMs = remaining.hardMs ?? remaining.ms else { return "no limit" }
        let bound = remaining.bound.map { " (\(words(for: $0)))" } ?? ""
        let limit = "\(span(hardMs)) until the limit\(bound)"
        guard let handlerMs = remaining.ms, handlerMs > 0 else {
            return "warned, \(limit)"
        }
        return "\(span(handlerMs)) until the warning, \(limit)"
    }

    /// What a task has left until its hard limit, for a table.
    package static func left(_ task: Tasks.Task) -> String {
        switch task.state {
        case .ended, .queued: return "-"
        case .dormant: return "dormant"
        case .running, .expiring: break
        }
        guard let remaining = task.remaining else { return "-" }
        return (remaining.hardMs ?? remaining.ms).map(span) ?? "no limit"
    }

    private static func words(for bound: Tasks.Bound) -> String {
        switch bound {
        case .ownBudget: "own budget"
        case .applicationBackgroundTime: "application's background time"
        case .lifetimeLimit: "lifetime limit"
        }
    }
}
