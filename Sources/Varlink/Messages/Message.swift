public import JSON

/// Describes a set of named parameters once, for reading, writing and describing it.
///
/// ```swift
/// package struct Budget: Message {
///     package var durationMs = 0
///     package var graceMs = 0
///     package init() {}
///     package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
///         try fields.field("durationMs", &durationMs)
///         try fields.field("graceMs", &graceMs)
///     }
/// }
/// ```
///
/// A field of an optional type may be null or absent when read, and is left out when written
/// without a value. Every other field is required.
@usableFromInline
package protocol Message: FieldValue {
    /// Makes a message of neutral values, to be read into.
    init()

    /// Shows every field, with its name on the wire, to the visitor; no two have the same name.
    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError)
}

/// Does one thing (read, write, describe) to every field that a message shows it.
@usableFromInline
package protocol FieldVisitor {
    /// Takes a field by its name on the wire, a Varlink identifier; replaces its value when
    /// reading.
    mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T
    ) throws(MessageError)

    /// Takes a field of whole numbers that are in a range wherever a server is asked; what a peer answers is
    /// read whatever it is, so that an older or newer one is understood.
    mutating func field<T: WholeNumbers>(
        _ name: StaticString,
        _ value: inout T,
        in range: ClosedRange<Int>
    ) throws(MessageError)

    /// Takes an array or a map that has at most so many elements wherever a server is asked.
    mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T,
        atMost limit: CountLimit
    ) throws(MessageError)
}

extension FieldVisitor {
    /// Takes a field whose range does not matter here.
    @inlinable
    package mutating func field<T: WholeNumbers>(
        _ name: StaticString,
        _ value: inout T,
        in range: ClosedRange<Int>
    ) throws(MessageError) {
        try field(name, &value)
    }

    /// Takes a field whose size does not matter here.
    @inlinable
    package mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T,
        atMost limit: CountLimit
    ) throws(MessageError) {
        try field(name, &value)
    }
}

/// A type whose values can be fields of a message.
@usableFromInline
package protocol FieldValue: Sendable {
    /// What a field is that is not there; `nil` where it has to be there.
    static var absent: Self? { get }

    /// Tells whether the field is left out when it is written.
    var isAbsent: Bool { get }

    /// Reads the reader's present value.
    static func read(from reader: inout MessageReader) throws(MessageError) -> Self

    /// Appends the value.
    func write(to writer: inout JSONWriter)

    /// The type in the interface definition language.
    static var varlinkType: VarlinkType { get }
}

extension FieldValue {
    /// A field that has to be there.
    @inlinable
    package static var absent: Self? { nil }

    /// Never left out.
    @inlinable
    package var isAbsent: Bool { false }
}

// The defaults are inlinable so that each message's own module holds code made for that message
// alone.
extension Message {
    /// Reads an object field by field.
    @inlinable
    package static func read(from reader: inout MessageReader) throws(MessageError) -> Self {
        var message = Self()
        let outer = try reader.enterObject()
        try message.visit(&reader)
        try reader.leaveObject(outer, of: Self.self)
        return message
    }

    /// Appends an object of all fields that have a value.
    @inlinable
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        var copy = self
        do throws(MessageError) { try copy.visit(&writer) } catch {
            precondition(false, "writing a message cannot fail: \(error)")
        }
        writer.endObject()
    }

    /// A structure of the fields.
    @usableFromInline
    package static var varlinkType: VarlinkType {
        var describer = TypeDescriber()
        var message = Self()
        do throws(MessageError) { try message.visit(&describer) } catch {
            precondition(false, "describing a message cannot fail: \(error)")
        }
        return .structure(describer.fields)
    }
}

/// A message without parameters.
@usableFromInline
package struct Empty: Message {
    /// Makes the message.
    @inlinable
    package init() {}

    /// Shows nothing.
    @inlinable
    package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {}
}

/// A method of an interface, as server and client share it.
@usableFromInline
package protocol Method {
    /// The parameters of a call.
    associatedtype Input: Message
    /// The parameters of each reply.
    associatedtype Output: Message

    /// The name with its interface, such as `org.bgtaskd.Tasks.Begin`.
    static var name: String { get }
}
