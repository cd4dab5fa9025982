package import Varlink

extension Tasks {
    /// The error `NoSuchTask`.
    package struct NoSuchTask: WireError {
        package static let name = "org.bgtaskd.Tasks.NoSuchTask"

        package var id = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
        }
    }

    /// The error `NoSuchGroup`.
    package struct NoSuchGroup: WireError {
        package static let name = "org.bgtaskd.Tasks.NoSuchGroup"

        package var group = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("group", &group)
        }
    }

    /// The error `NoSuchProfile`.
    package struct NoSuchProfile: WireError {
        package static let name = "org.bgtaskd.Tasks.NoSuchProfile"

        package var profile = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("profile", &profile)
        }
    }

    /// The error `LimitReached`.
    package struct LimitReached: WireError {
        package static let name = "org.bgtaskd.Tasks.LimitReached"

        package var limit = ""
        package var value = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("limit", &limit)
            try fields.field("value", &value)
        }
    }

    /// The error `TooLittleTime`.
    package struct TooLittleTime: WireError {
        package static let name = "org.bgtaskd.Tasks.TooLittleTime"

        package var remainingMs = 0
        package var neededMs = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("remainingMs", &remainingMs)
            try fields.field("neededMs", &neededMs)
        }
    }

    /// The error `AlreadyEnded`.
    package struct AlreadyEnded: WireError {
        package static let name = "org.bgtaskd.Tasks.AlreadyEnded"

        package var id = 0
        package var outcome = Outcome.completed

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
            try fields.field("outcome", &outcome)
        }
    }

    /// The error `NotAccepting`.
    package struct NotAccepting: WireError {
        package static let name = "org.bgtaskd.Tasks.NotAccepting"

        package var reason = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("reason", &reason)
        }
    }

    /// The error `Confined`.
    package struct Confined: WireError {
        package static let name = "org.bgtaskd.Tasks.Confined"

        package var reason = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("reason", &reason)
        }
    }

    /// The error `OutputGone`.
    package struct OutputGone: WireError {
        package static let name = "org.bgtaskd.Tasks.OutputGone"

        package var id = 0
        package var lostWithDaemon = false

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
            try fields.field("lostWithDaemon", &lostWithDaemon)
        }
    }
}
