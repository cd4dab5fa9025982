internal import JSON

/// Adds points in time to an answer of the daemon, which tells how long ago something was, or how long it will be.
///
/// They are by the clock of this process, in UTC and ISO 8601, and are exact to the time that the answer took.
package struct JSONTimes {
    /// When the answer came, in milliseconds since 1970.
    let now: Int

    package init(now: Int) {
        self.now = now
    }

    /// A member whose value is somebody else's, in which nothing of it is ours.
    private static let foreign = "payload"

    /// The value with a point in time behind each member that tells a time from now.
    func added(to value: JSONValue) -> JSONValue {
        switch value {
        case .array(let values): return .array(values.map(added))
        case .object(let members):
            var result: [(key: String, value: JSONValue)] = []
            for (key, member) in members {
                result.append((key, key == Self.foreign ? member : added(to: member)))
                guard case .integer(let milliseconds) = member,
                    let (name, moment) = point(key, milliseconds, value),
                    let text = moment.flatMap(WallClock.utc)
                else { continue }
                result.append((name, .string(text)))
            }
            return .object(result)
        case .null, .bool, .integer, .number, .string: return value
        }
    }

    /// An object with when it came.
    func stamped(_ value: JSONValue) -> JSONValue {
        guard case .object(let members) = value, let text = WallClock.utc(now) else { return value }
        return .object(members + [("at", .string(text))])
    }

    /// The name and the moment of a member that tells a time from now; `nil` for others.
    private func point(
        _ key: String, _ milliseconds: Int, _ object: JSONValue
    ) -> (name: String, moment: Int?)? {
        switch key {
        // A daemon that says when a task was submitted says when it began.
        case "ageMs" where object["submittedMs"] == nil:
            object["state"].flatMap { start(of: object, $0, age: milliseconds) }
        case "endedMs", "agoMs": ("endedAt", past(milliseconds))
        case "submittedMs": ("submittedAt", past(milliseconds))
        case "startedMs", "beganMs": ("begunAt", past(milliseconds))
        case "seenMs": ("seenAt", past(milliseconds))
        case "warnedMs": ("warnedAt", past(milliseconds))
        case "notBeforeMs": ("notBefore", future(milliseconds))
        case "earliestChangeMs": ("earliestChange", future(milliseconds))
        // Of an event it is a time that is over.
        case "backgroundMs" where object["pids"] != nil: ("backgroundSince", past(milliseconds))
        default: nil
        }
    }

    /// A task's age is the time since its begin, up to its end; since its submission where it has not begun.
    private func start(
        of task: JSONValue, _ state: JSONValue, age: Int
    ) -> (name: String, moment: Int?)? {
        let name = hasBegun(task, state) ? "begunAt" : "submittedAt"
        guard case .integer(let ended) = task["endedMs"] else { return (name, past(age)) }
        let (whole, overflow) = ended.addingReportingOverflow(age)
        return (name, overflow ? nil : past(whole))
    }

    /// One that was cancelled in the queue has used nothing, and no command of it has ended.
    private func hasBegun(_ task: JSONValue, _ state: JSONValue) -> Bool {
        if state == .string("queued") { return false }
        return state != .string("ended") || task["kind"] == .string("held") || task["exit"] != nil
            || task["usedMs"] != .integer(0) || task["outcome"] == .string("failed")
    }

    private func past(_ milliseconds: Int) -> Int? {
        let (moment, overflow) = now.subtractingReportingOverflow(milliseconds)
        return overflow ? nil : moment
    }

    private func future(_ milliseconds: Int) -> Int? {
        let (moment, overflow) = now.addingReportingOverflow(milliseconds)
        return overflow ? nil : moment
    }
}
