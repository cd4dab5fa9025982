/// The types and extensions that a file of Swift declares, as far as the rule of owners asks.
struct Declarations {
    /// A class, a struct or an actor.
    struct TypeDeclaration: Equatable {
        let name: String
        /// Whether every holder of it sees the same state.
        let isReference: Bool
        /// The words between its name and its body.
        let conformances: Set<String>
        /// What can be assigned from other files, each with its line: stored, and neither it nor its setter private.
        var openVariables: [Variable] = []
    }

    struct Variable: Equatable {
        let name: String
        let line: Int
    }

    struct ExtensionDeclaration: Equatable {
        let name: String
        /// The words in its members that may assign what the type stores: mutating functions, and setters.
        var assigningWords: Set<String> = []
    }

    private(set) var types: [TypeDeclaration] = []
    private(set) var extensions: [ExtensionDeclaration] = []

    init(_ file: SourceFile) {
        tokens = Token.all(in: file.code)
        read()
        tokens = []
    }

    // MARK: - Reading

    private enum Scope {
        case type(Int, name: String)
        case `extension`(Int, name: String)
        case other
    }

    private var tokens: [Token]
    private var scopes: [Scope] = []

    private mutating func read() {
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            switch token.text {
            case "struct", "class", "actor", "enum", "extension":
                if let body = declaration(at: index) {
                    index = body + 1
                    continue
                }
            case "{": scopes.append(.other)
            case "}": _ = scopes.popLast()
            case "var": noteVariable(at: index)
            case "mutating": noteWords(ofBodyAfter: index)
            case "set", "_modify":
                if tokens.indices.contains(index + 1), tokens[index + 1].text == "{" {
                    noteWords(ofBodyAfter: index)
                }
            default: break
            }
            index += 1
        }
    }

    /// Enters the scope of a declaration.
    ///
    /// - Returns: where its body begins; `nil` where the keyword declares no type, as in `class func`.
    private mutating func declaration(at index: Int) -> Int? {
        guard index + 1 < tokens.count, tokens[index + 1].isName,
            !["func", "var", "let", "subscript", "init"].contains(tokens[index + 1].text),
            index == 0 || ![".", ":", ","].contains(tokens[index - 1].text)
        else { return nil }
        var (name, next) = (tokens[index + 1].text, index + 2)
        while next + 1 < tokens.count, tokens[next].text == ".", tokens[next + 1].isName {
            name += "." + tokens[next + 1].text
            next += 2
        }
        guard let body = tokens[next...].firstIndex(where: { $0.text == "{" }) else { return nil }
        let outer = scopes.last.flatMap { scope -> String? in
            switch scope {
            case .type(_, let name), .extension(_, let name): name
            case .other: nil
            }
        }
        let words = Set(tokens[next..<body].lazy.filter(\.isName).map(\.text))
        let full = outer.map { "\($0).\(name)" } ?? name
        switch tokens[index].text {
        case "extension":
            extensions.append(ExtensionDeclaration(name: full))
            scopes.append(.extension(extensions.count - 1, name: full))
        case "enum":
            // Stores nothing, but may be around what does.
            types.append(TypeDeclaration(name: full, isReference: false, conformances: words))
            scopes.append(.type(types.count - 1, name: full))
        case let kind:
            types.append(
                TypeDeclaration(name: full, isReference: kind != "struct", conformances: words))
            scopes.append(.type(types.count - 1, name: full))
        }
        return body
    }

    private static let modifiers: Set<String> = [
        "private", "fileprivate", "internal", "package", "public", "open", "static", "class",
        "final", "lazy", "weak", "unowned", "nonisolated", "override", "(", ")", "set", "unsafe",
    ]

    private mutating func noteVariable(at index: Int) {
        guard case .type(let type, _) = scopes.last else { return }
        let modifiers = tokens[..<index].reversed()
            .prefix { Self.modifiers.contains($0.text) }.map(\.text)
        guard Set(modifiers).isDisjoint(with: ["private", "fileprivate", "static", "class"]) else {
            return
        }
        let names = names(after: index)
        guard isStored(after: index + names.count) else { return }
        types[type].openVariables += names.filter(\.isName).map {
            Variable(name: $0.text, line: $0.line)
        }
    }

    /// The name of a variable, or those of a tuple with all that stands between its parentheses.
    private func names(after index: Int) -> [Token] {
        guard index + 1 < tokens.count else { return [] }
        guard tokens[index + 1].text == "(" else { return [tokens[index + 1]] }
        let rest = tokens[(index + 1)...]
        return Array(rest[...(rest.firstIndex { $0.text == ")" } ?? index + 1)])
    }

    /// Whether what a variable's name ends before the token behind `index` has no body, or only one that observes.
    private func isStored(after index: Int) -> Bool {
        var depth = 0
        for next in (index + 1)..<max(tokens.count, index + 1) {
            let token = tokens[next]
            let before = tokens[next - 1]
            let continues = [":", ",", "->", "&", "."].contains(before.text)
            if depth == 0, token.line != before.line, !continues, token.text != "{" { return true }
            switch token.text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "=" where depth == 0, ";" where depth == 0, "}" where depth == 0: return true
            case "{" where depth == 0:
                let inside = next + 1 < tokens.count ? tokens[next + 1].text : ""
                return inside == "willSet" || inside == "didSet"
            default: break
            }
        }
        return true
    }

    /// Keeps the words of a member of an extension: those of the braces that come next.
    private mutating func noteWords(ofBodyAfter index: Int) {
        let place = scopes.reversed().lazy.compactMap { scope -> Int? in
            if case .extension(let place, _) = scope { place } else { nil }
        }.first
        guard let place, let start = tokens[index...].firstIndex(where: { $0.text == "{" }) else {
            return
        }
        var depth = 0
        for (offset, token) in zip(start..., tokens[start...]) {
            if token.text == "{" { depth += 1 }
            if token.text == "}" { depth -= 1 }
            if depth == 0 { return }
            let isMember = tokens[offset - 1].text == "." && tokens[offset - 2].text != "self"
            if token.isName, !isMember { extensions[place].assigningWords.insert(token.text) }
        }
    }
}

/// A word, a mark or an operator of Swift, with its line.
struct Token: Equatable {
    let text: String
    let line: Int

    var isName: Bool { text.utf8.first.map(SourceFile.isNamePart) ?? false }

    static func all(in code: [UInt8]) -> [Token] {
        var tokens: [Token] = []
        var line = 1
        var index = 0
        while index < code.count {
            let start = index
            let byte = code[index]
            index += 1
            if byte == SourceFile.newline { line += 1 }
            if byte <= UInt8(ascii: " ") { continue }
            if SourceFile.isNamePart(byte) {
                while index < code.count, SourceFile.isNamePart(code[index]) { index += 1 }
            } else if isOperator(byte) {
                while index < code.count, isOperator(code[index]) { index += 1 }
            }
            let text = String(decoding: code[start..<index], as: UTF8.self)
            tokens.append(Token(text: text, line: line))
        }
        return tokens
    }

    private static func isOperator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: ">"), UInt8(ascii: "<"),
            UInt8(ascii: "+"), UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "!"),
            UInt8(ascii: "?"):
            true
        default: false
        }
    }
}
