internal import TaskAPI
internal import Varlink

// What the daemon answers, with text where the interface has an enumeration: that may grow, and what a later daemon
// tells is passed on as it is.

/// A task.
struct TaskReply: Message {
    var id = 0
    var name = ""
    var kind = ""
    var owner = 0
    var application: String?
    var group: String?
    var state = ""
    var outcome: String?
    var reason: String?
    var remaining: RemainingReply?
    var usedMs: Int?
    var endedMs: Int?
    var attempt: Int?
    var command: [String]?
    var exit: Tasks.Exit?
    var status: String?
    var waiting: String?
    var notBeforeMs: Int?
    var progress: Tasks.Progress?

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("id", &id)
        try fields.field("name", &name)
        try fields.field("kind", &kind)
        try fields.field("owner", &owner)
        try fields.field("application", &application)
        try fields.field("group", &group)
        try fields.field("state", &state)
        try fields.field("outcome", &outcome)
        try fields.field("reason", &reason)
        try fields.field("remaining", &remaining)
        try fields.field("usedMs", &usedMs)
        try fields.field("endedMs", &endedMs)
        try fields.field("attempt", &attempt)
        try fields.field("command", &command)
        try fields.field("exit", &exit)
        try fields.field("status", &status)
        try fields.field("waiting", &waiting)
        try fields.field("notBeforeMs", &notBeforeMs)
        try fields.field("progress", &progress)
    }
}

/// What time is left.
struct RemainingReply: Message {
    var ms: Int?
    var hardMs: Int?

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("ms", &ms)
        try fields.field("hardMs", &hardMs)
    }
}

/// What happened to a task.
struct EventReply: Message {
    var number = 0
    var kind = ""
    var task = TaskReply()
    var reason: String?
    var stream: String?
    var text: String?

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("number", &number)
        try fields.field("kind", &kind)
        try fields.field("task", &task)
        try fields.field("reason", &reason)
        try fields.field("stream", &stream)
        try fields.field("text", &text)
    }
}

/// What became of a submission.
struct SubmissionReply: Message {
    var id = 0
    var receipt = ""
    var notBeforeMs: Int?

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("id", &id)
        try fields.field("receipt", &receipt)
        try fields.field("notBeforeMs", &notBeforeMs)
    }
}

/// A reply with a task, or without one.
struct TaskAnswer: Message {
    var task: TaskReply?

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("task", &task)
    }
}

/// What a listing is asked.
struct ListingInput: Message {
    var states: [String]?
    var name: String?
    var group: String?
    var ended: Bool?
    var outcomes: [String]?
    var sinceMs: Int?
    var all: Bool?

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("states", &states)
        try fields.field("name", &name)
        try fields.field("group", &group)
        try fields.field("ended", &ended)
        try fields.field("outcomes", &outcomes)
        try fields.field("sinceMs", &sinceMs)
        try fields.field("all", &all)
    }
}

// MARK: - The methods with these replies

protocol Listing: Method where Input == ListingInput, Output == TaskAnswer {}

enum ListCall: Listing {
    static var name: String { Tasks.List.name }
}

enum HistoryCall: Listing {
    static var name: String { Tasks.History.name }
}

enum WaitCall: Method {
    static var name: String { Tasks.Wait.name }
    typealias Input = Tasks.Wait.Input
    typealias Output = TaskAnswer
}

enum SubmitCall: Method {
    static var name: String { Tasks.Submit.name }
    typealias Input = Tasks.Submit.Input
    typealias Output = SubmissionReply
}

enum RestartCall: Method {
    static var name: String { Tasks.Restart.name }
    typealias Input = Tasks.Restart.Input
    typealias Output = SubmissionReply
}

enum ShowCall: Method {
    static var name: String { Tasks.Show.name }
    typealias Input = Tasks.Reference

    struct Output: Message {
        var task = TaskReply()

        mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("task", &task)
        }
    }
}

enum WatchCall: Method {
    static var name: String { Tasks.Watch.name }
    typealias Input = Tasks.Watch.Input

    struct Output: Message {
        var event = EventReply()

        mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("event", &event)
        }
    }
}
