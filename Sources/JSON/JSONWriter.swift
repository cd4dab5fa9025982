/// Appends JSON to a byte buffer.
///
/// Commas are its own business: whatever does not come first in its container gets one.
@usableFromInline
package struct JSONWriter: Sendable {
    @usableFromInline
    var written = WrittenBytes()
    /// Whether something comes before the next element or member of the container.
    private var needsComma = false

    /// Makes a writer with an empty buffer.
    @usableFromInline
    package init() {}

    /// How many bytes have been written.
    @inlinable
    package var count: Int { written.count }

    /// What has been written.
    package var bytes: [UInt8] { written.withBytes(from: 0) { Array($0) } }

    /// What has been written, as text.
    package var text: String { written.withBytes(from: 0) { String(decoding: $0, as: UTF8.self) } }

    /// Gives `body` what has been written from an offset on.
    @inlinable
    package func withBytes<R, E: Error>(
        from start: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try written.withBytes(from: start, body)
    }

    /// Drops bytes at the start.
    package mutating func removeFirst(_ dropped: Int) { written.removeFirst(dropped) }

    /// Drops all bytes; the memory too, where it is more than is to be kept.
    package mutating func removeAll(keepingAtMost most: Int) {
        written.removeAll(keepingAtMost: most)
    }

    /// Opens an object, as a value.
    @usableFromInline
    package mutating func beginObject() {
        written.append(UInt8(ascii: "{"))
        needsComma = false
    }

    /// Closes the innermost object.
    @usableFromInline
    package mutating func endObject() {
        written.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Opens an array, as a value.
    @usableFromInline
    package mutating func beginArray() {
        written.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Closes the innermost array.
    @usableFromInline
    package mutating func endArray() {
        written.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Makes room for the next element of an array; the element's value follows.
    @usableFromInline
    package mutating func element() {
        if needsComma { written.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Appends the name of a member; its value follows.
    @usableFromInline
    package mutating func key(_ name: String) {
        element()
        string(name)
        written.append(UInt8(ascii: ":"))
    }

    /// Appends a name that needs no escaping; its value follows.
    @usableFromInline
    package mutating func key(_ name: StaticString) {
        let length = name.utf8CodeUnitCount
        var end = written.room(for: length &+ 4)
        // A comma that is not needed is written over.
        end[0] = UInt8(ascii: ",")
        if needsComma { end += 1 }
        end[0] = UInt8(ascii: "\"")
        (end + 1).copy(name.utf8Start, length)
        end[length &+ 1] = UInt8(ascii: "\"")
        end[length &+ 2] = UInt8(ascii: ":")
        written.wrote(length &+ (needsComma ? 4 : 3))
        needsComma = true
    }

    /// Appends text that is JSON already, or a part of it.
    @usableFromInline
    package mutating func raw(_ text: StaticString) {
        written.room(for: text.utf8CodeUnitCount).copy(text.utf8Start, text.utf8CodeUnitCount)
        written.wrote(text.utf8CodeUnitCount)
    }

    /// Appends a part of a text that is JSON already.
    package mutating func raw(_ text: UnsafeBufferPointer<UInt8>) { written.append(text) }

    /// Appends `null`.
    @usableFromInline
    package mutating func null() { raw("null") }

    /// Appends a truth value.
    @usableFromInline
    package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// Appends a whole number.
    @usableFromInline
    package mutating func integer(_ value: Int) {
        // The last digit is known first, so they are written behind the place of the number, and moved there.
        let lengthMax = 20
        let start = written.room(for: 2 * lengthMax)
        let end = start + 2 * lengthMax
        var first = end
        var rest = value.magnitude
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            first -= 1
            first.pointee = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
            rest = quotient
        } while rest > 0
        if value < 0 {
            first -= 1
            first.pointee = UInt8(ascii: "-")
        }
        start.copy(first, end - first)
        written.wrote(end - first)
    }

    /// Appends the shortest literal that reads back as the same number; `null` for what JSON has no
    /// word for (not a number, the infinities).
    @usableFromInline
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        var text = value.description
        text.withUTF8 { written.append($0) }
    }

    /// Appends a string, with the escapes that JSON requires and no others.
    @usableFromInline
    package mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { text in
            guard let start = text.baseAddress, !JSONWriter.needsEscape(text) else {
                return escaped(text)
            }
            let end = written.room(for: text.count &+ 2)
            end[0] = UInt8(ascii: "\"")
            (end + 1).copy(start, text.count)
            end[text.count &+ 1] = UInt8(ascii: "\"")
            written.wrote(text.count &+ 2)
        }
    }

    /// Whether a text has bytes that JSON wants escaped; eight are looked at together.
    private static func needsEscape(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        var offset = 0
        while offset &+ 8 <= bytes.count {
            if needsEscape(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) {
                return true
            }
            offset &+= 8
        }
        while offset < bytes.count {
            if needsEscape(bytes[offset]) { return true }
            offset &+= 1
        }
        return false
    }

    /// Whether one of eight bytes is among them: it would borrow from its own highest bit, which it has not set,
    /// when the first byte that is none is taken from it.
    @inline(__always)
    private static func needsEscape(_ bytes: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let below =
            (bytes &- ones &* 0x20) & ~bytes | (quotes &- ones) & ~quotes
            | (backslashes &- ones) & ~backslashes
        return below & (ones &* 0x80) != 0
    }

    @inline(__always)
    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
        written.append(UInt8(ascii: "\""))
        var plain = 0
        for index in 0..<text.count where JSONWriter.needsEscape(text[index]) {
            written.append(UnsafeBufferPointer(rebasing: text[plain..<index]))
            escape(text[index])
            plain = index &+ 1
        }
        written.append(UnsafeBufferPointer(rebasing: text[plain...]))
        written.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x08: raw("\\b")
        case 0x09: raw("\\t")
        case 0x0A: raw("\\n")
        case 0x0C: raw("\\f")
        case 0x0D: raw("\\r")
        default:
            raw("\\u00")
            written.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            let digit = byte & 0x0F
            written.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// Appends a value of any type.
    @usableFromInline
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .number(let value): double(value)
        case .string(let value): string(value)
        case .array(let values):
            beginArray()
            for value in values {
                element()
                self.value(value)
            }
            endArray()
        case .object(let members):
            beginObject()
            for (name, value) in members {
                key(name)
                self.value(value)
            }
            endObject()
        }
    }
}
