extension BackgroundTaskRegistry {
    /// Names the rule and the number that hold an application where it is, what is not enforced, and why it was
    /// last stopped (DESIGN.md rule 28).
    package func explain(
        _ key: ApplicationKey, at now: Instant
    ) throws(Refusal) -> [Explanation] {
        let application = try application(key)
        var explanations: [Explanation] = []
        if let run = application.run {
            explanations.append(explain(application, run, at: now))
            if let reason = run.freezeFailure {
                explanations.append(
                    Explanation(
                        "freeze", "it could not be frozen: \(reason)",
                        until: run.suspendAt, at: now))
            }
        } else {
            explanations.append(Explanation("notRunning", "it is not running"))
        }
        if let last = application.lastTermination {
            explanations.append(explain(last))
        }
        if !application.deferred.isEmpty {
            explanations.append(explainDeferred(application, at: now))
        }
        if application.registration.hasBackgroundMode, !hasBackgroundMode(key) {
            explanations.append(
                Explanation(
                    "unlimitedUsers",
                    "its background mode is ignored, since access.unlimitedUsers does not name its owner"
                ))
        }
        return explanations
    }

    private func explain(
        _ application: ManagedApplication, _ run: ApplicationRun, at now: Instant
    ) -> Explanation {
        switch run.phase {
        case .starting: return Explanation("launch", "its command is being started")
        case .adopting: return Explanation("adopt", "its processes are being taken over")
        case .ending, .recording:
            let text = run.verdict.map { "it is being ended: \($0.reason.text)" }
            return Explanation("end", text ?? "it is being ended", until: run.killAt, at: now)
        case .freezing: return Explanation("freeze", "its processes are being frozen")
        case .thawing: return Explanation("thaw", "its processes are being thawed")
        case .frozen:
            return Explanation("suspended", "it is frozen until it is activated or gets a message")
        case .running: break
        }
        switch application.state {
        case .active: return Explanation("foreground", "it is in front, where no time is spent")
        case .inactive:
            return Explanation("foreground", "it is in front, with something over it")
        default: return explainBackground(application, run, at: now)
        }
    }

    private func explainBackground(
        _ application: ManagedApplication, _ run: ApplicationRun, at now: Instant
    ) -> Explanation {
        if hasBackgroundMode(application.key) {
            return Explanation("backgroundMode", "it has a background mode and is not suspended")
        }
        if run.wouldBeSuspended {
            return Explanation("enforce", "it would be suspended, if that was enforced")
        }
        let count = taskCount(of: application.key)
        if count > 0 {
            return Explanation(
                "backgroundTime",
                "it holds tasks (\(count)); it is suspended when the last one has ended, and "
                    + "terminated when its background time is over",
                value: count, until: run.backgroundUntil, at: now)
        }
        if let due = run.deliveries.map(\.until).min() {
            return Explanation(
                "message", "it has a message that it has not finished with", until: due, at: now)
        }
        return Explanation(
            "suspendAfter", "it is suspended after the buffer",
            value: applicationRules.suspendAfter.wholeMilliseconds, until: run.suspendAt, at: now)
    }

    private func explain(_ last: Termination) -> Explanation {
        var text = "its last run ended: \(last.reason.text)"
        if !last.held.isEmpty {
            text += "; it held " + last.held.map { "\($0.name) (\($0.id))" }.joined(separator: ", ")
        }
        return Explanation("lastTermination", text, value: last.held.count)
    }

    private func explainDeferred(
        _ application: ManagedApplication, at now: Instant
    ) -> Explanation {
        let limit = applicationRules.messagesPerHourMax
        let due = application.wake(after: 0, perHourMax: limit)
        return Explanation(
            rule: "messagesPerHourMax",
            text: "silent messages wait (\(application.deferred.count))", value: limit,
            earliestChange: due.map { max($0 - boot(at: now), .zero) })
    }
}

extension Explanation {
    fileprivate init(
        _ rule: String, _ text: String, value: Int? = nil, until: Instant = .never,
        at now: Instant = .never
    ) {
        let change = until == .never ? nil : max(until - now, .zero)
        self.init(rule: rule, text: text, value: value, earliestChange: change)
    }
}
