internal import JSON

/// The errors that every Varlink service has (`org.varlink.service`).
package enum ServiceError: Error, Sendable, Equatable {
    case interfaceNotFound(interface: String)
    /// The method with its interface.
    case methodNotFound(method: String)
    case methodNotImplemented(method: String)
    /// The path of the parameter, such as `budget.durationMs`.
    case invalidParameter(parameter: String)
    case permissionDenied
    case expectedMore

    /// The answer to a message that could not be read.
    package init(_ error: MessageError) {
        self = .invalidParameter(
            parameter: error.parameter.isEmpty ? "parameters" : error.parameter
        )
    }

    /// How much of a text that a peer has chosen an error says again, in bytes.
    package static let quotedBytesMax = 256

    /// The same error in a length that does not depend on the call that it answers.
    fileprivate var shortened: ServiceError {
        func cut(_ text: String) -> String {
            let mark = 3
            return MessageError.shortened(text, to: ServiceError.quotedBytesMax - mark)
        }
        return switch self {
        case .interfaceNotFound(let interface): .interfaceNotFound(interface: cut(interface))
        case .methodNotFound(let method): .methodNotFound(method: cut(method))
        case .methodNotImplemented(let method): .methodNotImplemented(method: cut(method))
        case .invalidParameter(let parameter): .invalidParameter(parameter: cut(parameter))
        case .permissionDenied, .expectedMore: self
        }
    }

    /// The name on the wire, with its interface.
    package var name: String {
        switch self {
        case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
        case .methodNotFound: "org.varlink.service.MethodNotFound"
        case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
        case .invalidParameter: "org.varlink.service.InvalidParameter"
        case .permissionDenied: "org.varlink.service.PermissionDenied"
        case .expectedMore: "org.varlink.service.ExpectedMore"
        }
    }

    /// Reads an error that a peer has sent; `nil` where it is none of these.
    package init?(_ error: RemoteError) {
        let parameters = error.parameters
        switch error.name {
        case "org.varlink.service.InterfaceNotFound":
            self = .interfaceNotFound(interface: parameters.text(of: "interface"))
        case "org.varlink.service.MethodNotFound":
            self = .methodNotFound(method: parameters.text(of: "method"))
        case "org.varlink.service.MethodNotImplemented":
            self = .methodNotImplemented(method: parameters.text(of: "method"))
        case "org.varlink.service.InvalidParameter":
            self = .invalidParameter(parameter: parameters.text(of: "parameter"))
        case "org.varlink.service.PermissionDenied": self = .permissionDenied
        case "org.varlink.service.ExpectedMore": self = .expectedMore
        default: return nil
        }
    }

    struct InterfaceParameter: Message {
        var interface = ""

        mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("interface", &interface)
        }
    }

    struct MethodParameter: Message {
        var method = ""

        mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("method", &method)
        }
    }

    struct ParameterParameter: Message {
        var parameter = ""
        var reason: String?

        mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("parameter", &parameter)
            try fields.field("reason", &reason)
        }
    }

    struct ReasonParameter: Message {
        var reason: String?

        mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("reason", &reason)
        }
    }
}

extension JSONValue {
    fileprivate func text(of name: String) -> String {
        guard case .string(let text) = self[name] else { return "" }
        return text
    }
}

extension ServerConnection {
    /// Replies to the call in progress with an error that every service has; what it quotes of the call
    /// is cut to `quotedBytesMax`.
    ///
    /// - Parameter reason: what is wrong with the parameter, or what is denied, for a person; the specification has no
    ///   such field, and a client that does not know it ignores it.
    package mutating func reply(_ error: ServiceError, reason: String? = nil) -> ReplyResult {
        switch error.shortened {
        case .interfaceNotFound(let interface):
            replyError(error.name, ServiceError.InterfaceParameter(interface: interface))
        case .methodNotFound(let method), .methodNotImplemented(let method):
            replyError(error.name, ServiceError.MethodParameter(method: method))
        case .invalidParameter(let parameter):
            replyError(
                error.name, ServiceError.ParameterParameter(parameter: parameter, reason: reason))
        case .permissionDenied:
            replyError(error.name, ServiceError.ReasonParameter(reason: reason))
        case .expectedMore: replyError(error.name, Empty())
        }
    }
}
