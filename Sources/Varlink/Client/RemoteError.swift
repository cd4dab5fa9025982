package import JSON

/// An error that a service replied with.
package struct RemoteError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error with its interface, such as `org.bgtaskd.Tasks.NoSuchTask`.
    package let name: String
    /// What the service says about it; an empty object where it says nothing.
    package let parameters: JSONValue

    /// Makes an error.
    package init(name: String, parameters: JSONValue) {
        self.name = name
        self.parameters = parameters
    }

    /// Reads the parameters into a message; unknown ones are ignored.
    package func decode<M: Message>(_ type: M.Type) throws(MessageError) -> M {
        var writer = JSONWriter()
        writer.value(parameters)
        guard let document = try? JSONDocument(parsing: writer.bytes, depthMax: .max) else {
            throw MessageError(.wrongType(expected: "object"))
        }
        return try document.decode(type, strict: false)
    }

    /// What the service says for a person about what was wrong; `nil` where it says nothing.
    package var reason: String? {
        guard case .string(let text) = parameters["reason"] else { return nil }
        return text
    }

    /// The name and the parameters, as they came.
    package var description: String { "\(name) \(parameters.text)" }
}
