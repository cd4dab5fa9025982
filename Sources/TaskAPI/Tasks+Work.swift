package import Varlink

extension Tasks {
    /// One `Retry`.
    package struct Retry: Message {
        package var attempts = 0
        package var delayMs: Int?
        package var onInterruption: Bool?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("attempts", &attempts)
            try fields.field("delayMs", &delayMs)
            try fields.field("onInterruption", &onInterruption)
        }
    }

    /// A command to run on borrowed time. The environment is the daemon's minimal one plus what is given here.
    /// directory: an absolute path; the home of its user where absent, or / where that is not there.
    /// earliestBeginMs: counted from the submission. minimumIntervalMs: counted from the last successful end of
    /// this owner's tasks of the same name. priority: higher runs first, 0 where absent.
    package struct Work: Message {
        package var name = ""
        package var command: [String] = []
        package var application: String?
        package var directory: String?
        package var environment: [String: String]?
        package var profile: String?
        package var budget: Budget?
        package var expiration: ExpirationHandler?
        package var limits: Limits?
        package var group: String?
        package var priority: Int?
        package var earliestBeginMs: Int?
        package var conditions: [Condition]?
        package var minimumIntervalMs: Int?
        package var unique: Unique?
        package var retry: Retry?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("name", &name)
            try fields.field("command", &command)
            try fields.field("application", &application)
            try fields.field("directory", &directory)
            try fields.field("environment", &environment)
            try fields.field("profile", &profile)
            try fields.field("budget", &budget)
            try fields.field("expiration", &expiration)
            try fields.field("limits", &limits)
            try fields.field("group", &group)
            try fields.field("priority", &priority)
            try fields.field("earliestBeginMs", &earliestBeginMs)
            try fields.field("conditions", &conditions)
            try fields.field("minimumIntervalMs", &minimumIntervalMs)
            try fields.field("unique", &unique)
            try fields.field("retry", &retry)
        }
    }

    /// accepted: a new task. coalesced: a live task of the same unique name stands for it.
    /// deferred: accepted, and held back for notBeforeMs.
    package enum Receipt: String, WireEnum {
        case accepted, coalesced, deferred
    }

    /// ageMs: since the begin (since the submission while queued). usedMs: how long its clock has run.
    /// status: what the task last said of itself. waiting: the rule that holds a queued task back.
    package struct Task: Message {
        package var id = 0
        package var name = ""
        package var kind = Kind.held
        package var owner = 0
        package var application: String?
        package var group: String?
        package var priority = 0
        package var state = State.queued
        package var outcome: Outcome?
        package var reason: String?
        package var profile = ""
        package var budget: Budget?
        package var remaining: Remaining?
        package var usedMs = 0
        package var ageMs = 0
        package var endedMs: Int?
        package var attempt = 0
        package var pid: Int?
        package var command: [String]?
        package var exit: Exit?
        package var cpuMs: Int?
        package var memoryPeakBytes: Int?
        package var status: String?
        package var waiting: String?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
            try fields.field("name", &name)
            try fields.field("kind", &kind)
            try fields.field("owner", &owner)
            try fields.field("application", &application)
            try fields.field("group", &group)
            try fields.field("priority", &priority)
            try fields.field("state", &state)
            try fields.field("outcome", &outcome)
            try fields.field("reason", &reason)
            try fields.field("profile", &profile)
            try fields.field("budget", &budget)
            try fields.field("remaining", &remaining)
            try fields.field("usedMs", &usedMs)
            try fields.field("ageMs", &ageMs)
            try fields.field("endedMs", &endedMs)
            try fields.field("attempt", &attempt)
            try fields.field("pid", &pid)
            try fields.field("command", &command)
            try fields.field("exit", &exit)
            try fields.field("cpuMs", &cpuMs)
            try fields.field("memoryPeakBytes", &memoryPeakBytes)
            try fields.field("status", &status)
            try fields.field("waiting", &waiting)
        }
    }

    /// present: the state at the moment a watch of a single task begins.
    package enum EventKind: String, WireEnum {
        case present, queued, began, dormant, resumed, extended, expiring, ended, attempt, output,
            status, warning
    }

    /// number counts the events of this stream from 1, so that a reader sees a gap.
    /// text: of output one or more whole lines, without the end of the last.
    package struct Event: Message {
        package var number = 0
        package var kind = EventKind.present
        package var task = Task()
        package var reason: String?
        package var stream: String?
        package var text: String?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("number", &number)
            try fields.field("kind", &kind)
            try fields.field("task", &task)
            try fields.field("reason", &reason)
            try fields.field("stream", &stream)
            try fields.field("text", &text)
        }
    }

    /// The rule that holds a task back, or that stopped it.
    /// rule: its name. value: its number, in the rule's unit. earliestChangeMs: when that can change, where it is known.
    package struct Explanation: Message {
        package var rule = ""
        package var text = ""
        package var value: Int?
        package var earliestChangeMs: Int?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("rule", &rule)
            try fields.field("text", &text)
            try fields.field("value", &value)
            try fields.field("earliestChangeMs", &earliestChangeMs)
        }
    }
}
