internal import JSON
package import Varlink

/// One message as one line of compact JSON, with the field names of the wire, and with points in time beside what the
/// daemon tells as so long ago.
package enum JSONLine {
    /// - Parameter moment: when it came.
    package static func text<M: Message>(
        _ message: M, _ moment: JSONTimes = JSONTimes(now: WallClock.milliseconds)
    ) -> String {
        line(of: message) { moment.added(to: $0) }
    }

    /// What is said of a task, with the task's number in front.
    static func text<M: Message>(_ message: M, of id: Int) -> String {
        let moment = JSONTimes(now: WallClock.milliseconds)
        return line(of: message) { value in
            guard case .object(let members) = moment.added(to: value) else { return value }
            return .object([("id", .integer(id))] + members)
        }
    }

    /// An event of a stream: with when it came, too.
    package static func event<M: Message>(
        _ event: M, _ moment: JSONTimes = JSONTimes(now: WallClock.milliseconds)
    ) -> String {
        line(of: event) { moment.stamped(moment.added(to: $0)) }
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

    private static func line<M: Message>(
        of message: M, _ change: (JSONValue) -> JSONValue
    ) -> String {
        var writer = JSONWriter()
        message.write(to: &writer)
        guard let value = try? JSONDocument(parsing: writer.bytes, depthMax: .max).value() else {
            return VisibleText.json(writer.text) + "\n"
        }
        return VisibleText.json(change(value).text) + "\n"
    }
}
