package import Varlink

extension Tasks {
    /// Run tasks that have ended, newest end first, as far back as the history on disk goes; sinceMs: ended within
    /// this time. With more: one task a reply. Without: tasks holds at most 1000, and truncated says that there are
    /// others. attempts: with the attempts of each that are over.
    package enum History: Method {
        package static let name = "org.bgtaskd.Tasks.History"

        /// What `History` is asked.
        package struct Input: Message {
            package var name: String?
            package var application: String?
            package var group: String?
            package var outcomes: [Outcome]?
            package var sinceMs: Int?
            package var attempts: Bool?
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("name", &name)
                try fields.field("application", &application)
                try fields.field("group", &group)
                try fields.field("outcomes", &outcomes, atMost: .members)
                try fields.field("sinceMs", &sinceMs, in: .milliseconds)
                try fields.field("attempts", &attempts)
                try fields.field("all", &all)
            }
        }

        /// What `History` answers.
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
}
