/// Reads the words of a definition text.
struct InterfaceScanner {
    private let text: [UInt8]
    private(set) var position = 0
    /// The comment lines right above the word to come.
    private(set) var comment: [String] = []

    /// What a name may look like.
    enum NameKind: String {
        case interface = "interface name"
        case member = "name of a type, method or error"
        case field = "field name"
    }

    init(_ text: String) {
        self.text = Array(text.utf8)
    }

    var isAtEnd: Bool { position >= text.count }

    /// Skips white space and comments; an empty line ends a comment that belongs to nothing.
    mutating func skipSpace() {
        comment = []
        var newlines = 0
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\n"):
                newlines += 1
                if newlines > 1 { comment = [] }
                position += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
            case UInt8(ascii: "#"):
                skipComment()
                newlines = 0
            default: return
            }
        }
    }

    private mutating func skipComment() {
        let end = text[position...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
        var line = text[position..<end].drop { $0 == UInt8(ascii: "#") }
        if line.first == UInt8(ascii: " ") { line = line.dropFirst() }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        comment.append(String(decoding: line, as: UTF8.self))
        position = end
    }

    /// Takes `word` where it comes next, and the space after it.
    mutating func take(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard text.count - position >= length else { return false }
        for index in 0..<length where text[position + index] != word.utf8Start[index] {
            return false
        }
        let isWord = InterfaceScanner.isNameByte(word.utf8Start[length - 1])
        if isWord, position + length < text.count,
            InterfaceScanner.isNameByte(text[position + length])
        {
            return false
        }
        position += length
        skipSpace()
        return true
    }

    /// Takes `word`, which has to come next.
    mutating func expect(_ word: StaticString) throws(InterfaceError) {
        guard take(word) else { throw error("expected '\(word)'") }
    }

    /// Takes a name, which has to come next.
    mutating func name(_ kind: NameKind) throws(InterfaceError) -> String {
        let start = position
        let dots = kind == .interface
        while position < text.count,
            InterfaceScanner.isNameByte(text[position])
                || dots
                    && (text[position] == UInt8(ascii: ".") || text[position] == UInt8(ascii: "-"))
        {
            position += 1
        }
        let name = text[start..<position]
        guard InterfaceScanner.isGood(name, kind) else {
            position = start
            throw error("expected the \(kind.rawValue)")
        }
        skipSpace()
        return String(decoding: name, as: UTF8.self)
    }

    /// An error at the present word, or at an earlier one.
    func error(_ reason: String, at position: Int? = nil) -> InterfaceError {
        let before = text[..<min(position ?? self.position, text.count)]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return InterfaceError(line: line, column: before.count - lineStart + 1, reason: reason)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || byte == UInt8(ascii: "_")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte &- UInt8(ascii: "0") < 10
    }

    private static func isGood(_ name: ArraySlice<UInt8>, _ kind: NameKind) -> Bool {
        guard let first = name.first, let last = name.last, isLetter(first) else { return false }
        switch kind {
        case .member:
            return first < UInt8(ascii: "a") && name.allSatisfy(isAlphanumeric)
        case .field:
            return last != UInt8(ascii: "_") && !hasPair(name, UInt8(ascii: "_"))
        case .interface:
            let parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            return parts.count > 1
                && parts.allSatisfy { part in
                    guard let first = part.first, let last = part.last else { return false }
                    return isAlphanumeric(first) && isAlphanumeric(last)
                        && !part.contains(UInt8(ascii: "_"))
                }
        }
    }

    private static func hasPair(_ name: ArraySlice<UInt8>, _ byte: UInt8) -> Bool {
        zip(name, name.dropFirst()).contains { $0 == byte && $1 == byte }
    }
}
