import Varlink

/// Parameters that are right, or would be with an id that there is.
enum Usual {
    /// A value of a type, with all fields that have to be there and those on the way to `path`, where
    /// `replacement` stands.
    static func value(
        of type: VarlinkType, named name: String, path: ArraySlice<String> = [],
        replacement: String? = nil
    ) -> String {
        if path.isEmpty, let replacement { return replacement }
        switch type {
        case .optional(let inner):
            return value(of: inner, named: name, path: path, replacement: replacement)
        case .array(let element):
            guard !path.isEmpty || name == "command" else { return "[]" }
            guard !path.isEmpty else { return #"["/bin/true"]"# }
            let inside = value(
                of: element, named: name, path: path.dropFirst(), replacement: replacement)
            return name == "command" ? "[\"/bin/true\",\(inside)]" : "[\(inside)]"
        case .map(let element):
            guard !path.isEmpty else { return "{}" }
            let inside = value(
                of: element, named: name, path: path.dropFirst(), replacement: replacement)
            return "{\"key\":\(inside)}"
        case .structure(let fields):
            return object(fields, path, replacement)
        default: return scalar(type, named: name)
        }
    }

    private static func object(
        _ fields: [VarlinkType.Field], _ path: ArraySlice<String>, _ replacement: String?
    ) -> String {
        let members = fields.compactMap { field -> String? in
            if field.name == path.first {
                let inside = value(
                    of: field.type, named: field.name, path: path.dropFirst(),
                    replacement: replacement)
                return "\"\(field.name)\":\(inside)"
            }
            if case .optional = field.type { return nil }
            return "\"\(field.name)\":\(value(of: field.type, named: field.name))"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private static func scalar(_ type: VarlinkType, named name: String) -> String {
        switch type {
        case .bool: "true"
        case .int: numbers[name] ?? "1"
        case .float: "0.5"
        case .enumeration(let members): "\"\(members.first ?? "")\""
        case .object, .any: "{}"
        default: texts[name] ?? "\"fuzzed\""
        }
    }

    private static let numbers = [
        "durationMs": "1000", "graceMs": "100", "attempts": "2", "delayMs": "10", "timeoutMs": "0",
    ]

    private static let texts = [
        "signal": "\"SIGTERM\"", "directory": "\"/\"", "profile": "\"default\"",
        "interface": "\"org.bgtaskd.Tasks\"", "command": "\"/bin/true\"",
    ]
}
