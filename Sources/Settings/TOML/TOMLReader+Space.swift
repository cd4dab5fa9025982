/// White space, comments and ends of lines.
extension TOMLReader {
    func peek(_ ahead: Int = 0) -> UInt8? {
        index + ahead < bytes.count ? bytes[index + ahead] : nil
    }

    mutating func skipSpaces() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 { index += 1 }
    }

    /// Passes spaces, a comment and one end of line; the end of the file will do.
    mutating func endOfLine() throws(TOMLError) {
        skipSpaces()
        try comment()
        guard peek() != nil else { return }
        guard try newline() else {
            throw failure("expected the end of the line, found \(foundHere())")
        }
    }

    /// Passes everything that may stand between an array's values.
    mutating func skipLines() throws(TOMLError) {
        repeat {
            skipSpaces()
            try comment()
        } while try newline()
    }

    /// Passes one end of line.
    ///
    /// - Returns: whether there was one.
    mutating func newline() throws(TOMLError) -> Bool {
        switch peek() {
        case UInt8(ascii: "\n"):
            index += 1
            return true
        case UInt8(ascii: "\r"):
            guard peek(1) == UInt8(ascii: "\n") else {
                throw failure("a carriage return without a line feed")
            }
            index += 2
            return true
        default:
            return false
        }
    }

    private mutating func comment() throws(TOMLError) {
        guard peek() == UInt8(ascii: "#") else { return }
        while let byte = peek(), byte != UInt8(ascii: "\n") {
            if byte == UInt8(ascii: "\r"), peek(1) == UInt8(ascii: "\n") { return }
            try checkNoControl(byte)
            index += 1
        }
    }

    /// Refuses the control characters that TOML allows nowhere; the tab is allowed.
    mutating func checkNoControl(_ byte: UInt8) throws(TOMLError) {
        guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else {
            let code = String(byte, radix: 16, uppercase: true)
            throw failure("the control character U+00\(byte < 16 ? "0" : "")\(code)")
        }
    }

    /// What stands at the current place, for a message.
    func foundHere() -> String {
        guard let byte = peek() else { return "the end of the file" }
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { return "the end of the line" }
        let scalar = String(decoding: bytes[index..<min(index + 4, bytes.count)], as: UTF8.self)
            .unicodeScalars.first
        return scalar.map { String($0).quotedOnOneLine } ?? "nothing"
    }
}
