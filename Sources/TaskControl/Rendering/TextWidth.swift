/// Counts and cuts text in the columns that it takes on a terminal.
package enum TextWidth {
    /// Ranges that terminals show two columns wide (Unicode Standard Annex 11: W and F).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
        0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18DFF, 0x1B000...0x1B2FF, 0x20000...0x3FFFD,
    ]

    /// The number of columns.
    package static func of(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + of($1) }
    }

    /// The text cut to a number of columns; an ellipsis stands for what is missing.
    package static func cut(_ text: String, to columns: Int) -> String {
        guard of(text) > columns else { return text }
        guard columns > 0 else { return "" }
        var result = ""
        var taken = 0
        for scalar in text.unicodeScalars {
            taken += of(scalar)
            guard taken < columns else { break }
            result.unicodeScalars.append(scalar)
        }
        return result + "…"
    }

    /// The text on several lines, broken between words where that can be.
    static func wrapped(_ text: String, to width: Int) -> [String] {
        let indent = width > 20 ? "  " : ""
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            let word = cut(String(word), to: max(width - 2, 1))
            let joined = line.isEmpty ? word : line + " " + word
            if of(joined) <= width || line.isEmpty {
                line = joined
            } else {
                lines.append(line)
                line = indent + word
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
}
