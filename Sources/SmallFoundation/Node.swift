/// A JSON value that is being put together.
final class Node {
    private var content = Content.scalar("null")

    private enum Content {
        /// As it is written.
        case scalar(String)
        case array([Node])
        case object([String: Node])
    }

    func take(_ value: some Encodable) throws {
        switch value {
        case let value as String: content = .scalar(Self.quoted(value))
        case let value as Bool: content = .scalar("\(value)")
        case let value as any BinaryInteger: content = .scalar("\(value)")
        case let value as any BinaryFloatingPoint: content = .scalar("\(value)")
        default: try value.encode(to: NodeEncoder(node: self))
        }
    }

    func becomeArray() {
        if case .array = content { return }
        content = .array([])
    }

    func becomeObject() {
        if case .object = content { return }
        content = .object([:])
    }

    var count: Int {
        if case .array(let elements) = content { elements.count } else { 0 }
    }

    /// A new element at the end of the array.
    func element() -> Node {
        guard case .array(let elements) = content else { return Node() }
        let element = Node()
        content = .array(elements + [element])
        return element
    }

    /// A new member of the object.
    func member(_ name: String) -> Node {
        guard case .object(var members) = content else { return Node() }
        let member = Node()
        members[name] = member
        content = .object(members)
        return member
    }

    func text(indent: String) -> String {
        let inner = indent + "  "
        switch content {
        case .scalar(let text):
            return text
        case .array(let elements):
            let lines = elements.map { inner + $0.text(indent: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members):
            let lines = members.sorted { $0.key < $1.key }.map { name, value in
                inner + Self.quoted(name) + " : " + value.text(indent: inner)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "/": quoted += "\\/"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{8}": quoted += "\\b"
            case "\u{C}": quoted += "\\f"
            case ..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
