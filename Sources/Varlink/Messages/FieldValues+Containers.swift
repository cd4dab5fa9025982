public import JSON

extension Optional: FieldValue where Wrapped: FieldValue {
    /// Nothing.
    @inlinable
    package static var absent: Wrapped?? { .some(.none) }

    /// Tells whether there is nothing.
    @inlinable
    package var isAbsent: Bool { self == nil }

    /// Reads a value or `null`.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> Wrapped? {
        reader.kind == .null ? nil : try Wrapped.read(from: &reader)
    }

    /// Appends the value or `null`.
    @inlinable
    package func write(to writer: inout JSONWriter) {
        if let value = self { value.write(to: &writer) } else { writer.null() }
    }

    /// `?` and the type.
    @usableFromInline
    package static var varlinkType: VarlinkType { .optional(Wrapped.varlinkType) }
}

extension Array: FieldValue where Element: FieldValue {
    /// Reads an array of values of one type.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> [Element] {
        try reader.readArray()
    }

    /// Appends the values.
    @inlinable
    package func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for value in self {
            writer.element()
            value.write(to: &writer)
        }
        writer.endArray()
    }

    /// `[]` and the type.
    @usableFromInline
    package static var varlinkType: VarlinkType { .array(Element.varlinkType) }
}

extension Dictionary: FieldValue where Key == String, Value: FieldValue {
    /// Reads a map of values of one type.
    @inlinable
    package static func read(
        from reader: inout MessageReader
    ) throws(MessageError) -> [String: Value] {
        try reader.readMap()
    }

    /// Appends the members, sorted by their keys.
    @inlinable
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            writer.key(key)
            value.write(to: &writer)
        }
        writer.endObject()
    }

    /// `[string]` and the type.
    @usableFromInline
    package static var varlinkType: VarlinkType { .map(Value.varlinkType) }
}

/// A set of strings: Varlink's `[string]()`, a map of empty structures.
@usableFromInline
package struct StringSet: FieldValue, Equatable, ExpressibleByArrayLiteral {
    /// The strings.
    @usableFromInline
    package var members: Set<String>

    /// Makes a set of these strings.
    @usableFromInline
    package init(_ members: some Sequence<String>) { self.members = Set(members) }

    /// Makes a set of these strings.
    @usableFromInline
    package init(arrayLiteral elements: String...) { self.init(elements) }

    /// Reads a map whose values are empty objects.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> StringSet {
        StringSet(try [String: Empty].read(from: &reader).keys)
    }

    /// Appends the strings, sorted.
    @inlinable
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for member in members.sorted() {
            writer.key(member)
            writer.beginObject()
            writer.endObject()
        }
        writer.endObject()
    }

    /// `[string]()`.
    @usableFromInline
    package static var varlinkType: VarlinkType { .map(.structure([])) }
}
