/// What a TOML file says, as a list of its keys and tables in the order of the file.
///
/// A reader of our own (TOML 1.0.0, strict) instead of a library: TOMLKit brings
/// FoundationEssentials (8 MB), ends the process on a key with a NUL or on deep dotted keys, stops
/// reading at a NUL, and knows no position but that of a syntax error.
package struct TOMLDocument: Sendable {
    package let entries: [Entry]

    /// A key or a table, with the place where it is first named.
    package struct Entry: Sendable {
        package let path: [String]
        package let value: TOMLValue
        /// `nil` where there is no file.
        package let position: TOMLPosition?
    }

    /// The most bytes a document may have.
    package static let sizeMax = 1 << 20

    /// The most parts of a dotted key, and the most arrays and inline tables inside one another.
    package static let depthMax = 32

    /// Entries deeper than this are checked but not listed: no setting lies deeper, so that what
    /// contains them is refused already.
    static let listedDepthMax = 4

    /// Reads a whole document.
    ///
    /// - Throws: ``TOMLError`` with the place of the first offence.
    package init(bytes: [UInt8]) throws(TOMLError) {
        var reader = TOMLReader(bytes: bytes)
        try reader.document()
        entries = reader.entries
    }

    /// Reads a dotted key that stands alone.
    static func keyPath(_ text: String) throws(TOMLError) -> [String] {
        var reader = TOMLReader(bytes: Array(text.utf8))
        return try reader.keyAlone()
    }
}

/// A value, as far as a setting can ask for it.
package enum TOMLValue: Sendable, Equatable {
    case string(String)
    case integer(Int)
    /// The text of a float: no setting takes one, so that it is never converted.
    case float(String)
    case boolean(Bool)
    /// The text of a date, a time or both.
    case date(String)
    case array([TOMLValue])
    case table

    /// The value as it is named after "found".
    var found: String {
        switch self {
        case .string(let text): "the string \(text.quotedOnOneLine)"
        case .integer(let number): "the integer \(number)"
        case .float(let text): "the floating-point number \(text.onOneLine(lengthMax: 64))"
        case .boolean(let flag): "the boolean \(flag)"
        case .date(let text): "the date or time \(text)"
        case .array: "an array"
        case .table: "a table"
        }
    }
}

/// A place in a file; lines and columns (in Unicode scalars) count from 1.
package struct TOMLPosition: Sendable, Equatable {
    package var line: Int
    package var column: Int
}

/// Why a text is not TOML, and where.
package struct TOMLError: Error, Sendable, Equatable {
    let position: TOMLPosition
    package let text: String
}
