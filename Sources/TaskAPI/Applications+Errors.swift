package import Varlink

extension Applications {
    /// The error `NoSuchApplication`.
    package struct NoSuchApplication: WireError {
        package static let name = "org.bgtaskd.Applications.NoSuchApplication"

        package var id = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
        }
    }

    /// The error `CannotContain`.
    package struct CannotContain: WireError {
        package static let name = "org.bgtaskd.Applications.CannotContain"

        package var pid = 0
        package var reason = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("pid", &pid)
            try fields.field("reason", &reason)
        }
    }

    /// The error `WrongState`.
    package struct WrongState: WireError {
        package static let name = "org.bgtaskd.Applications.WrongState"

        package var id = ""
        package var state = State.notRunning

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
            try fields.field("state", &state)
        }
    }

    /// It has no command that could be started.
    package struct NotRegistered: WireError {
        package static let name = "org.bgtaskd.Applications.NotRegistered"

        package var id = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
        }
    }

    /// The error `CannotStart`.
    package struct CannotStart: WireError {
        package static let name = "org.bgtaskd.Applications.CannotStart"

        package var id = ""
        package var reason = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
            try fields.field("reason", &reason)
        }
    }
}
