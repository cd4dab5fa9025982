internal import Glibc
internal import JSON

/// Parameters that many readers get: they are written once, and copied for each reader, with a number of its own
/// where one is wanted.
package struct SharedMessage: Sendable {
    let bytes: [UInt8]
    /// Where the number belongs; `nil` where there is none.
    let place: Int?

    /// The length without the number.
    package var byteCount: Int { bytes.count }

    /// Writes a message that is the same for all.
    package init<M: Message>(_ message: M) {
        var writer = JSONWriter()
        message.write(to: &writer)
        bytes = writer.bytes
        place = nil
    }

    /// Writes a message as the only parameter, all but one whole number in it.
    ///
    /// - Parameters:
    ///   - parameter: its name on the wire.
    ///   - number: the name of the field that is left out; whatever it holds in `message` is not looked at.
    package init<M: Message>(_ message: M, as parameter: StaticString, number: StaticString) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(parameter)
        writer.beginObject()
        var fields = FieldsButOne(writer: writer, number: number)
        var copy = message
        do throws(MessageError) { try copy.visit(&fields) } catch {
            precondition(false, "writing a message cannot fail: \(error)")
        }
        precondition(fields.place != nil, "the message has no such number")
        fields.writer.endObject()
        fields.writer.endObject()
        bytes = fields.writer.bytes
        place = fields.place
    }

    /// Writes all fields, and of one the name alone.
    private struct FieldsButOne: FieldVisitor {
        var writer: JSONWriter
        let number: StaticString
        var place: Int?

        mutating func field<T: FieldValue>(
            _ name: StaticString, _ value: inout T
        ) throws(MessageError) {
            guard isNumber(name) else { return try writer.field(name, &value) }
            writer.key(name)
            place = writer.count
        }

        private func isNumber(_ name: StaticString) -> Bool {
            name.utf8CodeUnitCount == number.utf8CodeUnitCount
                && memcmp(name.utf8Start, number.utf8Start, name.utf8CodeUnitCount) == 0
        }
    }
}

extension JSONWriter {
    /// Appends parameters with a number in them.
    mutating func shared(_ message: SharedMessage, _ number: Int) {
        message.bytes.withUnsafeBufferPointer { bytes in
            guard let place = message.place else { return raw(bytes) }
            raw(UnsafeBufferPointer(rebasing: bytes[..<place]))
            integer(number)
            raw(UnsafeBufferPointer(rebasing: bytes[place...]))
        }
    }
}
