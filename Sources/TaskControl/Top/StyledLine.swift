/// One line of the screen: pieces of text, each with how it looks.
package struct StyledLine: Equatable {
    package private(set) var spans: [Span] = []
    /// How many columns it takes.
    package private(set) var width = 0
    /// Whether the whole line stands out.
    package var isChosen = false

    /// A piece of text that can do a terminal no harm.
    package struct Span: Equatable {
        package let text: String
        let ink: Ink
    }

    /// How text looks.
    enum Ink: Equatable {
        case plain, bold, faint
        /// About to end.
        case warning
        /// Something to look at.
        case alarm
        case good

        init(_ colour: Style.Colour?) {
            self =
                switch colour {
                case .bold: .bold
                case .red: .alarm
                case .green: .good
                case .yellow: .warning
                case .grey: .faint
                case nil: .plain
                }
        }
    }

    package init() {}

    init(_ text: String, _ ink: Ink = .plain) {
        add(text, ink)
    }

    /// The text without looks, and without blanks at its end.
    package var text: String {
        var text = spans.map(\.text).joined()
        while text.utf8.last == UInt8(ascii: " ") { text.removeLast() }
        return text
    }

    /// Adds text; what could steer a terminal is made visible.
    mutating func add(_ text: String, _ ink: Ink = .plain) {
        let visible = VisibleText.oneLine(text)
        guard !visible.isEmpty else { return }
        spans.append(Span(text: visible, ink: ink))
        width += TextWidth.of(visible)
    }

    /// Adds text in a field of so many columns, in which it is cut and filled up with blanks.
    mutating func add(_ text: String, _ ink: Ink = .plain, in columns: Int, isRight: Bool = false) {
        guard columns > 0 else { return }
        let cut = StyledLine.cut(text, to: columns)
        let blanks = String(repeating: " ", count: columns - TextWidth.of(cut))
        if isRight { add(blanks) }
        add(cut, ink)
        if !isRight { add(blanks) }
    }

    /// Goes on at a column, if it has not come so far.
    mutating func fill(to column: Int) {
        if column > width { add(String(repeating: " ", count: column - width)) }
    }

    /// The same line in so many columns at most.
    func cut(to columns: Int) -> StyledLine {
        guard width > columns else { return self }
        var line = StyledLine()
        line.isChosen = isChosen
        for span in spans {
            let room = columns - line.width
            guard TextWidth.of(span.text) > room else {
                line.add(span.text, span.ink)
                continue
            }
            line.add(TextWidth.cut(span.text, to: room), span.ink)
            break
        }
        return line
    }

    /// Text on one line in so many columns at most. Of a very long one only the beginning is looked at.
    static func cut(_ text: String, to columns: Int) -> String {
        // A character that takes no column is one of many on another at worst.
        let part = text.unicodeScalars.prefix(columns * 4 + 64)
        return TextWidth.cut(VisibleText.oneLine(String(part)), to: columns)
    }
}
