/// A source file, taken apart into what is code and what is comment.
///
/// `code` and `comments` are as long as the text: what belongs to the other, and what is inside
/// string literals, is blank there. Code inside interpolations counts as code.
struct SourceFile {
    /// Relative to the top of the repository, such as `Sources/Systemd/EventLoop.swift`.
    let path: String
    private(set) var code: [UInt8]
    private(set) var comments: [UInt8]

    init(path: String, text: String) {
        self.path = path
        code = Array(text.utf8)
        comments = code.map { $0 == Self.newline ? $0 : Self.blank }
        separate(Array(text.utf8))
    }

    static let newline = UInt8(ascii: "\n")
    static let blank = UInt8(ascii: " ")

    /// The folder below Sources that the file is in; `nil` elsewhere.
    var module: String? {
        var parts = path.split(separator: "/")
        if parts.first == "Benchmarks" { parts.removeFirst() }
        return parts.first == "Sources" && parts.count > 2 ? String(parts[1]) : nil
    }

    var isTest: Bool { path.hasPrefix("Tests/") }

    var isSwift: Bool { path.hasSuffix(".swift") }

    var codeLines: [String] { Self.lines(code) }

    var commentLines: [String] { Self.lines(comments) }

    /// Counted from 1.
    func line(at offset: Int) -> Int {
        code[..<offset].count { $0 == Self.newline } + 1
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        var lines = bytes.split(separator: newline, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: - Taking apart

    private enum Place {
        /// In an interpolation the parentheses are counted, to find its end.
        case code(parentheses: Int)
        case string(hashes: Int, isLong: Bool)
        case lineComment
        case blockComment(depth: Int)
    }

    private mutating func separate(_ text: [UInt8]) {
        var places: [Place] = [.code(parentheses: 0)]
        var index = 0
        while index < text.count, let place = places.last {
            let length: Int
            switch place {
            case .code(let parentheses):
                length = stepCode(text, index, parentheses, &places)
            case .string(let hashes, let isLong):
                length = Self.stepString(text, index, hashes, isLong, &places)
                blankCode(index, length)
            case .lineComment:
                length = 1
                if text[index] == Self.newline { places.removeLast() }
                moveToComments(text, index, length)
            case .blockComment(let depth):
                length = Self.stepBlockComment(text, index, depth, &places)
                moveToComments(text, index, length)
            }
            index += length
        }
    }

    private mutating func stepCode(
        _ text: [UInt8],
        _ index: Int,
        _ parentheses: Int,
        _ places: inout [Place]
    ) -> Int {
        let rest = text[index...]
        if rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8) {
            let isLine = rest.starts(with: "//".utf8)
            places.append(isLine ? .lineComment : .blockComment(depth: 1))
            moveToComments(text, index, 2)
            return 2
        }
        if let (length, string) = Self.stringStart(rest) {
            places.append(string)
            blankCode(index, length)
            return length
        }
        let change = rest.first == UInt8(ascii: "(") ? 1 : rest.first == UInt8(ascii: ")") ? -1 : 0
        places[places.count - 1] = .code(parentheses: parentheses + change)
        if places.count > 1, parentheses + change == 0 { places.removeLast() }
        return 1
    }

    /// The length of a literal's opening, with its hashes and quotes.
    private static func stringStart(_ rest: ArraySlice<UInt8>) -> (Int, Place)? {
        guard rest.first == UInt8(ascii: "\"") || rest.first == UInt8(ascii: "#") else {
            return nil
        }
        let hashes = rest.prefix { $0 == UInt8(ascii: "#") }.count
        let quotes = rest.dropFirst(hashes).prefix { $0 == UInt8(ascii: "\"") }.count
        guard quotes > 0 else { return nil }
        let isLong = quotes >= 3
        return (hashes + (isLong ? 3 : 1), .string(hashes: hashes, isLong: isLong))
    }

    private static func stepString(
        _ text: [UInt8],
        _ index: Int,
        _ hashes: Int,
        _ isLong: Bool,
        _ places: inout [Place]
    ) -> Int {
        let rest = text[index...]
        let hash = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
        let end = [UInt8](repeating: UInt8(ascii: "\""), count: isLong ? 3 : 1) + hash
        let escape = [UInt8(ascii: "\\")] + hash
        if rest.starts(with: escape + [UInt8(ascii: "(")]) {
            places.append(.code(parentheses: 1))
            return escape.count + 1
        }
        if rest.starts(with: escape) { return min(escape.count + 1, rest.count) }
        if rest.starts(with: end) {
            places.removeLast()
            return end.count
        }
        return 1
    }

    private static func stepBlockComment(
        _ text: [UInt8],
        _ index: Int,
        _ depth: Int,
        _ places: inout [Place]
    ) -> Int {
        let isStart = text[index...].starts(with: "/*".utf8)
        guard isStart || text[index...].starts(with: "*/".utf8) else { return 1 }
        places.removeLast()
        if isStart || depth > 1 { places.append(.blockComment(depth: depth + (isStart ? 1 : -1))) }
        return 2
    }

    private mutating func blankCode(_ index: Int, _ length: Int) {
        for position in index..<min(index + length, code.count) where code[position] != Self.newline
        {
            code[position] = Self.blank
        }
    }

    private mutating func moveToComments(_ text: [UInt8], _ index: Int, _ length: Int) {
        blankCode(index, length)
        for position in index..<min(index + length, text.count) {
            comments[position] = text[position]
        }
    }
}
