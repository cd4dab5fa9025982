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
            try readEscapes()
            let plain = position
            position = try JSONScanner.endOfPlainBytes(bytes, from: plain)
            append(bytes[plain..<position])
        }
        position &+= 1
        return JSONToken(.unescapedString, at: target, extent: tape.sideCount &- target)
    }

    /// Escapes that are read into one piece of the side.
    private static let escapesMax = 1024
    /// ASCII between two of them that is copied on the way; more is quicker copied as a whole.
    private static let plainMax = 4

    /// Reads escape sequences with little or nothing between them, from the backslash of the first on.
    private mutating func readEscapes() throws(JSONError) {
        // What an escape stands for is four bytes at most, and never longer than the escape.
        let room = tape.sideRoom(
            for: min(
                bytes.count &- position, (4 &+ EscapedString.plainMax) &* EscapedString.escapesMax))
        var end = room
        for _ in 0..<EscapedString.escapesMax {
            guard bytes.count &- position >= 2 else {
                throw JSONError(.unexpectedEnd, at: bytes.count)
            }
            if bytes[position &+ 1] == UInt8(ascii: "u") {
                end = EscapedString.write(try readUnicodeEscape(), to: end)
            } else {
                end.pointee = try byteEscaped(by: bytes[position &+ 1])
                end += 1
                position &+= 2
            }
            for _ in 0..<EscapedString.plainMax where position < bytes.count {
                let byte = bytes[position]
                guard 0x20..<0x80 ~= byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\")
                else { break }
                end.pointee = byte
                end += 1
                position &+= 1
            }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\\") else { break }
        }
        tape.wroteToSide(end - room)
    }

    /// What a backslash and a letter stand for.
    @inline(__always)
    private func byteEscaped(by letter: UInt8) throws(JSONError) -> UInt8 {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: throw JSONError(.badEscape, at: position)
        }
    }

    /// Reads `\uXXXX`, or two of them that are a surrogate pair.
    @inline(__always)
    private mutating func readUnicodeEscape() throws(JSONError) -> UInt32 {
        let start = position
        let value = try readHexUnit()
        guard 0xD800...0xDFFF ~= value else { return value }
        guard value < 0xDC00, bytes.count &- position >= 2, bytes[position] == UInt8(ascii: "\\"),
            bytes[position &+ 1] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, at: start) }
        let low = try readHexUnit()
        guard 0xDC00...0xDFFF ~= low else { throw JSONError(.loneSurrogate, at: start) }
        return 0x10000 &+ (value &- 0xD800) &<< 10 &+ (low &- 0xDC00)
    }

    /// Writes a scalar in UTF-8.
    ///
    /// - Returns: where the next one goes.
    @inline(__always)
    private static func write(
        _ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        switch scalar {
        case ..<0x80:
            target[0] = UInt8(truncatingIfNeeded: scalar)
            return target + 1
        case ..<0x800:
            target[0] = UInt8(truncatingIfNeeded: 0xC0 | scalar &>> 6)
            target[1] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
            return target + 2
        case ..<0x10000:
            target[0] = UInt8(truncatingIfNeeded: 0xE0 | scalar &>> 12)
            target[1] = UInt8(truncatingIfNeeded: 0x80 | scalar &>> 6 & 0x3F)
            target[2] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
            return target + 3
        default:
            target[0] = UInt8(truncatingIfNeeded: 0xF0 | scalar &>> 18)
            target[1] = UInt8(truncatingIfNeeded: 0x80 | scalar &>> 12 & 0x3F)
            target[2] = UInt8(truncatingIfNeeded: 0x80 | scalar &>> 6 & 0x3F)
            target[3] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
            return target + 4
        }
    }

    /// Reads `\uXXXX`.
    @inline(__always)
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
