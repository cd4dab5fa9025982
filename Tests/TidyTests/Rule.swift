import Glibc

/// Something that the house style forbids, and how to see it.
struct Rule: Sendable {
    struct Violation: Equatable, CustomStringConvertible {
        var path: String
        var line: Int
        var rule: String

        var description: String { "\(path):\(line): \(rule)" }
    }

    /// What is wrong and what to do instead.
    let name: String

    /// Files it looks at.
    let scope: Scope

    /// The lines, from 1, where it is broken.
    let check: @Sendable (SourceFile) -> [Int]

    enum Scope {
        /// Sources/ and the sources of the benchmarks.
        case sources
        /// The tests too.
        case all
    }

    func violations(in file: SourceFile) -> [Violation] {
        guard scope == .all || !file.isTest else { return [] }
        return check(file).map { Violation(path: file.path, line: $0, rule: name) }
    }
}

// MARK: - Ways of looking

extension SourceFile {
    /// The offsets in `code` where `token` stands as a word of its own.
    func offsets(of token: String) -> [Int] {
        let haystack = code.map { CChar(bitPattern: $0) } + [0]
        return haystack.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return [] }
            var offsets: [Int] = []
            var next = base
            while let hit = strstr(next, token) {
                let offset = base.distance(to: UnsafePointer(hit))
                if isWord(at: offset, length: token.utf8.count) { offsets.append(offset) }
                next = UnsafePointer(hit) + 1
            }
            return offsets
        }
    }

    /// The lines where one of `tokens` stands in code.
    func lines(with tokens: [String]) -> [Int] {
        tokens.flatMap { offsets(of: $0) }.sorted().map { line(at: $0) }
    }

    /// Whether the characters around do not continue a name that the token begins or ends with.
    private func isWord(at offset: Int, length: Int) -> Bool {
        let end = offset + length
        let joinsBefore =
            offset > 0 && Self.isNamePart(code[offset]) && Self.isNamePart(code[offset - 1])
        let joinsAfter =
            end < code.count && Self.isNamePart(code[end - 1]) && Self.isNamePart(code[end])
        return !joinsBefore && !joinsAfter
    }

    static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default:
            false
        }
    }
}
