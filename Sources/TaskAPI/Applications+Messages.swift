package import JSON
package import Varlink

extension Applications {
    /// The members of `MessageKind`.
    package enum MessageKind: String, WireEnum {
        case alert, silent
    }

    /// none: the message only arrived. tapped: the user opened it. opened: the user opened the application, not
    /// the message.
    package enum UserAction: String, WireEnum {
        case none, tapped, opened
    }

    /// What became of a message. delivered: the application was notified. deferred: it will be, but not before
    /// notBeforeMs. dropped: it has no callback for it, or none is called in its state, as when the alert is only shown.
    package enum Receipt: String, WireEnum {
        case delivered, deferred, dropped
    }

    /// The application has finished with a message for which this has to be called, or with a task that it performs.
    /// success: how that task ended; true if absent. A second time it changes nothing.
    package enum Delivered: Method {
        package static let name = "org.bgtaskd.Applications.Delivered"

        /// What `Delivered` is asked.
        package struct Input: Message {
            package var id = ""
            package var deliveryId = 0
            package var success: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("deliveryId", &deliveryId, in: .identifiers)
                try fields.field("success", &success)
            }
        }

        package typealias Output = Empty
    }

    /// Route a message by the state of the application and by what it handles. payload: at most 4096 bytes of
    /// JSON. badge: its new number, 0 to 2147483647, whatever becomes of the message.
    package enum Push: Method {
        package static let name = "org.bgtaskd.Applications.Push"

        /// What `Push` is asked.
        package struct Input: Message {
            package var id = ""
            package var kind = MessageKind.alert
            package var action = UserAction.none
            package var payload: JSONValue?
            package var badge: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("kind", &kind)
                try fields.field("action", &action)
                try fields.field("payload", &payload)
                try fields.field("badge", &badge, in: .badges)
            }
        }

        /// What `Push` answers.
        package struct Output: Message {
            package var receipt = Receipt.delivered
            package var callback: Callback?
            package var notBeforeMs: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("receipt", &receipt)
                try fields.field("callback", &callback)
                try fields.field("notBeforeMs", &notBeforeMs)
            }
        }
    }

    /// Say which callbacks the application implements: it gets no others from now on. Absent: all. The program
    /// knows it, and whoever registered it may not. Answered when it is on disk.
    package enum SetHandles: Method {
        package static let name = "org.bgtaskd.Applications.SetHandles"

        /// What `SetHandles` is asked.
        package struct Input: Message {
            package var id = ""
            package var handles: [Callback]?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("handles", &handles, atMost: .members)
            }
        }

        package typealias Output = Empty
    }

    /// badge: 0 to 2147483647.
    package enum SetBadge: Method {
        package static let name = "org.bgtaskd.Applications.SetBadge"

        /// What `SetBadge` is asked.
        package struct Input: Message {
            package var id = ""
            package var badge = 0

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("badge", &badge, in: .badges)
            }
        }

        package typealias Output = Empty
    }
}
