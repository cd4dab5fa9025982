internal import JSON
internal import Varlink

/// One message as one line of compact JSON, with the field names of the wire.
enum JSONLine {
    static func text<M: Message>(_ message: M) -> String {
        var writer = JSONWriter()
        message.write(to: &writer)
        return VisibleText.json(String(decoding: writer.bytes, as: UTF8.self)) + "\n"
    }

    /// What went wrong: the name of the daemon's error, or `null` where it is not the daemon that refuses, a line for a
    /// person, and the error's parameters where it has any.
    static func failure(_ message: String, _ error: RemoteError?) -> String {
        var members: [(key: String, value: JSONValue)] = [
            ("error", error.map { JSONValue.string($0.name) } ?? .null),
            ("message", .string(message)),
        ]
        if let parameters = error?.parameters, parameters != .object([]) {
            members.append(("parameters", parameters))
        }
        return VisibleText.json(JSONValue.object(members).text) + "\n"
    }
}
