/// One rule that holds a task back, bounds it, or stopped it (rule 28 in docs/architecture.md).
package struct Explanation: Equatable, Sendable {
    /// The name of the rule: a setting, or the event that ended the task.
    package let rule: String
    package let text: String
    /// The rule's number, in the rule's unit.
    package let value: Int?
    /// When that can change, from now, where it is known.
    package let earliestChange: Duration?
}

extension BackgroundTaskRegistry {
    /// Why a task waits, how long it may go on, or why it was stopped.
    package func explain(
        _ id: TaskID, for caller: Caller, at now: Instant
    ) throws(Refusal) -> [Explanation] {
        let record = try record(id, for: caller)
        switch record.task.state {
        case .queued: return explainWaiting(id, for: caller, at: now)
        case .ended: return [explainEnd(record)]
        case .dormant:
            let text = "its application is in the foreground, where no time counts"
            return [Explanation(rule: "foreground", text: text, value: nil, earliestChange: nil)]
        case .running, .expiring:
            let limit = explainLimit(record.task, at: now)
            return record.run?.isStuck == true ? [BackgroundTaskRegistry.stuck, limit] : [limit]
        }
    }

    private static let stuck = Explanation(
        rule: "stuck",
        text:
            "its processes were killed and are still there; its slot is free for others, and it counts "
            + "in its user's share until they are gone",
        value: nil, earliestChange: nil)

    private func explainWaiting(
        _ id: TaskID, for caller: Caller, at now: Instant
    ) -> [Explanation] {
        pendingReasons(of: id).map { reason in
            let reading = reason.condition.flatMap { conditionReadings[$0] }
            return Explanation(
                rule: reason.rule, text: reading ?? reason.text, value: reason.value,
                earliestChange: earliestChange(of: reason, for: caller, at: now))
        }
    }

    private func earliestChange(
        of reason: PendingReason, for caller: Caller, at now: Instant
    ) -> Duration? {
        if let until = reason.until { return max(until - boot(at: now), .zero) }
        switch reason {
        case .slots: return earliestEnd(for: caller, at: now) { _ in true }
        case .groupSlots(_, let group):
            return earliestEnd(for: caller, at: now) { $0.queueing.group == group }
        default: return nil
        }
    }

    /// When a slot is free at the latest. When another's task ends is not the caller's to know.
    private func earliestEnd(
        for caller: Caller, at now: Instant, where isMeant: (RunTask) -> Bool
    ) -> Duration? {
        let ends = idsInSlots.compactMap { id -> Instant? in
            guard let record = record(id), let run = record.run, isMeant(run),
                caller.seesAll || record.task.owner == caller.owner
            else { return nil }
            return record.task.hardAt
        }
        return ends.filter { $0 != .never }.min().map { max($0 - now, .zero) }
    }

    private func explainLimit(_ task: BackgroundTask, at now: Instant) -> Explanation {
        guard task.hardAt != .never else {
            let text = "profile \(task.profile) sets no limit"
            return Explanation(rule: "profile", text: text, value: nil, earliestChange: nil)
        }
        let isRunning = task.state == .running
        let change = isRunning ? task.handlerAt : task.hardAt
        let text: String
        if let reason = task.reason {
            text = "\(reason.text); it is stopped at its hard limit"
        } else {
            text = "it is warned \(task.grace.text) before its limit"
        }
        let (rule, value): (String, Duration?) =
            switch task.bound {
            case .lifetimeLimit: ("lifetimeMax", task.lifetimeMax)
            case .applicationBackgroundTime: ("backgroundTime", nil)
            case .ownBudget, nil: ("budget", task.budget?.duration)
            }
        return Explanation(
            rule: rule,
            text: text,
            value: value?.wholeMilliseconds,
            earliestChange: max(change - now, .zero)
        )
    }

    /// Why an ended task ended as it did.
    package func explainEnd(_ record: TaskRecord) -> Explanation {
        let task = record.task
        let duration = task.budget?.duration.wholeMilliseconds
        // A warning that came for another reason than the time.
        let cause = task.reason.map { $0 == .budgetSpent ? "" : ": \($0.text)" } ?? ""
        let (rule, text, value): (String, String, Int?) =
            switch task.outcome {
            case .completed, nil: ("end", "it ended before its warning", nil)
            case .failed where record.task.reason?.isPredecessor == true:
                ("after", task.reason?.text ?? "", nil)
            case .failed: ("exit", record.run?.exit.map(\.text) ?? task.reason?.text ?? "", nil)
            case .expired:
                ("budget", "it ended after its warning, within its grace\(cause)", duration)
            case .overrun: ("budget", "it was still there at its hard limit\(cause)", duration)
            case .cancelled: ("cancel", task.reason?.text ?? "it was cancelled", nil)
            case .abandoned:
                ("holder", task.reason?.text ?? "the program that held it went away", nil)
            case .interrupted: ("shutdown", task.reason?.text ?? "the daemon stopped", nil)
            }
        return Explanation(rule: rule, text: text, value: value, earliestChange: nil)
    }
}

extension Reason {
    /// The reason in words, as they follow "because".
    package var text: String {
        switch self {
        case .budgetSpent: "its budget is spent"
        case .applicationTimeSpent: "its application's background time is spent"
        case .simulated: "an expiration was simulated"
        case .shutdown: "the daemon is stopping"
        case .daemonAway: "the daemon was away for longer than daemon.absenceMax"
        case .executorStop: "bgtask-executor is stopping"
        case .cancelled(let owner, let text):
            "cancelled by user \(owner)" + (text.map { ": \($0)" } ?? "")
        case .connectionClosed: "the connection that held it was closed"
        case .processExited: "the process that held it exited"
        case .notStarted(let text): text
        case .predecessor(let broken): broken.text
        case .queueLost: "the daemon stopped while it was queued"
        case .recorded(let text): text
        case .daemonLost: "the daemon or the machine went down"
        }
    }
}

extension Reason {
    fileprivate var isPredecessor: Bool {
        if case .predecessor = self { true } else { false }
    }
}

extension BrokenDependency {
    fileprivate var text: String {
        let end = outcome.map { "ended as \($0)" } ?? "ended, and how is not known any more"
        return "it was to start after task \(id) had completed, which \(end)"
    }
}

extension Duration {
    /// The duration in seconds, or in milliseconds where it is no whole number of them.
    fileprivate var text: String {
        let milliseconds = wholeMilliseconds
        return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}

extension ProcessExit {
    /// The exit in words.
    package var text: String {
        switch self {
        case .status(let status): "its command exited with status \(status)"
        case .signal(let signal): "its command was ended by signal \(signal.rawValue)"
        }
    }
}
