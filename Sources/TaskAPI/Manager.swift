package import Varlink

/// The daemon itself.
package enum Manager {
    package static let name = "org.bgtaskd.Manager"

    /// One `Profile`.
    package struct Profile: Message {
        package var name = ""
        package var durationMs: Int?
        package var graceMs = 0
        package var lifetimeMaxMs: Int?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("name", &name)
            try fields.field("durationMs", &durationMs)
            try fields.field("graceMs", &graceMs)
            try fields.field("lifetimeMaxMs", &lifetimeMaxMs)
        }
    }

    /// One `Limit`.
    package struct Limit: Message {
        package var name = ""
        package var value = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("name", &name)
            try fields.field("value", &value)
        }
    }

    /// One `Setting`.
    package struct Setting: Message {
        package var key = ""
        package var value = ""
        package var source = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("key", &key)
            try fields.field("value", &value)
            try fields.field("source", &source)
        }
    }

    /// One `Counter`. A name that ends with _total counts since the start of the daemon; any other tells how it is now.
    package struct Counter: Message {
        package var name = ""
        package var help = ""
        package var labels: [String: String] = [:]
        package var value = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("name", &name)
            try fields.field("help", &help)
            try fields.field("labels", &labels)
            try fields.field("value", &value)
        }
    }

    /// One `Gauge`: how it is now, where that is no whole number.
    package struct Gauge: Message {
        package var name = ""
        package var help = ""
        package var labels: [String: String] = [:]
        package var value = 0.0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("name", &name)
            try fields.field("help", &help)
            try fields.field("labels", &labels)
            try fields.field("value", &value)
        }
    }

    /// One `Histogram`.
    package struct Histogram: Message {
        package var name = ""
        package var help = ""
        package var labels: [String: String] = [:]
        package var boundsNs: [Int] = []
        package var counts: [Int] = []
        package var sumNs = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("name", &name)
            try fields.field("help", &help)
            try fields.field("labels", &labels)
            try fields.field("boundsNs", &boundsNs)
            try fields.field("counts", &counts)
            try fields.field("sumNs", &sumNs)
        }
    }

    /// containment: how processes are kept together (cgroup, supervisor). scope: whom the daemon serves (system: all
    /// users; user: its own user). executor: the program that runs commands, in words: whether they go on while the
    /// daemon is restarted, or end with it; null in daemons before it.
    package enum Describe: Method {
        package static let name = "org.bgtaskd.Manager.Describe"
        package typealias Input = Empty

        /// What `Describe` answers.
        package struct Output: Message {
            package var version = ""
            package var scope = ""
            package var containment = ""
            package var executor: String?
            package var clockMs = 0
            package var profiles: [Profile] = []
            package var limits: [Limit] = []
            package var settings: [Setting] = []

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("version", &version)
                try fields.field("scope", &scope)
                try fields.field("containment", &containment)
                try fields.field("executor", &executor)
                try fields.field("clockMs", &clockMs)
                try fields.field("profiles", &profiles)
                try fields.field("limits", &limits)
                try fields.field("settings", &settings)
            }
        }
    }

    /// Who is no operator is told counts of their own, and nothing else. Sizes on disk are those of the call before.
    package enum Statistics: Method {
        package static let name = "org.bgtaskd.Manager.Statistics"
        package typealias Input = Empty

        /// What `Statistics` answers.
        package struct Output: Message {
            package var counters: [Counter] = []
            package var histograms: [Histogram]?
            package var gauges: [Gauge]?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("counters", &counters)
                try fields.field("histograms", &histograms)
                try fields.field("gauges", &gauges)
            }
        }
    }

    /// Read the settings again. What is refused leaves all settings as they were.
    package enum Reload: Method {
        package static let name = "org.bgtaskd.Manager.Reload"
        package typealias Input = Empty

        /// What `Reload` answers.
        package struct Output: Message {
            package var changed: [String] = []
            package var needRestart: [String] = []

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("changed", &changed)
                try fields.field("needRestart", &needRestart)
            }
        }
    }

    /// The error `BadSettings`.
    package struct BadSettings: WireError {
        package static let name = "org.bgtaskd.Manager.BadSettings"

        package var file = ""
        package var line: Int?
        package var column: Int?
        package var text = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("file", &file)
            try fields.field("line", &line)
            try fields.field("column", &column)
            try fields.field("text", &text)
        }
    }
}
