package import JSON
package import Varlink

extension Applications {
    /// The method `Show`.
    package enum Show: Method {
        package static let name = "org.bgtaskd.Applications.Show"
        package typealias Input = Reference
        package typealias Output = Answer
    }

    /// all: those of everybody; for operators.
    package enum List: Method {
        package static let name = "org.bgtaskd.Applications.List"

        /// What `List` is asked.
        package struct Input: Message {
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("all", &all)
            }
        }

        /// What `List` answers.
        package struct Output: Message {
            package var applications: [Application] = []

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("applications", &applications)
            }
        }
    }

    /// A span of time in which an application was in one state. Those of an application follow one another.
    /// beganMs, endedMs: since then; the machine's sleep included. endedMs is absent of the span that goes on. frozen:
    /// its processes were frozen, as in suspended. reason: why the run ended, in the span of notRunning after it.
    /// seenMs: no daemon saw the span end; so long ago a daemon last wrote anything. What the application was after
    /// that, up to the end, nobody knows.
    package struct Span: Message {
        package var application = ""
        package var owner = 0
        package var state = State.notRunning
        package var beganMs = 0
        package var endedMs: Int?
        package var frozen: Bool?
        package var reason: TerminationReason?
        package var seenMs: Int?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("application", &application)
            try fields.field("owner", &owner)
            try fields.field("state", &state)
            try fields.field("beganMs", &beganMs)
            try fields.field("endedMs", &endedMs)
            try fields.field("frozen", &frozen)
            try fields.field("reason", &reason)
            try fields.field("seenMs", &seenMs)
        }
    }

    /// In which states applications were: the spans that go on, the latest begin first, then those that have ended,
    /// newest end first, as far back as the history on disk goes. id: of this application alone. sinceMs: the spans that
    /// go on, and those that ended within this time. all: those of everybody; for operators. With more: one span a reply.
    /// Without: spans holds at most 1000, and truncated says that there are others.
    package enum History: Method {
        package static let name = "org.bgtaskd.Applications.History"

        /// What `History` is asked.
        package struct Input: Message {
            package var id: String?
            package var sinceMs: Int?
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("sinceMs", &sinceMs, in: .milliseconds)
                try fields.field("all", &all)
            }
        }

        /// What `History` answers.
        package struct Output: Message {
            package var span: Span?
            package var spans: [Span]?
            package var truncated: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("span", &span)
                try fields.field("spans", &spans)
                try fields.field("truncated", &truncated)
            }
        }
    }

    /// number counts the events of this stream from 1; a gap is of events that a frozen reader had no room for.
    /// backgroundMs: time spent in the background, with willEnterForeground.
    /// remainingMs: background time left, with didEnterBackground and backgroundTimeExpiring.
    /// deliveryId: with didReceiveRemoteNotificationFetch, silent messages and performTask; for these Delivered has
    /// to be called. task and identifier: the task that it is to do and that task's name, with performTask and
    /// taskExpiring; remainingMs is that task's then.
    /// callback is absent if only the state changed, and in the first events of a stream, which have the present
    /// state. reason: why it was ended, or not frozen.
    package struct Event: Message {
        package var number = 0
        package var application = ""
        package var callback: Callback?
        package var state = State.notRunning
        package var previous = State.notRunning
        package var backgroundMs: Int?
        package var remainingMs: Int?
        package var deliveryId: Int?
        package var task: Int?
        package var identifier: String?
        package var payload: JSONValue?
        package var badge: Int?
        package var reason: String?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("number", &number)
            try fields.field("application", &application)
            try fields.field("callback", &callback)
            try fields.field("state", &state)
            try fields.field("previous", &previous)
            try fields.field("backgroundMs", &backgroundMs)
            try fields.field("remainingMs", &remainingMs)
            try fields.field("deliveryId", &deliveryId)
            try fields.field("task", &task)
            try fields.field("identifier", &identifier)
            try fields.field("payload", &payload)
            try fields.field("badge", &badge)
            try fields.field("reason", &reason)
        }
    }

    /// Callbacks and state changes as they happen; needs more. The first replies are the present states, one for
    /// each application. An application that watches itself by its id then gets what it has missed since its launch.
    package enum Watch: Method {
        package static let name = "org.bgtaskd.Applications.Watch"

        /// What `Watch` is asked.
        package struct Input: Message {
            package var id: String?
            package var all: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("all", &all)
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

    /// What an explanation of a task has.
    package typealias Explanation = Tasks.Explanation

    /// Why it is in its state, what would be frozen or killed if applications.enforce were true, and why it was last
    /// stopped.
    package enum Explain: Method {
        package static let name = "org.bgtaskd.Applications.Explain"
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
