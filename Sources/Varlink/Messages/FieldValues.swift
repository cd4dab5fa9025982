public import JSON

extension Bool: FieldValue {
    /// Reads `true` or `false`.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> Bool {
        try reader.readBool()
    }

    /// Appends `true` or `false`.
    @inlinable
    package func write(to writer: inout JSONWriter) { writer.bool(self) }

    /// `bool`.
    @usableFromInline
    package static var varlinkType: VarlinkType { .bool }
}

extension Int: FieldValue {
    /// Reads a whole number.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> Int {
        try reader.readInt()
    }

    /// Appends the digits.
    @inlinable
    package func write(to writer: inout JSONWriter) { writer.integer(self) }

    /// `int`.
    @usableFromInline
    package static var varlinkType: VarlinkType { .int }
}

extension Double: FieldValue {
    /// Reads a number.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> Double {
        try reader.readDouble()
    }

    /// Appends the shortest literal that reads back as the same number.
    @inlinable
    package func write(to writer: inout JSONWriter) { writer.double(self) }

    /// `float`.
    @usableFromInline
    package static var varlinkType: VarlinkType { .float }
}

extension String: FieldValue {
    /// Reads a string.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> String {
        try reader.readString()
    }

    /// Appends the string in quotes.
    @inlinable
    package func write(to writer: inout JSONWriter) { writer.string(self) }

    /// `string`.
    @usableFromInline
    package static var varlinkType: VarlinkType { .string }
}

/// An enumeration whose raw values are the members' names on the wire.
@usableFromInline
package protocol WireEnum: RawRepresentable<String>, CaseIterable, FieldValue {}

extension WireEnum {
    /// Reads the name of a member.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> Self {
        let name = try reader.readString()
        // Strings are equal where Unicode says so; a name on the wire is these bytes and no others.
        guard let member = Self(rawValue: name), member.rawValue.utf8.elementsEqual(name.utf8)
        else { throw MessageError(.notAMember(of: allCases.map(\.rawValue))) }
        return member
    }

    /// Appends the member's name.
    @inlinable
    package func write(to writer: inout JSONWriter) { writer.string(rawValue) }

    /// An enumeration of all cases.
    @usableFromInline
    package static var varlinkType: VarlinkType { .enumeration(allCases.map(\.rawValue)) }
}

extension JSONWriter: FieldVisitor {
    /// Appends a field, if it has a value.
    @inlinable
    package mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T
    ) throws(MessageError) {
        guard !value.isAbsent else { return }
        key(name)
        value.write(to: &self)
    }
}

extension JSONValue: FieldValue {
    /// Reads an object; a client takes any value, as other implementations send.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> JSONValue {
        try reader.readObject()
    }

    /// Appends the value.
    @inlinable
    package func write(to writer: inout JSONWriter) { writer.value(self) }

    /// `object`.
    @usableFromInline
    package static var varlinkType: VarlinkType { .object }
}

extension JSONDocument {
    /// Reads the value at a token into a message; strictly: refuses fields that the message does
    /// not know.
    @inlinable
    func decode<M: Message>(
        _ type: M.Type,
        at token: Int = 0,
        strict: Bool
    ) throws(MessageError) -> M {
        try withView { view throws(MessageError) in
            var reader = MessageReader(view, token: token, strict: strict)
            return try M.read(from: &reader)
        }
    }

    /// The value at a token, whatever its type.
    ///
    /// - Throws: where a number is out of the range of `Int` or `Double`.
    func parameters(at token: Int) throws(MessageError) -> JSONValue {
        do throws(JSONRangeError) { return try value(at: token) } catch {
            throw MessageError(error)
        }
    }
}
