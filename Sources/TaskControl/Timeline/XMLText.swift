/// Writes text that somebody else chose into XML and HTML.
enum XMLText {
    /// The text as it stands in content and in attributes with double quotes.
    ///
    /// Control and format characters are shown as escapes, those that steer the direction of text among them; newlines
    /// are kept. What XML has no place for is replaced (Extensible Markup Language 1.0, 2.2 Characters).
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in VisibleText.lines(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Text on one line that is to take no more room than so many columns.
    ///
    /// Marks that are put onto letters take none, and are cut where there are more of them than any script has.
    static func label(_ text: String, columns: Int) -> String {
        let cut = TextWidth.cut(text, to: columns)
        let scalars = cut.unicodeScalars
        guard scalars.count > columns * scalarsPerColumn else { return cut }
        var short = ""
        short.unicodeScalars.append(contentsOf: scalars.prefix(columns * scalarsPerColumn))
        return short + "…"
    }

    private static let scalarsPerColumn = 4

    /// A number with one digit behind the point at most.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let (whole, rest) = (abs(tenths) / 10, abs(tenths) % 10)
        return (tenths < 0 ? "-" : "") + (rest == 0 ? "\(whole)" : "\(whole).\(rest)")
    }
}
