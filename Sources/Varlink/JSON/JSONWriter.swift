/// Appends JSON to a byte buffer.
///
/// Commas are its own business: whatever does not come first in its container gets one. Also a
/// visitor, which writes the fields of a message.
@usableFromInline
package struct JSONWriter: Sendable {
    /// What has been written.
    @usableFromInline
    package internal(set) var bytes: [UInt8]

    /// Makes a writer with an empty buffer.
    @usableFromInline
    package init() { bytes = [] }

    /// Opens an object, as a value.
    @usableFromInline
    package mutating func beginObject() { bytes.append(UInt8(ascii: "{")) }

    /// Closes the innermost object.
    @usableFromInline
    package mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

    /// Opens an array, as a value.
    @usableFromInline
    package mutating func beginArray() { bytes.append(UInt8(ascii: "[")) }

    /// Closes the innermost array.
    @usableFromInline
    package mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

    /// Makes room for the next element of an array; the element's value follows.
    @usableFromInline
    package mutating func element() {
        guard bytes.last != UInt8(ascii: "[") else { return }
        bytes.append(UInt8(ascii: ","))
    }

    /// Appends the name of a member; its value follows.
    @usableFromInline
    package mutating func key(_ name: String) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Appends a name that needs no escaping; its value follows.
    @usableFromInline
    package mutating func key(_ name: StaticString) {
        let isFirst = bytes.last == UInt8(ascii: "{")
        let length = name.utf8CodeUnitCount
        bytes.append(addingCapacity: length &+ 4) { output in
            if !isFirst { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
            for index in 0..<length { output.append(name.utf8Start[index]) }
            output.append(UInt8(ascii: "\""))
            output.append(UInt8(ascii: ":"))
        }
    }

    /// Appends text that is JSON already.
    @usableFromInline
    mutating func raw(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        )
    }

    /// Appends `null`.
    @usableFromInline
    package mutating func null() { raw("null") }

    /// Appends a truth value.
    @usableFromInline
    package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// Appends a whole number.
    @usableFromInline
    package mutating func integer(_ value: Int) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        guard rest > 9 else { return bytes.append(UInt8(ascii: "0") &+ UInt8(rest)) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var first = 20
            while rest > 0 {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                first &-= 1
                digits[first] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[first..<20]))
        }
    }

    /// Appends the shortest literal that reads back as the same number; `null` for what JSON has no
    /// word for (not a number, the infinities).
    @usableFromInline
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Appends a string, with the escapes that JSON requires and no others.
    @usableFromInline
    package mutating func string(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { escaped($0) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
        var plain = 0
        for index in 0..<text.count {
            let byte = text[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                continue
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[plain..<index]))
            escape(byte)
            plain = index &+ 1
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[plain...]))
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
            bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            let digit = byte & 0x0F
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
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
