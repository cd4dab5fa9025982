/// Reads TOML 1.0.0 in one pass over the bytes; the grammar's numbers are those of toml.io.
///
/// The depth of everything is bounded, so that its recursion is.
struct TOMLReader {
    let bytes: [UInt8]
    var index = 0
    var entries: [TOMLDocument.Entry] = []
    var tables = TOMLTables()
    private var scope = Scope(table: TOMLTables.root, path: [], listed: true)
    private var section = 0
    private var textStart = 0
    private var mark = (offset: 0, position: TOMLPosition(line: 1, column: 1))

    /// The table that keys go to.
    struct Scope {
        var table: Int
        var path: [String]
        /// Whether what is inside appears among the entries (an array's elements don't).
        var listed: Bool

        /// Goes one part deeper; a path already too deep to be listed grows no further.
        mutating func descend(_ part: KeyPart) {
            if path.count <= TOMLDocument.listedDepthMax { path.append(part.text) }
        }
    }

    struct KeyPart {
        let text: String
        let offset: Int
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(TOMLError) {
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
        while true {
            skipSpaces()
            switch peek() {
            case nil: return
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "#"): break
            case UInt8(ascii: "["): try header()
            default: try keyValue(in: scope)
            }
            try endOfLine()
        }
    }

    private mutating func checkEncoding() throws(TOMLError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw failure("not UTF-8", at: error.byteOffsets.lowerBound)
        }
    }

    // MARK: Headers

    private mutating func header() throws(TOMLError) {
        index += 1
        let isElement = peek() == UInt8(ascii: "[")
        if isElement { index += 1 }
        let parts = try key()
        for _ in 0..<(isElement ? 2 : 1) {
            guard peek() == UInt8(ascii: "]") else {
                throw failure("expected \(isElement ? "]]" : "]"), found \(foundHere())")
            }
            index += 1
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
    mutating func keyValue(in start: Scope, depth: Int = 0) throws(TOMLError) {
        var scope = start
        let parts = try key()
        guard peek() == UInt8(ascii: "=") else {
            throw failure("expected = after the key, found \(foundHere())")
        }
        index += 1
        skipSpaces()
        for part in parts.dropLast() {
            scope.descend(part)
            scope.table = try dottedTable(part, in: scope)
        }
        guard let last = parts.last else { return }
        scope.descend(last)
        guard tables.child(last.text, of: scope.table) == nil else { throw alreadyDefined(last) }
        if peek() == UInt8(ascii: "{") {
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
            skipSpaces()
            guard parts.count < TOMLDocument.depthMax else {
                throw failure("more than \(TOMLDocument.depthMax) parts in a key")
            }
            let offset = index
            parts.append(KeyPart(text: try keyPart(), offset: offset))
            skipSpaces()
            guard peek() == UInt8(ascii: ".") else { return parts }
            index += 1
        }
    }

    /// Reads a key with nothing after it.
    mutating func keyAlone() throws(TOMLError) -> [String] {
        let parts = try key()
        guard peek() == nil else { throw failure("found \(foundHere()) after the key") }
        return parts.map(\.text)
    }

    private mutating func keyPart() throws(TOMLError) -> String {
        switch peek() {
        case UInt8(ascii: "\""): return try basicString()
        case UInt8(ascii: "'"): return try literalString()
        default: break
        }
        let start = index
        while let byte = peek(), Self.isBareKey(byte) { index += 1 }
        guard index > start else { throw failure("expected a key, found \(foundHere())") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private static func isBareKey(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    // MARK: What was found, and where

    private mutating func list(_ value: TOMLValue, in scope: Scope, at offset: Int) {
        guard scope.listed, scope.path.count <= TOMLDocument.listedDepthMax else { return }
        let position = position(of: offset)
        entries.append(TOMLDocument.Entry(path: scope.path, value: value, position: position))
    }

    private mutating func alreadyDefined(_ part: KeyPart) -> TOMLError {
        failure("\(keyPathText([part.text])) is defined twice", at: part.offset)
    }

    mutating func failure(_ text: String, at offset: Int? = nil) -> TOMLError {
        TOMLError(position: position(of: offset ?? index), text: text)
    }

    /// Counts on from the last place asked for, so that a file of one line stays cheap.
    private mutating func position(of offset: Int) -> TOMLPosition {
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
