package import Varlink

extension Tasks {
    /// The method `Cancel`.
    package enum Cancel: Method {
        package static let name = "org.bgtaskd.Tasks.Cancel"

        /// What `Cancel` is asked.
        package struct Input: Message {
            package var id = 0
            package var reason: String?
            package var signal: String?
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id, in: .identifiers)
                try fields.field("reason", &reason)
                try fields.field("signal", &signal)
                try fields.field("all", &all)
            }
        }
        package typealias Output = Empty
    }

    /// Change what decides when a queued command may run; what is absent stays as it is.
    package enum Change: Method {
        package static let name = "org.bgtaskd.Tasks.Change"

        /// What `Change` is asked.
        package struct Input: Message {
            package var id = 0
            package var priority: Int?
            package var group: String?
            package var earliestBeginMs: Int?
            package var conditions: [Condition]?
            package var slots: Int?
            package var paused: Bool?
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id, in: .identifiers)
                try fields.field("priority", &priority, in: .priorities)
                try fields.field("group", &group)
                try fields.field("earliestBeginMs", &earliestBeginMs, in: .waitMilliseconds)
                try fields.field("conditions", &conditions, atMost: .members)
                try fields.field("slots", &slots, in: .slotCounts)
                try fields.field("paused", &paused)
                try fields.field("all", &all)
            }
        }
        package typealias Output = Empty
    }

    /// Hold back all that the caller has queued, or that another user has.
    package enum PauseOwner: Method {
        package static let name = "org.bgtaskd.Tasks.PauseOwner"
        package typealias Input = OwnerReference
        package typealias Output = Empty
    }

    /// End what `PauseOwner` has ordered.
    package enum ResumeOwner: Method {
        package static let name = "org.bgtaskd.Tasks.ResumeOwner"
        package typealias Input = OwnerReference
        package typealias Output = Empty
    }

    /// Say how far a task has come that has begun.
    package enum Report: Method {
        package static let name = "org.bgtaskd.Tasks.Report"

        /// What `Report` is asked.
        package struct Input: Message {
            package var id = 0
            package var text: String?
            package var completed: Int?
            package var total: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id, in: .identifiers)
                try fields.field("text", &text)
                try fields.field("completed", &completed, in: .units)
                try fields.field("total", &total, in: .units)
            }
        }

        package typealias Output = Empty
    }

    /// Say of a task that its work is done, and how.
    package enum Complete: Method {
        package static let name = "org.bgtaskd.Tasks.Complete"

        /// What `Complete` is asked.
        package struct Input: Message {
            package var id = 0
            package var success: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id, in: .identifiers)
                try fields.field("success", &success)
            }
        }

        package typealias Output = Empty
    }

    /// Forget tasks that have ended.
    package enum Clean: Method {
        package static let name = "org.bgtaskd.Tasks.Clean"

        /// What `Clean` is asked.
        package struct Input: Message {
            package var ids: [Int] = []
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("ids", &ids, in: .identifiers)
                try fields.field("all", &all)
            }
        }

        package typealias Output = Empty
    }

    /// What a method is asked that is about all tasks of a user.
    package struct OwnerReference: Message {
        package var owner: Int?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("owner", &owner, in: .owners)
        }
    }

    /// The method `RemainingTime`.
    package enum RemainingTime: Method {
        package static let name = "org.bgtaskd.Tasks.RemainingTime"
        package typealias Input = Reference

        /// What `RemainingTime` answers.
        package struct Output: Message {
            package var remaining = Remaining()

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("remaining", &remaining)
            }
        }
    }

    /// The method `Show`.
    package enum Show: Method {
        package static let name = "org.bgtaskd.Tasks.Show"
        package typealias Input = Reference

        /// What `Show` answers.
        package struct Output: Message {
            package var task = Task()

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("task", &task)
            }
        }
    }

    /// What a command of the caller's was submitted with, without its input.
    package enum ShowSubmission: Method {
        package static let name = "org.bgtaskd.Tasks.ShowSubmission"
        package typealias Input = OwnReference

        /// What `ShowSubmission` answers.
        package struct Output: Message {
            package var work = Work()
            package var submittedMs = 0
            package var inputBytes: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("work", &work)
                try fields.field("submittedMs", &submittedMs)
                try fields.field("inputBytes", &inputBytes)
            }
        }
    }

    /// With more: one task a reply. Without: tasks holds at most 1000, and truncated says that there are others.
    /// ended: include those that have ended; outcomes and sinceMs (ended within this time) choose among them.
    package enum List: Method {
        package static let name = "org.bgtaskd.Tasks.List"

        /// What `List` is asked.
        package struct Input: Message {
            package var states: [State]?
            package var name: String?
            package var application: String?
            package var group: String?
            package var ended: Bool?
            package var outcomes: [Outcome]?
            package var sinceMs: Int?
            package var attempts: Bool?
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("states", &states, atMost: .members)
                try fields.field("name", &name)
                try fields.field("application", &application)
                try fields.field("group", &group)
                try fields.field("ended", &ended)
                try fields.field("outcomes", &outcomes, atMost: .members)
                try fields.field("sinceMs", &sinceMs, in: .milliseconds)
                try fields.field("attempts", &attempts)
                try fields.field("all", &all)
            }
        }

        /// What `List` answers.
        package struct Output: Message {
            package var task: Task?
            package var tasks: [Task]?
            package var truncated: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("task", &task)
                try fields.field("tasks", &tasks)
                try fields.field("truncated", &truncated)
            }
        }
    }

    /// Have a queued command wait for no time and no condition any more.
    package enum SimulateLaunch: Method {
        package static let name = "org.bgtaskd.Tasks.SimulateLaunch"
        package typealias Input = Reference
        package typealias Output = Empty
    }

    /// Run the expiration handler now, as if the budget were nearly spent; for tests of one's own handlers.
    package enum SimulateExpiration: Method {
        package static let name = "org.bgtaskd.Tasks.SimulateExpiration"
        package typealias Input = Reference
        package typealias Output = Empty
    }
}
