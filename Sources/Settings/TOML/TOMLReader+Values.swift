/// Values: arrays, inline tables, and what is written without quotes.
extension TOMLReader {
    mutating func value(depth: Int) throws(TOMLError) -> TOMLValue {
        guard depth <= TOMLDocument.depthMax else {
            throw failure("nested deeper than \(TOMLDocument.depthMax) levels")
        }
        switch peek() {
        case UInt8(ascii: "\""):
            let isLong = peek(1) == UInt8(ascii: "\"") && peek(2) == UInt8(ascii: "\"")
            return .string(isLong ? try longBasicString() : try basicString())
        case UInt8(ascii: "'"):
            let isLong = peek(1) == UInt8(ascii: "'") && peek(2) == UInt8(ascii: "'")
            return .string(isLong ? try longLiteralString() : try literalString())
        case UInt8(ascii: "["):
            return .array(try array(depth: depth))
        case UInt8(ascii: "{"):
            let table = tables.makeTable(as: .inline)
            try inlineTable(Scope(table: table, path: [], listed: false), depth: depth)
            return .table
        default:
            return try scalar()
        }
    }

    private mutating func array(depth: Int) throws(TOMLError) -> [TOMLValue] {
        var values: [TOMLValue] = []
        index += 1
        while true {
            try skipLines()
            if peek() == UInt8(ascii: "]") { break }
            values.append(try value(depth: depth + 1))
            try skipLines()
            if peek() == UInt8(ascii: ",") {
                index += 1
            } else if peek() != UInt8(ascii: "]") {
                throw failure("expected , or ] in an array, found \(foundHere())")
            }
        }
        index += 1
        return values
    }

    /// Reads from `{` to `}`; TOML 1.0.0 allows neither line ends nor a comma at the end.
    mutating func inlineTable(_ scope: Scope, depth: Int) throws(TOMLError) {
        guard depth <= TOMLDocument.depthMax else {
            throw failure("nested deeper than \(TOMLDocument.depthMax) levels")
        }
        index += 1
        skipSpaces()
        if peek() == UInt8(ascii: "}") {
            index += 1
            return
        }
        while true {
            try keyValue(in: scope, depth: depth)
            skipSpaces()
            switch peek() {
            case UInt8(ascii: ","): index += 1
            case UInt8(ascii: "}"):
                index += 1
                return
            default:
                throw failure("expected , or } in an inline table, found \(foundHere())")
            }
        }
    }

    /// Reads a number, a boolean, a date or a time.
    private mutating func scalar() throws(TOMLError) -> TOMLValue {
        let start = index
        takeWord()
        let isDate = index - start == 10 && bytes[start + 4] == UInt8(ascii: "-")
        if isDate, peek() == 0x20, let next = peek(1), (0x30...0x39).contains(next) {
            index += 1
            takeWord()
        }
        guard index > start else { throw failure("expected a value, found \(foundHere())") }
        let word = String(decoding: bytes[start..<index], as: UTF8.self)
        switch TOMLScalar.read(word) {
        case .value(let value):
            return value
        case .tooLarge:
            throw failure("\(word.onOneLine(lengthMax: 64)) does not fit in 64 bits", at: start)
        case .invalid:
            throw failure("\(word.quotedOnOneLine) is not a value; a text needs quotes", at: start)
        }
    }

    private mutating func takeWord() {
        while let byte = peek() {
            switch byte {
            case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: index += 1
            default: return
            }
        }
    }
}
