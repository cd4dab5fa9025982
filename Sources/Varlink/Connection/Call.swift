public import JSON

/// A method call as it came over a connection.
///
/// Shares the connection's buffer; whoever answers much later keeps what it has decoded and not the
/// call.
@usableFromInline
package struct Call: Sendable {
    /// The method with its interface, such as `org.bgtaskd.Tasks.Begin`.
    package let method: String
    /// The caller wants no reply.
    package let oneway: Bool
    /// The caller takes any number of replies.
    package let more: Bool
    /// The length of its frame.
    package let byteCount: Int
    @usableFromInline
    let document: JSONDocument
    /// The token of the parameters; `nil` where there are none.
    @usableFromInline
    let parameters: Int?

    @usableFromInline
    static let withoutParameters = JSONDocument(emptyObject: ())

    /// The interface of the method, such as `org.bgtaskd.Tasks`.
    package var interface: Substring {
        guard let dot = method.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return method[..<dot]
    }

    /// The method without its interface, such as `Begin`.
    package var member: Substring {
        guard let dot = method.utf8.lastIndex(of: UInt8(ascii: ".")) else { return method[...] }
        return method[method.utf8.index(after: dot)...]
    }

    /// Reads the parameters, strictly.
    ///
    /// - Throws: the first parameter that is missing, unknown or of a wrong type; it becomes
    ///   `ServiceError.invalidParameter`.
    @inlinable
    package func decode<M: Message>(_ type: M.Type) throws(MessageError) -> M {
        guard let parameters else {
            return try Call.withoutParameters.decode(type, strict: true)
        }
        return try document.decode(type, at: parameters, strict: true)
    }

    /// The parameters as they came.
    package func value() throws(MessageError) -> JSONValue {
        guard let parameters else { return .object([]) }
        return try document.parameters(at: parameters)
    }
}
