/// What a shell makes of a word.
enum ShellWord {
    /// Whether every shell takes the word as it stands, whatever stands around it, so that it needs no quotes.
    ///
    /// Letters, digits and a few marks. An equals sign is none of them: zsh looks for a program of the name behind one,
    /// and `set -k` of others makes variables of such words. Nor is a percent sign, behind which fish knows a name.
    /// In UTF-8 all bytes of other letters are above those of ASCII, in which all that shells know is written.
    static func isPlain(_ word: String) -> Bool {
        !word.isEmpty && word.unicodeScalars.allSatisfy { isPlain($0) }
    }

    /// The word in single quotes, where it is not plain.
    ///
    /// Goes by scalars: a mark that joins a quote would hide it from a comparison of characters.
    static func quoted(_ word: String) -> String {
        guard !isReadable(word) else { return word }
        var result = "'"
        for scalar in word.unicodeScalars {
            if scalar == "'" { result += "'\\'" }
            result.unicodeScalars.append(scalar)
        }
        return result + "'"
    }

    /// Whether the shells for scripts take it as it stands where a person would write it so, such as `--limit=90%`.
    private static func isReadable(_ word: String) -> Bool {
        guard let first = word.unicodeScalars.first, first != "=" else { return false }
        return word.unicodeScalars.allSatisfy { isPlain($0) || $0 == "=" || $0 == "%" }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": return true
        case _ where scalar.isASCII: return "_.,:@+/-".unicodeScalars.contains(scalar)
        default: break
        }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark, .spacingMark, .decimalNumber:
            true
        default: false
        }
    }
}
