package import Varlink

extension Tasks {
    /// A task is tried again if an attempt has failed, expired or overrun; never if it was cancelled.
    /// attempts: all of them, the first included, 1 to 100. delayMs: before the second attempt, 30 s if absent;
    /// it doubles after each attempt, up to 5 h (18000000), which is also its own most. onInterruption: also if the
    /// daemon or the machine stopped while it ran.
    package struct Retry: Message {
        package var attempts = 0
        package var delayMs: Int?
        package var onInterruption: Bool?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("attempts", &attempts, in: .attempts)
            try fields.field("delayMs", &delayMs, in: .retryMilliseconds)
            try fields.field("onInterruption", &onInterruption)
        }
    }

    /// A command to run under a time limit. The environment is the daemon's minimal one plus what is given here.
    /// command: if absent, that of the application that is named, with its directory and its environment; refused if
    /// there is no such application of the caller's, or it has no command (NoSuchApplication and NotRegistered of
    /// org.bgtaskd.Applications).
    /// application: its background time is shared with the task.
    /// wake: there is no command, and the application does the task itself, on a budget that it shares with nobody: it
    /// is thawed or started in the background if it has to be, gets performTask with the task's name, and says
    /// Delivered; before the limit it gets taskExpiring, and in the background it is terminated if it is not done at
    /// the limit.
    /// directory: an absolute path; the home of its user if absent, or / if that does not exist.
    /// limits are refused by that name (InvalidParameter).
    /// group: uses one of that group's slots besides one of the daemon's; the settings name the groups.
    /// priority: -1000 to 1000, 0 if absent; among the tasks of one user the higher runs first. Users take turns,
    /// whatever their priorities.
    /// earliestBeginMs: not before it is over, counted from the submission. conditions: not while one of them
    /// fails. minimumIntervalMs: not before it is over, counted from the last successful end of this user's tasks of
    /// the same name, and not while another of them is live. Both are 0 to 366 days (31622400000), over a sleep of
    /// the machine too.
    /// after: not before these tasks have completed; if one of them ends otherwise, this one ends as failed and
    /// never runs. afterAny: not before these have ended, however. slots: how many of the daemon's slots, and of its
    /// group's, it uses; 1 if absent. paused: not before it is resumed (Change). input: what the command reads as its
    /// standard input, in base64 (RFC 4648); 1 MiB at most.
    package struct Work: Message {
        package var name = ""
        package var command: [String]?
        package var application: String?
        package var wake: Bool?
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
        package var after: [Int]?
        package var afterAny: [Int]?
        package var slots: Int?
        package var paused: Bool?
        package var input: String?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("name", &name)
            try fields.field("command", &command, atMost: .arguments)
            try fields.field("application", &application)
            try fields.field("wake", &wake)
            try fields.field("directory", &directory)
            try fields.field("environment", &environment, atMost: .environment)
            try fields.field("profile", &profile)
            try fields.field("budget", &budget)
            try fields.field("expiration", &expiration)
            try fields.field("limits", &limits)
            try fields.field("group", &group)
            try fields.field("priority", &priority, in: .priorities)
            try fields.field("earliestBeginMs", &earliestBeginMs, in: .waitMilliseconds)
            try fields.field("conditions", &conditions, atMost: .members)
            try fields.field("minimumIntervalMs", &minimumIntervalMs, in: .waitMilliseconds)
            try fields.field("unique", &unique)
            try fields.field("retry", &retry)
            try fields.field("after", &after, in: .identifiers)
            try fields.field("afterAny", &afterAny, in: .identifiers)
            try fields.field("slots", &slots, in: .slotCounts)
            try fields.field("paused", &paused)
            try fields.field("input", &input)
        }
    }

    /// accepted: a new task. coalesced: a unique task of the same name is used instead, and its id is given.
    /// deferred: accepted, and held back by a rule of time: for notBeforeMs, if that is known.
    package enum Receipt: String, WireEnum {
        case accepted, coalesced, deferred
    }

    /// One attempt that is over. usedMs: how long its clock has run, if that is known. endedMs: since its end.
    /// startedMs, warnedMs: since its start and since its expiration handler was run, as those of Task.
    package struct Attempt: Message {
        package var attempt = 0
        package var outcome = Outcome.completed
        package var reason: String?
        package var exit: Exit?
        package var usedMs: Int?
        package var endedMs = 0
        package var cpuMs: Int?
        package var memoryPeakBytes: Int?
        package var startedMs: Int?
        package var warnedMs: Int?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("attempt", &attempt)
            try fields.field("outcome", &outcome)
            try fields.field("reason", &reason)
            try fields.field("exit", &exit)
            try fields.field("usedMs", &usedMs)
            try fields.field("endedMs", &endedMs)
            try fields.field("cpuMs", &cpuMs)
            try fields.field("memoryPeakBytes", &memoryPeakBytes)
            try fields.field("startedMs", &startedMs)
            try fields.field("warnedMs", &warnedMs)
        }
    }

    /// ageMs: since the start (since the submission while queued), up to the end. endedMs: since the end.
    /// usedMs: how long its clock has run, if that is known: not of one that was lost with the daemon. attempt:
    /// counts from 1. attemptsMax: how many it may have, if it is tried again. attempts: the newest ten that are
    /// over, the oldest first; in the replies of Show and Wait, in events of kind attempt, and where List and History
    /// are asked for them.
    /// cpuMs, memoryPeakBytes: what the processes of a command used, once it has ended, if that is known. Show has
    /// them of a running one too, if its processes are in a cgroup.
    /// status: what the task last reported of itself. waiting: the rule that holds a queued task back, the first of
    /// several; notBeforeMs: how long it is held back at least, if one of them is a rule of time. stuck: its
    /// processes were killed long ago and are still there; it uses no slot any more.
    /// submittedMs: since the submission, or since the begin of a held task. startedMs: since the start of this
    /// attempt; absent while it waits, and if it never started. warnedMs: since its expiration handler was last run;
    /// absent if it was not in this attempt. All three count to now, like endedMs.
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
        package var usedMs: Int?
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
        package var attempts: [Attempt]?
        package var attemptsMax: Int?
        package var notBeforeMs: Int?
        package var stuck: Bool?
        package var after: [Int]?
        package var slots: Int?
        package var paused: Bool?
        package var restartOf: Int?
        package var conditions: [Condition]?
        package var minimumIntervalMs: Int?
        package var unique: Unique?
        package var retry: Retry?
        package var progress: Progress?
        package var wake: Bool?
        package var submittedMs: Int?
        package var startedMs: Int?
        package var warnedMs: Int?

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
            try fields.field("attempts", &attempts)
            try fields.field("attemptsMax", &attemptsMax)
            try fields.field("notBeforeMs", &notBeforeMs)
            try fields.field("stuck", &stuck)
            try fields.field("after", &after)
            try fields.field("slots", &slots)
            try fields.field("paused", &paused)
            try fields.field("restartOf", &restartOf)
            try fields.field("conditions", &conditions)
            try fields.field("minimumIntervalMs", &minimumIntervalMs)
            try fields.field("unique", &unique)
            try fields.field("retry", &retry)
            try fields.field("progress", &progress)
            try fields.field("wake", &wake)
            try fields.field("submittedMs", &submittedMs)
            try fields.field("startedMs", &startedMs)
            try fields.field("warnedMs", &warnedMs)
        }
    }

    /// How far a task has come, by its own account, and of how many, if it knows.
    package struct Progress: Message {
        package var completed = 0
        package var total: Int?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("completed", &completed)
            try fields.field("total", &total)
        }
    }

    /// present: the state at the moment a watch of a single task begins. attempt: one is over, and the task is
    /// queued again for the next.
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

    /// A rule that holds a task back, or that stopped it. Of several the first is the one that Task has as waiting.
    /// rule: its name. value: its number, in the rule's unit. earliestChangeMs: when that can change, if it is known.
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
