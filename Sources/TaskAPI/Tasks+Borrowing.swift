package import Varlink

extension Tasks {
    /// Begin a task for work that the caller does itself. The task belongs to the calling connection, and is
    /// abandoned when that closes; with pid it belongs to that process of the caller's user instead.
    /// With more: the first reply has the id and means that it has begun; further replies carry what happens to the
    /// task after it, and the last one is its end.
    package enum Begin: Method {
        package static let name = "org.bgtaskd.Tasks.Begin"

        /// What `Begin` is asked.
        package struct Input: Message {
            package var name = ""
            package var application: String?
            package var profile: String?
            package var budget: Budget?
            package var pid: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("name", &name)
                try fields.field("application", &application)
                try fields.field("profile", &profile)
                try fields.field("budget", &budget)
                try fields.field("pid", &pid, in: .processIDs)
            }
        }

        /// What `Begin` answers.
        package struct Output: Message {
            package var id = 0
            package var remaining: Remaining?
            package var event: Event?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("remaining", &remaining)
                try fields.field("event", &event)
            }
        }

        /// The `Output` that says that a task has begun, without the event that it does not have and that is many
        /// times as large.
        package struct Begun: Message {
            package var id = 0
            package var remaining: Remaining?

            package init() {}

            package init(id: Int, remaining: Remaining?) {
                self.id = id
                self.remaining = remaining
            }

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("remaining", &remaining)
            }
        }
    }

    /// Give the time back. Ending an own task that has ended already answers with its outcome and changes nothing.
    package enum End: Method {
        package static let name = "org.bgtaskd.Tasks.End"
        package typealias Input = OwnReference

        /// What `End` answers.
        package struct Output: Message {
            package var outcome: Outcome?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("outcome", &outcome)
            }
        }
    }

    /// Start the budget anew from now, cut to what the lifetime limit leaves.
    package enum Extend: Method {
        package static let name = "org.bgtaskd.Tasks.Extend"
        package typealias Input = Reference

        /// What `Extend` answers.
        package struct Output: Message {
            package var remaining = Remaining()

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("remaining", &remaining)
            }
        }
    }

    /// Have a command run. The reply means that it will survive a crash of the daemon.
    package enum Submit: Method {
        package static let name = "org.bgtaskd.Tasks.Submit"

        /// What `Submit` is asked.
        package struct Input: Message {
            package var work = Work()

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("work", &work)
            }
        }

        /// What `Submit` answers.
        package struct Output: Message {
            package var id = 0
            package var receipt = Receipt.accepted
            package var notBeforeMs: Int?
            package var after: [Int]?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("receipt", &receipt)
                try fields.field("notBeforeMs", &notBeforeMs)
                try fields.field("after", &after)
            }
        }
    }

    /// Submit again what an ended command of the caller's was submitted with.
    package enum Restart: Method {
        package static let name = "org.bgtaskd.Tasks.Restart"

        /// What `Restart` is asked.
        package struct Input: Message {
            package var id = 0
            package var after: [Int]?
            package var afterAny: [Int]?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id, in: .identifiers)
                try fields.field("after", &after, in: .identifiers)
                try fields.field("afterAny", &afterAny, in: .identifiers)
            }
        }
        package typealias Output = Submit.Output
    }
}
