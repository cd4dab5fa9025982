internal import JSON

/// Lists and maps in one column, as JSON, which SQLite's own functions and people can read.
enum JSONText {
    static func array(of strings: [String]) -> String {
        var writer = JSONWriter()
        writer.beginArray()
        for string in strings {
            writer.element()
            writer.string(string)
        }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func array<Number: BinaryInteger>(of numbers: [Number]) -> String {
        var writer = JSONWriter()
        writer.beginArray()
        for number in numbers {
            writer.element()
            writer.integer(Int(number))
        }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The members in the order of their names, so that the same map is the same text.
    static func object(of members: [String: String]) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            writer.string(value)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// - Returns: `nil` where the text is no array of strings.
    static func strings(_ text: String) -> [String]? {
        guard case .array(let elements) = value(text) else { return nil }
        var strings: [String] = []
        for element in elements {
            guard case .string(let string) = element else { return nil }
            strings.append(string)
        }
        return strings
    }

    /// - Returns: `nil` where the text is no array of whole numbers in range.
    static func numbers<Number: FixedWidthInteger>(_ text: String) -> [Number]? {
        guard case .array(let elements) = value(text) else { return nil }
        var numbers: [Number] = []
        for element in elements {
            guard case .integer(let integer) = element, let number = Number(exactly: integer)
            else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    /// - Returns: `nil` where the text is no object of strings.
    static func members(_ text: String) -> [String: String]? {
        guard case .object(let pairs) = value(text) else { return nil }
        var members: [String: String] = [:]
        for (name, member) in pairs {
            guard case .string(let string) = member else { return nil }
            members[name] = string
        }
        return members
    }

    /// - Returns: `nil` where the text is no JSON.
    static func value(_ text: String) -> JSONValue? {
        guard let document = try? JSONDocument(parsing: text.utf8) else { return nil }
        return try? document.value()
    }
}
