extension JSONParser {
    /// Checks the grammar of a number; its value is worked out where somebody asks for it.
    mutating func parseNumber() throws(JSONError) {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position &+= 1 }
        let first = position
        try parseDigits()
        if bytes[first] == UInt8(ascii: "0"), position &- first > 1 {
            throw JSONError(.leadingZero, at: first)
        }
        var kind = JSONToken.Kind.integer
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            kind = .number
            position &+= 1
            try parseDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            kind = .number
            position &+= 1
            if position < bytes.count,
                bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
            {
                position &+= 1
            }
            try parseDigits()
        }
        tokens.append(JSONToken(kind, at: start, extent: position &- start))
    }

    private mutating func parseDigits() throws(JSONError) {
        let start = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position &+= 1 }
        guard position > start else {
            throw JSONError(position < bytes.count ? .badNumber : .unexpectedEnd, at: position)
        }
    }

    /// Reads a string from behind its opening quote.
    mutating func parseString() throws(JSONError) -> JSONToken {
        let start = position
        while true {
            try skipPlainBytes()
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position &+= 1
                return JSONToken(.plainString, at: start, extent: position &- 1 &- start)
            }
            return try parseEscapedString(from: start)
        }
    }

    /// Goes on with a string in which an escape has been met, and copies it to the side buffer.
    private mutating func parseEscapedString(from start: Int) throws(JSONError) -> JSONToken {
        let target = unescaped.count
        unescaped.append(contentsOf: bytes[start..<position])
        while true {
            if bytes[position] == UInt8(ascii: "\"") {
                position &+= 1
                return JSONToken(.unescapedString, at: target, extent: unescaped.count &- target)
            }
            try parseEscape()
            let plain = position
            try skipPlainBytes()
            unescaped.append(contentsOf: bytes[plain..<position])
        }
    }

    /// Moves to the next quote or backslash; everything before it is checked.
    @inline(__always)
    private mutating func skipPlainBytes() throws(JSONError) {
        while position < bytes.count {
            skipPlainWords()
            guard position < bytes.count else { break }
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            if byte < 0x20 { throw JSONError(.controlCharacter, at: position) }
            if byte < 0x80 {
                position &+= 1
            } else {
                try skipMultibyteScalar()
            }
        }
        throw JSONError(.unexpectedEnd, at: position)
    }

    /// Skips ASCII that stands for itself, eight bytes at a time, while eight are left.
    ///
    /// Subtracting from all bytes at once sets the high bit of those that were smaller; a borrow can
    /// falsify only bytes after the first that was, and the first is all that is asked for.
    @inline(__always)
    private mutating func skipPlainWords() {
        guard let base = bytes.baseAddress else { return }
        let ones: UInt64 = 0x0101_0101_0101_0101
        while bytes.count &- position >= 8 {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
            )
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
                | (word &- ones &* 0x20) & ~word | word
            let special = found & (ones &* 0x80)
            position &+= special.trailingZeroBitCount / 8
            if special != 0 { return }
        }
    }

    /// Skips one scalar of two to four bytes (RFC 3629: no overlong forms, no surrogates, at most
    /// U+10FFFF).
    private mutating func skipMultibyteScalar() throws(JSONError) {
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
        position &+= length
    }

    /// Reads one escape sequence from its backslash on.
    private mutating func parseEscape() throws(JSONError) {
        guard bytes.count &- position >= 2 else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        let byte: UInt8
        switch bytes[position &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            byte = bytes[position &+ 1]
        case UInt8(ascii: "b"): byte = 0x08
        case UInt8(ascii: "f"): byte = 0x0C
        case UInt8(ascii: "n"): byte = 0x0A
        case UInt8(ascii: "r"): byte = 0x0D
        case UInt8(ascii: "t"): byte = 0x09
        case UInt8(ascii: "u"): return try parseUnicodeEscape()
        default: throw JSONError(.badEscape, at: position)
        }
        unescaped.append(byte)
        position &+= 2
    }

    private mutating func parseUnicodeEscape() throws(JSONError) {
        let start = position
        var value = try parseHexUnit()
        if 0xD800...0xDBFF ~= value {
            guard bytes.count &- position >= 2, bytes[position] == UInt8(ascii: "\\"),
                bytes[position &+ 1] == UInt8(ascii: "u")
            else { throw JSONError(.loneSurrogate, at: start) }
            let low = try parseHexUnit()
            guard 0xDC00...0xDFFF ~= low else { throw JSONError(.loneSurrogate, at: start) }
            value = 0x10000 &+ (value &- 0xD800) &<< 10 &+ (low &- 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw JSONError(.loneSurrogate, at: start)
        }
        unescaped.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    /// Reads `\uXXXX`.
    private mutating func parseHexUnit() throws(JSONError) -> UInt32 {
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
}
