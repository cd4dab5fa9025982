/// What a word of the command line can be.
///
/// Others choose the names of their tasks, and no shell quotes all of them as they have to be: bash leaves the backquotes
/// in a word with a slash, zsh exclamation marks, and fish a tilde. So only words are offered that need no quotes.
/// A task of another name has its number.
package struct Candidate: Equatable {
    let word: String
    /// What zsh and fish show beside it.
    let note: String

    /// - Returns: `nil` for what a shell could take for more than a word, and bgtaskctl for an option.
    package init?(_ word: String, _ note: String = "") {
        guard ShellWord.isPlain(word), !word.hasPrefix("-") else { return nil }
        self.word = word
        self.note = VisibleText.oneLine(note)
    }

    /// The line that the script of a shell takes.
    package func line(for shell: String?) -> String {
        switch shell {
        case "zsh":
            word.unicodeScalars.split(separator: ":", omittingEmptySubsequences: false)
                .map { String($0) }.joined(separator: "\\:") + (note.isEmpty ? "" : ":\(note)")
        case "fish": word + (note.isEmpty ? "" : "\t\(note)")
        default: word
        }
    }
}
