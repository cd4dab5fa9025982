/// Tells why a call of a client came to nothing.
package enum ClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address is not of a form that is understood, or its path is longer than 107 bytes.
    case badAddress(String)
    /// connect(2), or socket(2) before it, failed.
    case cannotConnect(path: String, errno: Int32)
    /// The service closed the connection.
    case disconnected
    /// A read or write failed.
    case failed(operation: String, errno: Int32)
    case timedOut
    /// The service broke the protocol.
    case violation(ProtocolViolation)
    /// A reply's parameters are not what the method returns.
    case badReply(MessageError)
    /// The service replied with an error.
    case remote(RemoteError)
    /// Our own mistake: a reply was asked for where no call waits for one.
    case noCallWaiting

    /// One sentence, for a person.
    package var description: String {
        switch self {
        case .badAddress(let address): "not the address of a service: \(address)"
        case .cannotConnect(let path, let errno):
            "cannot connect to \(path): \(ClientError.text(errno))"
        case .disconnected: "the service closed the connection"
        case .failed(let operation, let errno): "\(operation) failed: \(ClientError.text(errno))"
        case .timedOut: "the service did not answer in time"
        case .violation(let violation): "the service broke the protocol: \(violation)"
        case .badReply(let error): "the service's reply is not understood: \(error)"
        case .remote(let error): "\(error)"
        case .noCallWaiting: "no call waits for a reply"
        }
    }
}
