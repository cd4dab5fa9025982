package import ArgumentParser
internal import Settings

/// The command that `run` and `hold` are given, behind `--` or without it.
///
/// Without it the command begins at the first word that is no option. Where a word behind that could be an option of
/// bgtaskctl, nobody guesses whose it is.
package enum PassedCommand {
    /// Finds the command.
    ///
    /// - Parameter words: what stands behind the options that were understood.
    package static func words<Verb: ParsableCommand>(
        _ words: [String], of verb: Verb.Type
    ) throws -> [String] {
        guard let first = words.first else { throw ValidationError("a <command> is missing") }
        if first == "--" {
            guard words.count > 1 else { throw ValidationError("a <command> is missing") }
            return Array(words.dropFirst())
        }
        if first.hasPrefix("-") {
            // What every command line has is not understood before words that may be anything.
            if ["-h", "--help"].contains(first) { throw CleanExit.helpRequest(verb) }
            let hint = Spelling.hint(for: name(first), among: options(of: verb))
            throw ValidationError("there is no option \(VisibleText.oneLine(name(first)))\(hint)")
        }
        let mine = words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
        guard !mine.isEmpty else { return words }
        let known = Set(options(of: verb))
        if let unclear = mine.first(where: { known.contains(name($0)) }) {
            throw ValidationError(
                "\(name(unclear)) may be meant for bgtaskctl or for \(VisibleText.oneLine(first)); "
                    + "put it before the command, or -- before the command")
        }
        return words
    }

    private static func name(_ option: String) -> String {
        String(option.prefix { $0 != "=" })
    }

    /// The long options of a verb, which its help has.
    private static func options<Verb: ParsableCommand>(of verb: Verb.Type) -> [String] {
        let words = verb.helpMessage(columns: .max).split { ", \n[]|".contains($0) }
        let options = words.filter { $0.hasPrefix("--") && $0.count > 2 }.map { name(String($0)) }
        return Set(options).sorted()
    }
}
