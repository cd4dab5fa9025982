package import Varlink

/// Control and introspection that services of systemd's family have in common.
package enum SystemdService {
    package static let name = "io.systemd.service"

    /// Answers when the service is ready.
    package enum Ping: Method {
        package static let name = "io.systemd.service.Ping"
        package typealias Input = Empty
        package typealias Output = Empty
    }

    /// Read the settings again.
    package enum Reload: Method {
        package static let name = "io.systemd.service.Reload"
        package typealias Input = Empty
        package typealias Output = Empty
    }

    /// Set the lowest log level that is logged, from 0 (emerg) to 7 (debug).
    package enum SetLogLevel: Method {
        package static let name = "io.systemd.service.SetLogLevel"

        /// What `SetLogLevel` is asked.
        package struct Input: Message {
            package var level = 0

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("level", &level, in: .logLevels)
            }
        }
        package typealias Output = Empty
    }

    /// The environment of the service, as NAME=value.
    package enum GetEnvironment: Method {
        package static let name = "io.systemd.service.GetEnvironment"
        package typealias Input = Empty

        /// What `GetEnvironment` answers.
        package struct Output: Message {
            package var environment: [String]?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("environment", &environment)
            }
        }
    }

    /// The environment is not text, so it cannot be sent.
    package struct InconsistentEnvironment: WireError {
        package static let name = "io.systemd.service.InconsistentEnvironment"
        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {}
    }
}
