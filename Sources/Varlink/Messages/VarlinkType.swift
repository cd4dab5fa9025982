/// A type of the interface definition language (varlink.org, Interface Definition).
@usableFromInline
package indirect enum VarlinkType: Sendable, Equatable {
    case bool
    case int
    case float
    case string
    /// An untyped object.
    case object
    /// An untyped value of any kind.
    case any
    /// A type that the interface names.
    case named(String)
    case optional(VarlinkType)
    case array(VarlinkType)
    case map(VarlinkType)
    case structure([Field])
    case enumeration([String])

    /// A member of a structure.
    @usableFromInline
    package struct Field: Sendable, Equatable {
        /// The name.
        package let name: String
        /// The type of its value.
        package let type: VarlinkType
        /// What its numbers have to be in; the language has no word for it, and a description has none.
        package let range: ClosedRange<Int>?
        /// How many elements it may have, likewise.
        package let limit: CountLimit?

        /// Makes a member.
        package init(
            _ name: String, _ type: VarlinkType, in range: ClosedRange<Int>? = nil,
            atMost limit: CountLimit? = nil
        ) {
            self.name = name
            self.type = type
            self.range = range
            self.limit = limit
        }
    }

    /// The type as text in the interface definition language.
    package var text: String {
        switch self {
        case .bool: "bool"
        case .int: "int"
        case .float: "float"
        case .string: "string"
        case .object: "object"
        case .any: "any"
        case .named(let name): name
        case .optional(let type): "?" + type.text
        case .array(let type): "[]" + type.text
        case .map(let type): "[string]" + type.text
        case .structure(let fields):
            "(" + fields.map { "\($0.name): \($0.type.text)" }.joined(separator: ", ") + ")"
        case .enumeration(let members): "(" + members.joined(separator: ", ") + ")"
        }
    }

    /// The same type with fields and members sorted by name, and without ranges, so that these do not count in
    /// a comparison.
    package var sorted: VarlinkType {
        switch self {
        case .optional(let type): .optional(type.sorted)
        case .array(let type): .array(type.sorted)
        case .map(let type): .map(type.sorted)
        case .structure(let fields):
            .structure(
                fields.map { Field($0.name, $0.type.sorted) }.sorted { $0.name < $1.name }
            )
        case .enumeration(let members): .enumeration(members.sorted())
        default: self
        }
    }
}

/// Collects the names and types of a message's fields.
struct TypeDescriber: FieldVisitor {
    var fields: [VarlinkType.Field] = []

    mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T
    ) throws(MessageError) {
        fields.append(VarlinkType.Field(TypeDescriber.text(name), T.varlinkType))
    }

    mutating func field<T: WholeNumbers>(
        _ name: StaticString,
        _ value: inout T,
        in range: ClosedRange<Int>
    ) throws(MessageError) {
        fields.append(VarlinkType.Field(TypeDescriber.text(name), T.varlinkType, in: range))
    }

    mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T,
        atMost limit: CountLimit
    ) throws(MessageError) {
        fields.append(VarlinkType.Field(TypeDescriber.text(name), T.varlinkType, atMost: limit))
    }

    private static func text(_ name: StaticString) -> String {
        name.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
    }
}
