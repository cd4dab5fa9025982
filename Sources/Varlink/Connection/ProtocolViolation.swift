package import JSON

/// Tells how a peer broke the protocol; nothing on its connection can be trusted after that, so it
/// is closed.
package enum ProtocolViolation: Error, Sendable, Equatable, CustomStringConvertible {
    /// A frame is longer than this many bytes.
    case frameTooLong(max: Int)
    case notJSON(JSONError)
    case notAnObject
    /// A part of the message that it cannot do without.
    case missing(String)
    /// A part of the message is not of its type.
    case wrongType(String)
    /// A method or error name without an interface or a member, or one that is too long.
    case badName
    /// A reply that no call waits for.
    case unexpectedReply
    /// A reply says that others follow, and its call did not ask for more than one.
    case unexpectedContinues
    /// A file descriptor came along, for which the protocol has no use.
    case descriptor
    /// So many poll its other end that each message costs this end too much.
    case pollers

    /// One sentence, for a log entry.
    package var description: String {
        switch self {
        case .frameTooLong(let max): "a message is longer than \(max) bytes"
        case .notJSON(let error): "a message is not JSON: \(error)"
        case .notAnObject: "a message is not a JSON object"
        case .missing(let name): "a message has no \(name)"
        case .wrongType(let name): "the \(name) of a message is of a wrong type"
        case .badName: "the name of a method or error is not INTERFACE.MEMBER"
        case .unexpectedReply: "a reply that no call waits for"
        case .unexpectedContinues: "more than one reply to a call that did not ask for more"
        case .descriptor: "a file descriptor came along"
        case .pollers: "so many poll its other end that each message takes too long"
        }
    }
}
