/// Finds where the scalars of a text end, and checks them on the way.
///
/// What every text needs is inlined into the parser, and what few need is out of line.
enum JSONScanner {
    /// Checks a number or a literal that starts with a byte.
    @inline(never)
    static func scalar(
        _ byte: UInt8,
        _ bytes: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) throws(JSONError) -> JSONToken {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try number(bytes, at: start)
        case UInt8(ascii: "t"): try literal("true", .bool, bytes, at: start)
        case UInt8(ascii: "f"): try literal("false", .bool, bytes, at: start)
        case UInt8(ascii: "n"): try literal("null", .null, bytes, at: start)
        default: throw JSONError(.unexpectedByte, at: start)
        }
    }

    /// Checks the grammar of a number; its value is worked out where somebody asks for it.
    @inline(__always)
    private static func number(
        _ bytes: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) throws(JSONError) -> JSONToken {
        let first = bytes[start] == UInt8(ascii: "-") ? start &+ 1 : start
        var end = try endOfDigits(bytes, from: first)
        if bytes[first] == UInt8(ascii: "0"), end &- first > 1 {
            throw JSONError(.leadingZero, at: first)
        }
        var kind = JSONToken.Kind.integer
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            kind = .number
            end = try endOfDigits(bytes, from: end &+ 1)
        }
        if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            kind = .number
            end &+= 1
            if end < bytes.count,
                bytes[end] == UInt8(ascii: "+") || bytes[end] == UInt8(ascii: "-")
            {
                end &+= 1
            }
            end = try endOfDigits(bytes, from: end)
        }
        return JSONToken(kind, at: start, extent: end &- start)
    }

    @inline(__always)
    private static func endOfDigits(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) throws(JSONError) -> Int {
        var end = start
        while end < bytes.count, bytes[end] &- UInt8(ascii: "0") < 10 { end &+= 1 }
        guard end > start else {
            throw JSONError(end < bytes.count ? .badNumber : .unexpectedEnd, at: end)
        }
        return end
    }

    /// Checks a literal of which the first byte is there.
    private static func literal(
        _ literal: StaticString,
        _ kind: JSONToken.Kind,
        _ bytes: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) throws(JSONError) -> JSONToken {
        let length = literal.utf8CodeUnitCount
        guard bytes.count &- start >= length else { throw JSONError(.badLiteral, at: start) }
        for index in 0..<length where bytes[start &+ index] != literal.utf8Start[index] {
            throw JSONError(.badLiteral, at: start)
        }
        return JSONToken(kind, at: start, extent: length)
    }

    /// The next quote or backslash of a string; everything before it is checked.
    @inline(__always)
    static func endOfPlainBytes(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) throws(JSONError) -> Int {
        var position = start
        while true {
            position = endOfPlainWords(bytes, from: position)
            guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return position }
            if byte < 0x20 { throw JSONError(.controlCharacter, at: position) }
            if byte < 0x80 {
                position &+= 1
            } else {
                position = try endOfMultibyteScalar(bytes, from: position)
            }
        }
    }

    /// Skips ASCII that stands for itself, eight bytes at a time, while eight are left.
    ///
    /// Subtracting from all bytes at once sets the high bit of those that were smaller; a borrow can
    /// falsify only bytes after the first that was, and the first is all that is asked for.
    @inline(__always)
    private static func endOfPlainWords(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> Int {
        guard let base = bytes.baseAddress else { return start }
        var position = start
        let ones: UInt64 = 0x0101_0101_0101_0101
        let last = bytes.count &- 8
        while position <= last {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
            )
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
                | (word &- ones &* 0x20) & ~word | word
            let special = found & (ones &* 0x80)
            if special != 0 { return position &+ special.trailingZeroBitCount &>> 3 }
            position &+= 8
        }
        return position
    }

    /// Skips one scalar of two to four bytes (RFC 3629: no overlong forms, no surrogates, at most
    /// U+10FFFF).
    @inline(never)
    private static func endOfMultibyteScalar(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from position: Int
    ) throws(JSONError) -> Int {
        let lead = bytes[position]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw JSONError(.badUTF8, at: position)
        }
        guard bytes.count &- position >= length, second.contains(bytes[position &+ 1]) else {
            throw JSONError(.badUTF8, at: position)
        }
        for index in 2..<max(length, 2) where bytes[position &+ index] & 0xC0 != 0x80 {
            throw JSONError(.badUTF8, at: position)
        }
        return position &+ length
    }
}
