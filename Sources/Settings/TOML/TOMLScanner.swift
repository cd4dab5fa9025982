/// The text of a TOML file, read from its first byte to its last: spaces, comments, ends of lines, strings and words.
struct TOMLScanner {
    private let bytes: [UInt8]
    /// Where the next byte is.
    private(set) var index = 0
    /// Behind the byte order mark.
    private var textStart = 0
    private var mark = (offset: 0, position: TOMLPosition(line: 1, column: 1))

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Checks the size and the encoding of a whole document, and passes its byte order mark.
    mutating func begin() throws(TOMLError) {
        guard bytes.count <= TOMLDocument.sizeMax else {
            throw TOMLError(
                position: TOMLPosition(line: 1, column: 1),
                text: "larger than \(TOMLDocument.sizeMax) bytes"
            )
        }
        try checkEncoding()
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            index = 3
            textStart = 3
            mark.offset = 3
        }
    }

    private mutating func checkEncoding() throws(TOMLError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw failure("not UTF-8", at: error.byteOffsets.lowerBound)
        }
    }

    // MARK: Bytes

    /// Passes so many bytes, which have been looked at.
    mutating func advance(_ count: Int = 1) {
        index += count
    }

    /// What stands from an offset to here.
    func text(from start: Int) -> String {
        String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// The byte that many places ahead; `nil` behind the end.
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
    private mutating func checkNoControl(_ byte: UInt8) throws(TOMLError) {
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

    // MARK: Words

    /// Passes a key without quotes; `nil` where there is none.
    mutating func bareKey() -> String? {
        let start = index
        while let byte = peek(), Self.isBareKey(byte) { index += 1 }
        return index > start ? text(from: start) : nil
    }

    private static func isBareKey(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    /// Passes a number, a boolean, a date or a time; `nil` where there is none.
    mutating func scalarWord() -> String? {
        let start = index
        takeWord()
        let isDate = index - start == 10 && bytes[start + 4] == UInt8(ascii: "-")
        if isDate, peek() == 0x20, let next = peek(1), (0x30...0x39).contains(next) {
            index += 1
            takeWord()
        }
        return index > start ? text(from: start) : nil
    }

    private mutating func takeWord() {
        while let byte = peek() {
            switch byte {
            case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: index += 1
            default: return
            }
        }
    }

    // MARK: The four kinds of strings

    /// Whether the quote that is here is one of three.
    var isAtLongString: Bool { peek(1) == peek() && peek(2) == peek() }

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

    // MARK: Places

    mutating func failure(_ text: String, at offset: Int? = nil) -> TOMLError {
        TOMLError(position: position(of: offset ?? index), text: text)
    }

    /// Counts on from the last place asked for, so that a file of one line stays cheap.
    mutating func position(of offset: Int) -> TOMLPosition {
        if offset < mark.offset { mark = (textStart, TOMLPosition(line: 1, column: 1)) }
        while mark.offset < min(offset, bytes.count) {
            let byte = bytes[mark.offset]
            mark.offset += 1
            if byte == UInt8(ascii: "\n") {
                mark.position = TOMLPosition(line: mark.position.line + 1, column: 1)
            } else if byte & 0xC0 != 0x80 {
                mark.position.column += 1
            }
        }
        return mark.position
    }
}
