/// A string in which an escape has been met, while what it says is copied beside the text.
struct EscapedString {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let tape: JSONTape
    private var position: Int

    /// Reads a string.
    ///
    /// - Parameters:
    ///   - start: where it starts, behind its quote.
    ///   - escape: its first backslash; what comes before is checked.
    /// - Returns: its token, and the index behind its last quote.
    @inline(never)
    static func read(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int,
        to escape: Int,
        into tape: JSONTape
    ) throws(JSONError) -> (token: JSONToken, end: Int) {
        var string = EscapedString(bytes: bytes, tape: tape, position: escape)
        let token = try string.read(from: start)
        return (token, string.position)
    }

    private mutating func read(from start: Int) throws(JSONError) -> JSONToken {
        let target = tape.sideCount
        append(bytes[start..<position])
        while bytes[position] != UInt8(ascii: "\"") {
            try readEscape()
            let plain = position
            position = try JSONParser.endOfPlainBytes(bytes, from: plain)
            append(bytes[plain..<position])
        }
        position &+= 1
        return JSONToken(.unescapedString, at: target, extent: tape.sideCount &- target)
    }

    /// Reads one escape sequence from its backslash on.
    private mutating func readEscape() throws(JSONError) {
        guard bytes.count &- position >= 2 else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        switch bytes[position &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            tape.appendToSide(bytes[position &+ 1])
        case UInt8(ascii: "b"): tape.appendToSide(0x08)
        case UInt8(ascii: "f"): tape.appendToSide(0x0C)
        case UInt8(ascii: "n"): tape.appendToSide(0x0A)
        case UInt8(ascii: "r"): tape.appendToSide(0x0D)
        case UInt8(ascii: "t"): tape.appendToSide(0x09)
        case UInt8(ascii: "u"): return try readUnicodeEscape()
        default: throw JSONError(.badEscape, at: position)
        }
        position &+= 2
    }

    private mutating func readUnicodeEscape() throws(JSONError) {
        let start = position
        var value = try readHexUnit()
        if 0xD800...0xDBFF ~= value {
            guard bytes.count &- position >= 2, bytes[position] == UInt8(ascii: "\\"),
                bytes[position &+ 1] == UInt8(ascii: "u")
            else { throw JSONError(.loneSurrogate, at: start) }
            let low = try readHexUnit()
            guard 0xDC00...0xDFFF ~= low else { throw JSONError(.loneSurrogate, at: start) }
            value = 0x10000 &+ (value &- 0xD800) &<< 10 &+ (low &- 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw JSONError(.loneSurrogate, at: start)
        }
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
            tape.appendToSide(byte)
        }
    }

    /// Reads `\uXXXX`.
    private mutating func readHexUnit() throws(JSONError) -> UInt32 {
        guard bytes.count &- position >= 6 else { throw JSONError(.badEscape, at: position) }
        var value: UInt32 = 0
        for index in 2..<6 {
            let digit: UInt8
            switch bytes[position &+ index] {
            case let byte where byte &- UInt8(ascii: "0") < 10: digit = byte &- UInt8(ascii: "0")
            case let byte where (byte | 0x20) &- UInt8(ascii: "a") < 6:
                digit = (byte | 0x20) &- UInt8(ascii: "a") &+ 10
            default: throw JSONError(.badEscape, at: position)
            }
            value = value &<< 4 | UInt32(digit)
        }
        position &+= 6
        return value
    }

    private func append(_ part: Slice<UnsafeBufferPointer<UInt8>>) {
        tape.appendToSide(UnsafeBufferPointer(rebasing: part))
    }
}
