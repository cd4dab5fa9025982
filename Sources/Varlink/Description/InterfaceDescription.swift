/// An interface as its definition text says it (varlink.org, Interface Definition).
package struct InterfaceDescription: Sendable {
    /// The name, such as `org.bgtaskd.Tasks`.
    package let name: String
    /// The comment above the interface, without its marks.
    package let documentation: String
    /// Named types, in the order of the text.
    package let types: [NamedType]
    /// Methods, in the order of the text.
    package let methods: [MethodDefinition]
    /// Errors, in the order of the text.
    package let errors: [NamedType]

    /// A type or an error: a name and what it stands for.
    package struct NamedType: Sendable {
        /// The name, without the interface.
        package let name: String
        /// What it stands for.
        package let type: VarlinkType
        /// The comment above it, without its marks.
        package let documentation: String
    }

    /// A method: what it takes and what it replies.
    package struct MethodDefinition: Sendable {
        /// The name, without the interface.
        package let name: String
        /// What it takes: a structure.
        package let input: VarlinkType
        /// What each reply has: a structure.
        package let output: VarlinkType
        /// The comment above it, without its marks.
        package let documentation: String
    }

    /// Reads a definition text.
    package init(parsing text: String) throws(InterfaceError) {
        var parser = InterfaceParser(text)
        self = try parser.parse()
    }

    init(
        name: String,
        documentation: String,
        types: [NamedType],
        methods: [MethodDefinition],
        errors: [NamedType]
    ) {
        self.name = name
        self.documentation = documentation
        self.types = types
        self.methods = methods
        self.errors = errors
    }

    // MARK: Looking up

    /// The type of this name; `nil` where there is none.
    package func type(_ name: String) -> VarlinkType? {
        types.first { $0.name == name }?.type
    }

    /// The method of this name, without the interface; `nil` where there is none.
    package func method(_ name: String) -> MethodDefinition? {
        methods.first { $0.name == name }
    }

    /// The parameters of the error of this name, without the interface; `nil` where there is none.
    package func error(_ name: String) -> VarlinkType? {
        errors.first { $0.name == name }?.type
    }

    /// A type with every name replaced by what it stands for; a type inside itself keeps its name.
    package func resolved(_ type: VarlinkType) -> VarlinkType { resolved(type, inside: []) }

    private func resolved(_ type: VarlinkType, inside names: [String]) -> VarlinkType {
        switch type {
        case .named(let name):
            guard !names.contains(name), let found = self.type(name) else { return type }
            return resolved(found, inside: names + [name])
        case .optional(let type): return .optional(resolved(type, inside: names))
        case .array(let type): return .array(resolved(type, inside: names))
        case .map(let type): return .map(resolved(type, inside: names))
        case .structure(let fields):
            return .structure(
                fields.map { VarlinkType.Field($0.name, resolved($0.type, inside: names)) }
            )
        default: return type
        }
    }

    // MARK: Comparing

    /// How the messages of a method differ from this text; empty where they do not.
    package func differences<M: Method>(of method: M.Type) -> [String] {
        guard M.name.hasPrefix(name + "."), let here = self.method(member(of: M.name)) else {
            return ["\(M.name): not in \(name)"]
        }
        return differences("\(M.name) input", M.Input.varlinkType, here.input)
            + differences("\(M.name) output", M.Output.varlinkType, here.output)
    }

    /// How the parameters of an error, named with its interface, differ from this text.
    package func differences<M: Message>(ofError error: String, _ parameters: M.Type) -> [String] {
        guard error.hasPrefix(name + "."), let here = self.error(member(of: error)) else {
            return ["\(error): not in \(name)"]
        }
        return differences(error, M.varlinkType, here)
    }

    /// How a value's type differs from the type of this name.
    package func differences<T: FieldValue>(ofType type: String, _ value: T.Type) -> [String] {
        guard let here = self.type(type) else { return ["\(type): not in \(name)"] }
        return differences(type, T.varlinkType, here)
    }

    private func member(of name: String) -> String { String(name.dropFirst(self.name.count + 1)) }

    private func differences(
        _ subject: String,
        _ ours: VarlinkType,
        _ here: VarlinkType
    ) -> [String] {
        let here = resolved(here).sorted
        let ours = ours.sorted
        guard case .structure(let fields) = here, case .structure(let ourFields) = ours else {
            return here == ours
                ? [] : ["\(subject): \(ours.text) in code, \(here.text) in the text"]
        }
        let names = Set(fields.map(\.name)).union(ourFields.map(\.name)).sorted()
        return names.compactMap { name in
            let written = fields.first { $0.name == name }?.type.text ?? "nothing"
            let coded = ourFields.first { $0.name == name }?.type.text ?? "nothing"
            guard written != coded else { return nil }
            return "\(subject), \(name): \(coded) in code, \(written) in the text"
        }
    }
}

/// Tells where a definition text is wrong, and how.
package struct InterfaceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1.
    package let line: Int
    /// The column, in bytes, from 1.
    package let column: Int
    /// What is wrong.
    package let reason: String

    /// Line, column and reason, as compilers write them.
    package var description: String { "\(line):\(column): \(reason)" }
}
