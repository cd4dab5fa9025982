/// Tells why a text is not the JSON that this reader takes (RFC 8259, strictly), and where.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The byte at which the text stopped being JSON, counted from 0.
    package let offset: Int
    /// What is wrong there.
    package let reason: Reason

    /// What can be wrong with a text.
    package enum Reason: String, Sendable {
        case unexpectedEnd = "unexpected end"
        case unexpectedByte = "unexpected byte"
        case badLiteral = "not true, false or null"
        case badNumber = "not a number"
        case leadingZero = "leading zero"
        case controlCharacter = "control character in a string"
        case badEscape = "not an escape sequence"
        case loneSurrogate = "lone surrogate"
        case badUTF8 = "not UTF-8"
        case duplicateKey = "duplicate key"
        case tooDeep = "nested too deep"
        case trailingBytes = "bytes after the end"
        case tooLong = "too long"
        case tooManyValues = "too many values"
    }

    /// Makes an error at a byte, counted from 0.
    package init(_ reason: Reason, at offset: Int) {
        self.offset = offset
        self.reason = reason
    }

    /// The reason and the offset, for a log entry.
    package var description: String { "\(reason.rawValue) at byte \(offset)" }
}
