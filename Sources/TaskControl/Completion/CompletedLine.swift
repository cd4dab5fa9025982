/// The command line that a shell asks about, as far as the answer depends on it.
package struct CompletedLine: Equatable {
    /// `nil` where there is none yet; the first word of one of two words.
    package private(set) var verb: String?
    /// What `--socket` says.
    package private(set) var socket: String?
    private(set) var isUser = false
    private(set) var isSystem = false
    /// Whether tasks of all users are meant.
    package private(set) var isOfAll = false

    /// - Parameter words: as they stand in the shell, with their quotes; the first is the program.
    /// - Returns: `nil` where only the shell knows which socket is meant.
    package init?(_ words: [String]) {
        var rest = words.dropFirst()
        while let word = rest.popFirst(), word != "--" {
            var path: String?
            if word == "--socket" {
                // bash makes three words of --socket=PATH.
                if rest.first == "=" { rest.removeFirst() }
                path = rest.popFirst()
            } else if word.hasPrefix("--socket=") {
                path = String(word.dropFirst("--socket=".count))
            } else if !take(flag: word), !word.hasPrefix("-"), !word.isEmpty, verb == nil {
                verb = word
            }
            guard let path else { continue }
            guard let plain = Self.unquoted(path) else { return nil }
            socket = plain
        }
    }

    private mutating func take(flag: String) -> Bool {
        switch flag {
        case "--user": isUser = true
        case "--system": isSystem = true
        case "--all": isOfAll = true
        default: return false
        }
        return true
    }

    /// Whether tasks are meant too that have ended.
    var takesEnded: Bool { ["show", "logs", "wait", "explain", "restart"].contains(verb) }

    /// The word without the shell's quotes; `nil` where it holds what only the shell can expand.
    private static func unquoted(_ word: String) -> String? {
        guard !word.hasPrefix("~"),
            !word.unicodeScalars.contains(where: { "$`".unicodeScalars.contains($0) })
        else { return nil }
        var plain = String.UnicodeScalarView()
        var quote: Unicode.Scalar?
        var isEscaped = false
        for scalar in word.unicodeScalars {
            if isEscaped {
                plain.append(scalar)
                isEscaped = false
            } else if scalar == "\\", quote != "'" {
                isEscaped = true
            } else if scalar == quote {
                quote = nil
            } else if quote == nil, scalar == "'" || scalar == "\"" {
                quote = scalar
            } else {
                plain.append(scalar)
            }
        }
        return String(plain)
    }
}
