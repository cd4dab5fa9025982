package import Varlink

/// Background work under a time limit: begin and end tasks of your own work, or have a command run.
package enum Tasks {
    package static let name = "org.bgtaskd.Tasks"

    /// How long a task may last. All times in this interface are whole milliseconds.
    /// durationMs: the hard limit, 1 at least. graceMs: the task is warned this long before it: its expiration
    /// handler runs.
    package struct Budget: Message {
        package var durationMs = 0
        package var graceMs = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("durationMs", &durationMs, in: .budgetMilliseconds)
            try fields.field("graceMs", &graceMs, in: .milliseconds)
        }
    }

    /// held: the client does the work. run: the daemon runs a command.
    package enum Kind: String, WireEnum {
        case held, run
    }

    /// The members of `State`.
    package enum State: String, WireEnum {
        case queued, dormant, running, expiring, ended
    }

    /// The members of `Outcome`.
    package enum Outcome: String, WireEnum {
        case completed, failed, expired, overrun, cancelled, abandoned, interrupted
    }

    /// What ends the remaining time first.
    package enum Bound: String, WireEnum {
        case ownBudget, applicationBackgroundTime, lifetimeLimit
    }

    /// ms: time left before the warning; null if no limit applies now.
    /// hardMs: time left before the hard limit. bound: the rule that sets them.
    package struct Remaining: Message {
        package var ms: Int?
        package var hardMs: Int?
        package var bound: Bound?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("ms", &ms)
            try fields.field("hardMs", &hardMs)
            try fields.field("bound", &bound)
        }
    }

    /// How a run task's process ended. signal is a name such as SIGTERM.
    package struct Exit: Message {
        package var status: Int?
        package var signal: String?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("status", &status)
            try fields.field("signal", &signal)
        }
    }

    /// What the expiration handler of a run task does: send a signal to every process of the task
    /// (SIGTERM if absent; an empty string sends none), run a command beside it, or both.
    package struct ExpirationHandler: Message {
        package var signal: String?
        package var command: [String]?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("signal", &signal)
            try fields.field("command", &command, atMost: .arguments)
        }
    }

    /// memoryMaxBytes: 0 to 2^60. tasksMax: 0 to 4194304. cpuWeight: 1 to 10000.
    /// bestEffort: start without a limit whose controller is missing, rather than refuse.
    package struct Limits: Message {
        package var memoryMaxBytes: Int?
        package var tasksMax: Int?
        package var cpuWeight: Int?
        package var bestEffort: Bool?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("memoryMaxBytes", &memoryMaxBytes, in: .memoryBytes)
            try fields.field("tasksMax", &tasksMax, in: .taskCounts)
            try fields.field("cpuWeight", &cpuWeight, in: .cpuWeights)
            try fields.field("bestEffort", &bestEffort)
        }
    }

    /// What must be so before a task starts, as the kernel reports it. network: there is a default route.
    /// externalPower: the machine is not on battery. idle: it has little else to do.
    package enum Condition: String, WireEnum {
        case network, externalPower, idle
    }

    /// What a submission does if the caller has a task of the same name that was submitted as unique and has not
    /// ended. keep: that task is used instead. replace: that task is cancelled, and the new one starts when it is
    /// gone. replaceQueued: it is cancelled where it has not started; where it runs it goes on and is not tried again,
    /// and the new one starts when it is gone.
    package enum Unique: String, WireEnum {
        case keep, replace, replaceQueued
    }

    /// What a method is asked that is about one task of the caller's own.
    package struct OwnReference: Message {
        package var id = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id, in: .identifiers)
        }
    }

    /// What a method is asked that is about one task.
    package struct Reference: Message {
        package var id = 0
        /// Whether the task may be another's; for operators.
        package var all: Bool?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id, in: .identifiers)
            try fields.field("all", &all)
        }
    }
}
