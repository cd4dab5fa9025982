/// What a parameter of a call must be, in the words of a person: those of a refusal.
package struct ParameterRule: Equatable, Sendable {
    /// The part of the parameter's path that the rule is about, such as `graceMs`.
    package let name: String
    /// Behind the name: `must be shorter than the budget`.
    package let text: String

    /// Finds the rule for a parameter by its path, such as `work.budget.graceMs` or `work.command[2]`.
    package init?(for path: String) {
        let parts = path.split { ".[".contains($0) }.map(String.init)
        // What follows it is a variable's name, whatever else is called so.
        let known =
            parts.contains("environment")
            ? "environment" : parts.reversed().first { Self.ranges[$0] != nil }
        guard let known, let range = Self.ranges[known] else { return nil }
        name = known
        text = "must be \(range)"
    }

    private static let word =
        "1 to 255 bytes without control characters, or characters that turn the direction of writing"

    private static let ranges: [String: String] = [
        "name": word, "application": word, "id": word,
        "durationMs": "from 1ms to a hundred years",
        "graceMs": "shorter than the budget",
        "directory": "an absolute path without a zero byte",
        "environment": "NAME=VALUE with a name, and without zero bytes",
        "command": "a program and its arguments, without zero bytes",
        "wake":
            "beside an application, and without command, directory, environment, input and expiration",
        "signal": "the name of a signal, such as SIGTERM",
        "pid": "a running process of yours",
        "pids": "running processes of yours",
        "priority": "from -1000 to 1000",
        "earliestBeginMs": "366 days at most",
        "after": "numbers of tasks, each once, 64 at most",
        "afterAny": "numbers of tasks, each once, 64 at most",
        "slots": "1 or more",
        "input": "base64",
        "minimumIntervalMs": "366 days at most",
        "attempts": "from 1 to 100",
        "delayMs": "5h at most",
        "reason": "1024 bytes at most",
        "badge": "0 or more",
        "completed": "from 0 to 2^53",
        "total": "from 0 to 2^53, and beside completed",
        "deliveryId": "the number of a message that was delivered",
        "limits": "left out: this version has no such limits",
    ]
}
