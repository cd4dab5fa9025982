package import JSON

/// A reply as it came over a connection.
package struct Reply: Sendable {
    /// Other replies to the same call follow.
    package let continues: Bool
    /// What the service refused with; `nil` where it did not.
    package let error: RemoteError?
    private let document: JSONDocument
    private let parameters: Int?

    /// Reads the members of the outermost object; unknown ones are ignored, so that the protocol
    /// can grow.
    init(_ document: JSONDocument) throws(ProtocolViolation) {
        let envelope = try document.withView { view throws(ProtocolViolation) in
            try Envelope(view)
        }
        self.document = document
        parameters = envelope.parameters
        guard let name = envelope.error else {
            continues = envelope.continues
            error = nil
            return
        }
        continues = false
        let values: JSONValue
        do throws(JSONRangeError) {
            values =
                try parameters.map { at throws(JSONRangeError) in try document.value(at: at) }
                ?? .object([])
        } catch { throw .wrongType("parameters") }
        error = RemoteError(name: name, parameters: values)
    }

    /// Reads the parameters into a message; unknown ones are ignored, so that services can grow.
    package func decode<M: Message>(_ type: M.Type) throws(MessageError) -> M {
        guard let parameters else {
            return try JSONDocument(emptyObject: ()).decode(type, strict: false)
        }
        return try document.decode(type, at: parameters, strict: false)
    }

    /// The parameters as they came.
    package func value() throws(MessageError) -> JSONValue {
        guard let parameters else { return .object([]) }
        return try document.parameters(at: parameters)
    }

    private struct Envelope {
        var parameters: Int?
        var error: String?
        var continues = false

        init(_ view: JSONView) throws(ProtocolViolation) {
            guard view[0].kind == .object else { throw .notAnObject }
            let end = view[0].extent
            var key = 1
            while key < end {
                let name = view[key]
                let value = view[key &+ 1]
                if view.matches(name, "parameters") {
                    guard value.kind == .object || value.kind == .null else {
                        throw .wrongType("parameters")
                    }
                    parameters = value.kind == .object ? key &+ 1 : nil
                } else if view.matches(name, "continues") {
                    continues = try CallEnvelope.flag(value, "continues")
                } else if view.matches(name, "error"), value.kind != .null {
                    guard value.isString else { throw .wrongType("error") }
                    guard CallEnvelope.isQualified(view.bytes(of: value)) else { throw .badName }
                    error = view.string(of: value)
                }
                key = view[key &+ 1].next(after: key &+ 1)
            }
        }
    }
}
