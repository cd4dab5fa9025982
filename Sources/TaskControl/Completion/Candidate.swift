/// What a word of the command line can be.
package struct Candidate: Equatable {
    let word: String
    /// What zsh and fish show beside it.
    let note: String

    /// - Returns: `nil` for what would be taken for something else on the command line, or would steer a terminal.
    package init?(_ word: String, _ note: String = "") {
        guard !word.isEmpty, !word.hasPrefix("-"), VisibleText.oneLine(word) == word else {
            return nil
        }
        self.word = word
        self.note = VisibleText.oneLine(note)
    }

    /// The line that the script of a shell takes.
    ///
    /// That of bash expands what it gets as a word of a command line (`compgen -W`, bash(1)), and others choose the
    /// names of their tasks: so each is quoted, and no name is ever run.
    package func line(for shell: String?) -> String {
        switch shell {
        case "bash": "'\(escaped(word, ["'": "'\\''"]))'"
        case "zsh":
            escaped(word, [":": "\\:", "\\": "\\\\"]) + (note.isEmpty ? "" : ":\(note)")
        case "fish": word + (note.isEmpty ? "" : "\t\(note)")
        default: word
        }
    }

    /// Scalar by scalar: a mark that joins a quote would hide it otherwise.
    private func escaped(_ text: String, _ escapes: [Unicode.Scalar: String]) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if let escape = escapes[scalar] {
                result += escape
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
