/// The four kinds of strings.
extension TOMLReader {
    mutating func basicString() throws(TOMLError) -> String {
        let opening = index
        index += 1
        var text: [UInt8] = []
        while true {
            let byte = try characterOfString(openedAt: opening)
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try escape(into: &text)
            default:
                text.append(byte)
                index += 1
            }
        }
    }

    mutating func literalString() throws(TOMLError) -> String {
        let opening = index
        index += 1
        let start = index
        while try characterOfString(openedAt: opening) != UInt8(ascii: "'") { index += 1 }
        index += 1
        return String(decoding: bytes[start..<(index - 1)], as: UTF8.self)
    }

    mutating func longBasicString() throws(TOMLError) -> String {
        let opening = index
        index += 3
        _ = try newline()
        var text: [UInt8] = []
        while true {
            if try newline() {
                text.append(UInt8(ascii: "\n"))
                continue
            }
            let byte = try characterOfString(openedAt: opening)
            switch byte {
            case UInt8(ascii: "\""):
                if closing(byte, into: &text) { return String(decoding: text, as: UTF8.self) }
            case UInt8(ascii: "\\"):
                if try !escapedLineEnd() { try escape(into: &text) }
            default:
                text.append(byte)
                index += 1
            }
        }
    }

    mutating func longLiteralString() throws(TOMLError) -> String {
        let opening = index
        index += 3
        _ = try newline()
        var text: [UInt8] = []
        while true {
            if try newline() {
                text.append(UInt8(ascii: "\n"))
                continue
            }
            let byte = try characterOfString(openedAt: opening)
            if byte == UInt8(ascii: "'") {
                if closing(byte, into: &text) { return String(decoding: text, as: UTF8.self) }
            } else {
                text.append(byte)
                index += 1
            }
        }
    }

    /// Passes a run of quotes inside a long string: three end it, up to two before them are text.
    private mutating func closing(_ quote: UInt8, into text: inout [UInt8]) -> Bool {
        var run = 0
        while run < 5, peek() == quote {
            run += 1
            index += 1
        }
        text += Array(repeating: quote, count: run >= 3 ? run - 3 : run)
        return run >= 3
    }

    /// The next byte of a string; what never ends is blamed on its opening quote.
    private mutating func characterOfString(openedAt opening: Int) throws(TOMLError) -> UInt8 {
        guard let byte = peek() else {
            throw failure("a string without its closing quote", at: opening)
        }
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
            throw failure("a string without its closing quote on this line", at: opening)
        }
        try checkNoControl(byte)
        return byte
    }

    /// Passes a backslash at the end of a line, and all white space that follows.
    private mutating func escapedLineEnd() throws(TOMLError) -> Bool {
        let start = index
        index += 1
        skipSpaces()
        guard try newline() else {
            index = start
            return false
        }
        repeat { skipSpaces() } while try newline()
        return true
    }

    private mutating func escape(into text: inout [UInt8]) throws(TOMLError) {
        let short: [UInt8: UInt8] = [
            UInt8(ascii: "b"): 0x08, UInt8(ascii: "t"): 0x09, UInt8(ascii: "n"): 0x0A,
            UInt8(ascii: "f"): 0x0C, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "\""): 0x22,
            UInt8(ascii: "\\"): 0x5C,
        ]
        let letter = peek(1)
        if let letter, let byte = short[letter] {
            text.append(byte)
            index += 2
            return
        }
        guard letter == UInt8(ascii: "u") || letter == UInt8(ascii: "U") else {
            throw failure("an escape that TOML does not know")
        }
        let end = index + 2 + (letter == UInt8(ascii: "u") ? 4 : 8)
        guard end <= bytes.count,
            let code = hexadecimal(bytes[(index + 2)..<end]),
            let scalar = Unicode.Scalar(code)
        else {
            throw failure("an escape that is no Unicode scalar")
        }
        text += Array(String(scalar).utf8)
        index = end
    }

    private func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt32? {
        var code: UInt32 = 0
        for digit in digits {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
            code = code << 4 | UInt32(value)
        }
        return code
    }
}
