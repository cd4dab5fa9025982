/// Reads TOML 1.0.0 in one pass over the bytes; the grammar's numbers are those of toml.io.
///
/// The depth of everything is bounded, so that its recursion is.
struct TOMLReader {
    /// What was found, in the order of the file.
    private(set) var entries: [TOMLDocument.Entry] = []
    private var scanner: TOMLScanner
    private var tables = TOMLTables()
    private var scope = Scope(table: TOMLTables.root, path: [], listed: true)
    private var section = 0

    /// The table that keys go to.
    private struct Scope {
        var table: Int
        var path: [String]
        /// Whether what is inside appears among the entries (an array's elements don't).
        var listed: Bool

        /// Goes one part deeper; a path already too deep to be listed grows no further.
        mutating func descend(_ part: KeyPart) {
            if path.count <= TOMLDocument.listedDepthMax { path.append(part.text) }
        }
    }

    private struct KeyPart {
        let text: String
        let offset: Int
    }

    init(bytes: [UInt8]) {
        scanner = TOMLScanner(bytes: bytes)
    }

    mutating func document() throws(TOMLError) {
        try scanner.begin()
        while true {
            scanner.skipSpaces()
            switch scanner.peek() {
            case nil: return
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "#"): break
            case UInt8(ascii: "["): try header()
            default: try keyValue(in: scope)
            }
            try scanner.endOfLine()
        }
    }

    // MARK: Headers

    private mutating func header() throws(TOMLError) {
        scanner.advance()
        let isElement = scanner.peek() == UInt8(ascii: "[")
        if isElement { scanner.advance() }
        let parts = try key()
        for _ in 0..<(isElement ? 2 : 1) {
            guard scanner.peek() == UInt8(ascii: "]") else {
                throw failure("expected \(isElement ? "]]" : "]"), found \(scanner.foundHere())")
            }
            scanner.advance()
        }
        section += 1
        scope = Scope(table: TOMLTables.root, path: [], listed: true)
        for (number, part) in parts.enumerated() {
            scope.descend(part)
            if number < parts.count - 1 {
                try pass(part)
            } else if isElement {
                try openElement(part)
            } else {
                try openTable(part)
            }
        }
    }

    /// Enters a table on the way to the one that the header defines.
    private mutating func pass(_ part: KeyPart) throws(TOMLError) {
        switch tables.child(part.text, of: scope.table) {
        case nil:
            list(.table, in: scope, at: part.offset)
            scope.table = tables.addTable(part.text, to: scope.table, as: .implicit)
        case .table(let table) where tables.kind(of: table) != .inline:
            scope.table = table
        case .elements(let last):
            scope.table = last
            scope.listed = false
        case .table, .value:
            throw alreadyDefined(part)
        }
    }

    private mutating func openTable(_ part: KeyPart) throws(TOMLError) {
        switch tables.child(part.text, of: scope.table) {
        case nil:
            list(.table, in: scope, at: part.offset)
            scope.table = tables.addTable(part.text, to: scope.table, as: .header)
        case .table(let table) where tables.kind(of: table) == .implicit:
            tables.define(table, as: .header)
            scope.table = table
        default:
            throw alreadyDefined(part)
        }
    }

    private mutating func openElement(_ part: KeyPart) throws(TOMLError) {
        switch tables.child(part.text, of: scope.table) {
        case nil:
            list(.array([]), in: scope, at: part.offset)
            scope.table = tables.addElement(part.text, to: scope.table)
        case .elements:
            scope.table = tables.addElement(part.text, to: scope.table)
        default:
            throw alreadyDefined(part)
        }
        scope.listed = false
    }

    // MARK: Keys and values

    /// Reads `key = value` into a table, also inside braces.
    private mutating func keyValue(in start: Scope, depth: Int = 0) throws(TOMLError) {
        var scope = start
        let parts = try key()
        guard scanner.peek() == UInt8(ascii: "=") else {
            throw failure("expected = after the key, found \(scanner.foundHere())")
        }
        scanner.advance()
        scanner.skipSpaces()
        for part in parts.dropLast() {
            scope.descend(part)
            scope.table = try dottedTable(part, in: scope)
        }
        guard let last = parts.last else { return }
        scope.descend(last)
        guard tables.child(last.text, of: scope.table) == nil else { throw alreadyDefined(last) }
        if scanner.peek() == UInt8(ascii: "{") {
            list(.table, in: scope, at: last.offset)
            scope.table = tables.addTable(last.text, to: scope.table, as: .inline)
            try inlineTable(scope, depth: depth + 1)
        } else {
            tables.addValue(last.text, to: scope.table)
            list(try value(depth: depth + 1), in: scope, at: last.offset)
        }
    }

    private mutating func dottedTable(_ part: KeyPart, in scope: Scope) throws(TOMLError) -> Int {
        switch tables.child(part.text, of: scope.table) {
        case nil:
            list(.table, in: scope, at: part.offset)
            return tables.addTable(part.text, to: scope.table, as: .dotted(section: section))
        case .table(let table) where tables.kind(of: table) == .dotted(section: section):
            return table
        case .table(let table) where tables.kind(of: table) == .implicit:
            tables.define(table, as: .dotted(section: section))
            return table
        default:
            throw alreadyDefined(part)
        }
    }

    private mutating func key() throws(TOMLError) -> [KeyPart] {
        var parts: [KeyPart] = []
        while true {
            scanner.skipSpaces()
            guard parts.count < TOMLDocument.depthMax else {
                throw failure("more than \(TOMLDocument.depthMax) parts in a key")
            }
            let offset = scanner.index
            parts.append(KeyPart(text: try keyPart(), offset: offset))
            scanner.skipSpaces()
            guard scanner.peek() == UInt8(ascii: ".") else { return parts }
            scanner.advance()
        }
    }

    /// Reads a key with nothing after it.
    mutating func keyAlone() throws(TOMLError) -> [String] {
        let parts = try key()
        guard scanner.peek() == nil else {
            throw failure("found \(scanner.foundHere()) after the key")
        }
        return parts.map(\.text)
    }

    private mutating func keyPart() throws(TOMLError) -> String {
        switch scanner.peek() {
        case UInt8(ascii: "\""): return try scanner.basicString()
        case UInt8(ascii: "'"): return try scanner.literalString()
        default: break
        }
        guard let key = scanner.bareKey() else {
            throw failure("expected a key, found \(scanner.foundHere())")
        }
        return key
    }

    // MARK: Arrays, inline tables, and what is written without quotes

    private mutating func value(depth: Int) throws(TOMLError) -> TOMLValue {
        guard depth <= TOMLDocument.depthMax else {
            throw failure("nested deeper than \(TOMLDocument.depthMax) levels")
        }
        switch scanner.peek() {
        case UInt8(ascii: "\""):
            let isLong = scanner.isAtLongString
            return .string(isLong ? try scanner.longBasicString() : try scanner.basicString())
        case UInt8(ascii: "'"):
            let isLong = scanner.isAtLongString
            return .string(isLong ? try scanner.longLiteralString() : try scanner.literalString())
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
        scanner.advance()
        while true {
            try scanner.skipLines()
            if scanner.peek() == UInt8(ascii: "]") { break }
            values.append(try value(depth: depth + 1))
            try scanner.skipLines()
            if scanner.peek() == UInt8(ascii: ",") {
                scanner.advance()
            } else if scanner.peek() != UInt8(ascii: "]") {
                throw failure("expected , or ] in an array, found \(scanner.foundHere())")
            }
        }
        scanner.advance()
        return values
    }

    /// Reads from `{` to `}`; TOML 1.0.0 allows neither line ends nor a comma at the end.
    private mutating func inlineTable(_ scope: Scope, depth: Int) throws(TOMLError) {
        guard depth <= TOMLDocument.depthMax else {
            throw failure("nested deeper than \(TOMLDocument.depthMax) levels")
        }
        scanner.advance()
        scanner.skipSpaces()
        if scanner.peek() == UInt8(ascii: "}") {
            scanner.advance()
            return
        }
        while true {
            try keyValue(in: scope, depth: depth)
            scanner.skipSpaces()
            switch scanner.peek() {
            case UInt8(ascii: ","): scanner.advance()
            case UInt8(ascii: "}"):
                scanner.advance()
                return
            default:
                throw failure("expected , or } in an inline table, found \(scanner.foundHere())")
            }
        }
    }

    /// Reads a number, a boolean, a date or a time.
    private mutating func scalar() throws(TOMLError) -> TOMLValue {
        let start = scanner.index
        guard let word = scanner.scalarWord() else {
            throw failure("expected a value, found \(scanner.foundHere())")
        }
        switch TOMLScalar.read(word) {
        case .value(let value):
            return value
        case .tooLarge:
            throw failure("\(word.onOneLine(lengthMax: 64)) does not fit in 64 bits", at: start)
        case .invalid:
            throw failure("\(word.quotedOnOneLine) is not a value; a text needs quotes", at: start)
        }
    }

    // MARK: What was found, and where

    private mutating func list(_ value: TOMLValue, in scope: Scope, at offset: Int) {
        guard scope.listed, scope.path.count <= TOMLDocument.listedDepthMax else { return }
        let position = scanner.position(of: offset)
        entries.append(TOMLDocument.Entry(path: scope.path, value: value, position: position))
    }

    private mutating func alreadyDefined(_ part: KeyPart) -> TOMLError {
        failure("\(keyPathText([part.text])) is defined twice", at: part.offset)
    }

    private mutating func failure(_ text: String, at offset: Int? = nil) -> TOMLError {
        scanner.failure(text, at: offset)
    }
}
