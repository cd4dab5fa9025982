extension ApplicationMachine {
    /// Names the rule and the number that hold an application where it is, what is not enforced, and why it was
    /// last stopped (rule 28 in docs/architecture.md).
    func explain(
        _ key: ApplicationKey, _ turn: ApplicationTurn
    ) throws(Refusal) -> [Explanation] {
        let application = try known(key)
        var explanations: [Explanation] = []
        if let run = application.run {
            explanations.append(explain(application, run, turn))
            if let until = run.performances.until {
                explanations.append(explain(run.performances, until, turn))
            }
            if let reason = run.freezeFailure {
                explanations.append(
                    Explanation(
                        "freeze", "it could not be frozen: \(reason)",
                        until: run.suspendAt, at: turn.now))
            }
        } else {
            explanations.append(Explanation("notRunning", "it is not running"))
        }
        if let last = application.lastTermination {
            explanations.append(explain(last))
        }
        if !application.deferred.isEmpty {
            explanations.append(explainDeferred(application, turn))
        }
        if application.registration.hasBackgroundMode, !hasBackgroundMode(key, turn) {
            explanations.append(
                Explanation(
                    "unlimitedUsers",
                    "its background mode is ignored, since access.unlimitedUsers does not name its user"
                ))
        }
        return explanations
    }

    private func explain(
        _ application: ManagedApplication, _ run: ApplicationRun, _ turn: ApplicationTurn
    ) -> Explanation {
        switch run.phase {
        case .starting: return Explanation("launch", "its command is being started")
        case .adopting: return Explanation("adopt", "its processes are being taken over")
        case .ending, .recording:
            let text = run.verdict.map { "it is being ended: \($0.reason.text)" }
            return Explanation(
                "end", text ?? "it is being ended", until: run.kill.due, at: turn.now)
        case .freezing: return Explanation("freeze", "its processes are being frozen")
        case .thawing: return Explanation("thaw", "its processes are being thawed")
        case .frozen:
            return Explanation(
                "suspended",
                "it is frozen until it is activated, gets a message or has a task to do")
        case .running: break
        }
        switch application.state {
        case .active: return Explanation("foreground", "it is in front, where no time counts")
        case .inactive:
            return Explanation("foreground", "it is in front, with something over it")
        case .notRunning, .background, .suspended:
            return explainBackground(application, run, turn)
        }
    }

    private func explain(
        _ performances: Performances, _ until: Instant, _ turn: ApplicationTurn
    ) -> Explanation {
        let named = performances.tasks.prefix(Self.namedMax).map { "\($0)" }
        let text = named.joined(separator: ", ") + (performances.count > Self.namedMax ? ", …" : "")
        return Explanation(
            "performTask", "it does tasks that were submitted for it: \(text)",
            value: performances.count, until: until, at: turn.now)
    }

    private static let namedMax = 10

    private func explainBackground(
        _ application: ManagedApplication, _ run: ApplicationRun, _ turn: ApplicationTurn
    ) -> Explanation {
        if hasBackgroundMode(application.key, turn) {
            return Explanation("backgroundMode", "it has a background mode and is not suspended")
        }
        if run.wouldBeSuspended {
            return Explanation(
                "enforce", "it would be suspended, but applications.enforce is false")
        }
        if !run.performances.isEmpty {
            return Explanation("background", "it is awake for what it has to do")
        }
        let count = taskCount(of: application.key)
        if count > 0 {
            return Explanation(
                "backgroundTime",
                "it holds tasks (\(count)); it is suspended when the last one has ended, and "
                    + "terminated when its background time is over",
                value: count, until: run.stay.until, at: turn.now)
        }
        if let due = run.deliveries.map(\.until).min() {
            return Explanation(
                "message", "it has a message that it has not finished with", until: due,
                at: turn.now)
        }
        return Explanation(
            "suspendAfter", "it has no task, and is suspended when suspendAfter is over",
            value: rules.suspendAfter.wholeMilliseconds, until: run.suspendAt, at: turn.now)
    }

    private func explain(_ last: Termination) -> Explanation {
        var text = "its last run ended: \(last.reason.text)"
        if !last.held.isEmpty {
            text += "; it held " + last.held.map { "\($0.name) (\($0.id))" }.joined(separator: ", ")
        }
        return Explanation("lastTermination", text, value: last.held.count)
    }

    private func explainDeferred(
        _ application: ManagedApplication, _ turn: ApplicationTurn
    ) -> Explanation {
        let limit = rules.messagesPerHourMax
        let due = application.silent.wake(after: 0, perHourMax: limit)
        return Explanation(
            rule: "messagesPerHourMax",
            text: "silent messages wait (\(application.deferred.count))", value: limit,
            earliestChange: due.map { max($0 - turn.boot, .zero) })
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
