/// Reads a definition text into an `InterfaceDescription`.
struct InterfaceParser {
    private var scanner: InterfaceScanner
    private var types: [InterfaceDescription.NamedType] = []
    private var methods: [InterfaceDescription.MethodDefinition] = []
    private var errors: [InterfaceDescription.NamedType] = []
    private var names: Set<String> = []
    /// Names of types that are used, and where.
    private var uses: [(name: String, position: Int)] = []

    /// Types nest no deeper.
    private static let depthMax = 64

    init(_ text: String) {
        scanner = InterfaceScanner(text)
    }

    mutating func parse() throws(InterfaceError) -> InterfaceDescription {
        scanner.skipSpace()
        let documentation = scanner.comment.joined(separator: "\n")
        try scanner.expect("interface")
        let name = try scanner.name(.interface)
        while !scanner.isAtEnd { try parseMember() }
        for use in uses where !types.contains(where: { $0.name == use.name }) {
            throw scanner.error("no type is named \(use.name)", at: use.position)
        }
        return InterfaceDescription(
            name: name,
            documentation: documentation,
            types: types,
            methods: methods,
            errors: errors
        )
    }

    private mutating func parseMember() throws(InterfaceError) {
        let documentation = scanner.comment.joined(separator: "\n")
        if scanner.take("type") {
            let name = try parseName()
            types.append(
                .init(name: name, type: try parseGroup(depth: 0), documentation: documentation)
            )
        } else if scanner.take("error") {
            let name = try parseName()
            errors.append(
                .init(name: name, type: try parseStructure(), documentation: documentation)
            )
        } else if scanner.take("method") {
            let name = try parseName()
            let input = try parseStructure()
            try scanner.expect("->")
            methods.append(
                .init(
                    name: name,
                    input: input,
                    output: try parseStructure(),
                    documentation: documentation
                )
            )
        } else {
            throw scanner.error("expected 'type', 'method' or 'error'")
        }
    }

    private mutating func parseName() throws(InterfaceError) -> String {
        let position = scanner.position
        let name = try scanner.name(.member)
        guard names.insert(name).inserted else {
            throw scanner.error("\(name) is defined twice", at: position)
        }
        return name
    }

    private mutating func parseStructure() throws(InterfaceError) -> VarlinkType {
        let position = scanner.position
        let type = try parseGroup(depth: 0)
        guard case .structure = type else {
            throw scanner.error("expected fields with types", at: position)
        }
        return type
    }

    /// Reads a structure or an enumeration: both are names in parentheses, and the first name
    /// tells.
    private mutating func parseGroup(depth: Int) throws(InterfaceError) -> VarlinkType {
        try scanner.expect("(")
        if scanner.take(")") { return .structure([]) }
        var fields: [VarlinkType.Field] = []
        var members: [String] = []
        var seen: Set<String> = []
        repeat {
            let position = scanner.position
            let name = try scanner.name(.field)
            guard seen.insert(name).inserted else {
                throw scanner.error("\(name) is named twice", at: position)
            }
            if members.isEmpty, scanner.take(":") {
                fields.append(VarlinkType.Field(name, try parseType(depth: depth + 1)))
            } else if fields.isEmpty {
                members.append(name)
            } else {
                throw scanner.error("expected ':'")
            }
        } while scanner.take(",")
        try scanner.expect(")")
        return fields.isEmpty ? .enumeration(members) : .structure(fields)
    }

    private mutating func parseType(depth: Int) throws(InterfaceError) -> VarlinkType {
        guard depth <= InterfaceParser.depthMax else { throw scanner.error("nested too deep") }
        let position = scanner.position
        if scanner.take("?") {
            let type = try parseType(depth: depth + 1)
            if case .optional = type { throw scanner.error("'?' twice", at: position) }
            return .optional(type)
        }
        if scanner.take("[]") { return .array(try parseType(depth: depth + 1)) }
        if scanner.take("[string]") { return .map(try parseType(depth: depth + 1)) }
        if scanner.take("bool") { return .bool }
        if scanner.take("int") { return .int }
        if scanner.take("float") { return .float }
        if scanner.take("string") { return .string }
        if scanner.take("object") { return .object }
        if scanner.take("any") { return .any }
        if let type = try? parseNamed() { return type }
        guard !scanner.isAtEnd else { throw scanner.error("expected a type") }
        return try parseGroup(depth: depth)
    }

    private mutating func parseNamed() throws(InterfaceError) -> VarlinkType {
        let position = scanner.position
        let name = try scanner.name(.member)
        uses.append((name, position))
        return .named(name)
    }
}
