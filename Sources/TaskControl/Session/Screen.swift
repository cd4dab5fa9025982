internal import Glibc

/// The screen of a terminal.
package struct Screen: Equatable {
    let width: Int
    let height: Int
    let isColoured: Bool

    /// What terminals have that do not say.
    private static let (usualWidth, usualHeight) = (80, 24)

    package init(width: Int, height: Int, isColoured: Bool = false) {
        self.width = width
        self.height = height
        self.isColoured = isColoured
    }

    /// The screen that standard output goes to; `nil` where that is no terminal.
    static var standardOutput: Screen? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return Screen(
            width: isKnown && size.ws_col > 0 ? Int(size.ws_col) : usualWidth,
            height: isKnown && size.ws_row > 0 ? Int(size.ws_row) : usualHeight,
            isColoured: Surroundings.value("NO_COLOR") == nil
                && Surroundings.value("TERM") != "dumb")
    }

    /// How text is shown on it.
    var style: Style { .terminal(width: width, colour: isColoured) }

    /// Whether all of a text can be seen at once, above the prompt that follows it.
    package func holds(_ text: String) -> Bool {
        var rows = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            rows += max(1, (TextWidth.of(Screen.unpainted(line)) + width - 1) / width)
            if rows >= height { return false }
        }
        return true
    }

    /// The line without the colours that a style gives it.
    private static func unpainted(_ line: Substring) -> String {
        guard line.contains("\u{1B}") else { return String(line) }
        let parts = line.split(separator: "\u{1B}", omittingEmptySubsequences: false)
        let rest = parts.dropFirst().map { part in
            part.firstIndex(of: "m").map { part[part.index(after: $0)...] } ?? part
        }
        return (parts.prefix(1) + rest).joined()
    }
}
