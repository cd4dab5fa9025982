internal import TaskAPI

/// Words for limits and parameters that the daemon names.
package enum LimitText {
    /// Limits and rules whose value is a time in milliseconds.
    private static let times: Set<String> = [
        "budget", "lifetimeMax", "backgroundTime", "minimumInterval", "earliestBegin",
        "warnAfter", "suspendAfter", "messageTime",
    ]

    private static let advice: [String: String] = [
        "tasksPerOwnerMax": "end or cancel some first",
        "argumentsMax": "put the arguments into a file",
        "environmentVariablesMax": "put the variables into a file",
        "workBytesMax": "put the data of the command or its environment into a file",
        "workBytesPerOwnerMax": "try again when some of your tasks have run",
        "registrationBytesMax": "put the data of the command or its environment into a file",
        "registrationBytesPerOwnerMax": "unregister some first",
        "payloadBytesMax": "give a shorter --payload",
        "lifetimeMax": "give a shorter --budget, or a --profile with a longer one",
        "backgroundTime": "it is whole again when the application enters the background next",
        "nameBytesMax": "give a shorter --name",
        "applicationsPerOwnerMax": "unregister some first",
        "queueDepthMax": "try again when some have run",
        "queueDepthPerOwnerMax": "try again when some have run",
        "inputBytesMax": "put it in a file that the command opens",
        "followersMax": "no more tasks can come after that one",
        "predecessorsMax": "name fewer tasks",
        "slots": "no task can use more slots than there are",
        "groupSlots": "no task can use more slots than its group has",
        "slotsPerOwnerMax": "no task can use more slots than its user may have",
        "rulesPerNameMax":
            "use the same group, conditions and interval as other tasks of the name, or another name",
    ]

    /// The options that set a parameter, by the last part of its path.
    private static let options: [String: String] = [
        "name": "--name", "durationMs": "--budget", "graceMs": "--grace", "profile": "--profile",
        "application": "--application", "directory": "--directory", "environment": "--env",
        "signal": "--on-expiry", "pid": "--pid", "group": "--group", "sinceMs": "--since",
        "timeoutMs": "--timeout", "reason": "--reason", "priority": "--priority",
        "earliestBeginMs": "--in", "conditions": "--when", "after": "--after",
        "afterAny": "--after-any", "slots": "--slots", "input": "--input",
        "minimumIntervalMs": "--minimum-interval", "unique": "--unique",
        "attempts": "--attempts", "delayMs": "--retry-delay", "handles": "--handles",
        "exitsOnSuspend": "--exits-on-suspend", "backgroundMode": "--background-mode",
        "completed": "--completed", "total": "--total", "payload": "--payload", "badge": "--badge",
        "count": "--count",
    ]

    /// The words for parameters that no option sets.
    private static let subjects = ["command": "the command", "id": "an application's id"]

    /// The line for a parameter that the daemon refuses.
    ///
    /// - Parameter reason: what the daemon says of it.
    static func line(forParameter path: String, _ reason: String?) -> String {
        if let known = ParameterRule(for: path) {
            let subject = options[known.name] ?? subjects[known.name] ?? path
            return "\(subject) \(known.text)"
        }
        let refused = "bgtaskd does not accept \(path)\(option(for: path))"
        guard let reason else {
            return refused + "; is it older than bgtaskctl, which is \(Version.current)?"
        }
        return refused + ": it \(reason)"
    }

    /// The value of a limit or rule, in its unit.
    static func amount(_ limit: String, _ value: Int) -> String {
        times.contains(limit) ? TimeText.span(value) : String(value)
    }

    /// Limits of one call or task: it asks for more than they allow, however many others there are.
    private static let single: Set<String> = [
        "lifetimeMax", "nameBytesMax", "argumentsMax", "environmentVariablesMax", "membersMax",
        "inputBytesMax",
        "workBytesMax", "registrationBytesMax", "payloadBytesMax", "predecessorsMax", "slots",
        "groupSlots", "slotsPerOwnerMax",
    ]

    /// The line for a limit that is reached.
    static func line(_ limit: String, _ value: Int) -> String {
        let amount = amount(limit, value)
        let next = advice[limit] ?? "see bgtaskctl status for the limits"
        let verb = single.contains(limit) ? "exceeded" : "reached"
        return "the limit \(limit) (\(amount)) is \(verb); \(next)"
    }

    /// ` (--option)` for a parameter that an option sets; nothing for others.
    package static func option(for parameter: String) -> String {
        for part in parameter.split(whereSeparator: { ".[".contains($0) }).reversed() {
            if let option = options[String(part)] { return " (\(option))" }
        }
        return ""
    }
}
