package import Varlink

extension Tasks {
    /// Events as they happen, of one task or of all that the caller may see; needs more.
    /// The first reply for a single task is its present state, and its end is the last; watching all starts with
    /// the next event. application: of those of this application alone. held: of those alone that the caller's process
    /// holds, over whatever connections: so one connection tells of all of them.
    package enum Watch: Method {
        package static let name = "org.bgtaskd.Tasks.Watch"

        /// What `Watch` is asked.
        package struct Input: Message {
            package var id: Int?
            package var output: Bool?
            package var all: Bool?
            package var application: String?
            package var held: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id, in: .identifiers)
                try fields.field("output", &output)
                try fields.field("all", &all)
                try fields.field("application", &application)
                try fields.field("held", &held)
            }
        }

        /// What `Watch` answers.
        package struct Output: Message {
            package var event = Event()

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("event", &event)
            }
        }
    }

    /// What a run task printed, oldest first, as far as it is kept; with follow, until the task ends. Needs more.
    /// from: begin at this byte, counted from the first that the task printed. dropped: bytes that are missing before
    /// this piece. next: where the next piece begins. The last reply may be without text.
    package enum Output: Method {
        package static let name = "org.bgtaskd.Tasks.Output"

        /// What `Output` is asked.
        package struct Input: Message {
            package var id = 0
            package var follow: Bool?
            package var all: Bool?
            package var from: Int?
            package var sinceMs: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id, in: .identifiers)
                try fields.field("follow", &follow)
                try fields.field("all", &all)
                try fields.field("from", &from, in: .positions)
                try fields.field("sinceMs", &sinceMs, in: .milliseconds)
            }
        }

        /// What `Output` answers.
        package struct Output: Message {
            package var stream = ""
            package var text = ""
            package var dropped: Int?
            package var next: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("stream", &stream)
                try fields.field("text", &text)
                try fields.field("dropped", &dropped)
                try fields.field("next", &next)
            }
        }
    }

    /// The task as it ended, after its last attempt; answers at once if it has ended already.
    package enum Wait: Method {
        package static let name = "org.bgtaskd.Tasks.Wait"

        /// What `Wait` is asked.
        package struct Input: Message {
            package var id = 0
            package var timeoutMs: Int?
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id, in: .identifiers)
                try fields.field("timeoutMs", &timeoutMs, in: .milliseconds)
                try fields.field("all", &all)
            }
        }

        /// What `Wait` answers.
        package struct Output: Message {
            package var task: Task?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("task", &task)
            }
        }
    }

    /// The method `Explain`.
    package enum Explain: Method {
        package static let name = "org.bgtaskd.Tasks.Explain"
        package typealias Input = Reference

        /// What `Explain` answers.
        package struct Output: Message {
            package var explanations: [Explanation] = []

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("explanations", &explanations)
            }
        }
    }
}
