internal import CNcurses
internal import Glibc

/// The terminal as lines, by ncurses, which sends what has changed alone.
///
/// There is one in a process, and whoever made it calls `leave` before the process ends.
final class CursesScreen {
    private let isColoured: Bool
    private var shown: [StyledLine] = []

    /// The colours, as pairs from 1 on.
    private static let colours = [COLOR_RED, COLOR_GREEN, COLOR_YELLOW].map { Int16($0) }
    private static let (red, green, yellow): (Int16, Int16, Int16) = (1, 2, 3)

    /// Takes the terminal of standard input and output; `nil` where its type is not known or cannot place text.
    ///
    /// - Parameter isColoured: whether colours are wanted.
    init?(isColoured: Bool) {
        CursesScreen.setCharacters()
        guard cncurses_start() else { return nil }
        self.isColoured =
            isColoured
            && cncurses_use_colours(CursesScreen.colours, Int32(CursesScreen.colours.count))
    }

    /// Has ncurses take text as it is everywhere else in this program: as UTF-8.
    private static func setCharacters() {
        setlocale(LC_CTYPE, "")
        let codes = nl_langinfo(nl_item(CODESET)).map { String(cString: $0) }
        if codes != "UTF-8" { setlocale(LC_CTYPE, "C.UTF-8") }
    }

    /// Gives the terminal back as it was.
    func leave() { _ = endwin() }

    /// Takes it again after `leave`.
    func comeBack() {
        resize()
        redraw()
    }

    /// How large the terminal is.
    var size: TopSize {
        let screen = Screen.standardOutput ?? Screen(width: 80, height: 24)
        return TopSize(width: screen.width, height: screen.height)
    }

    /// Takes note that the terminal has another size.
    func resize() {
        let size = size
        _ = resizeterm(Int32(size.height ?? 1), Int32(size.width))
        shown = []
    }

    /// Has everything sent anew.
    func redraw() {
        cncurses_forget()
        shown = []
    }

    // MARK: Lines

    /// Shows lines from the top of the screen on.
    func show(_ lines: [StyledLine]) {
        guard lines != shown else { return }
        for (row, line) in lines.enumerated() where row >= shown.count || shown[row] != line {
            draw(line, Int32(row))
        }
        shown = lines
        cncurses_refresh()
    }

    private func draw(_ line: StyledLine, _ row: Int32) {
        cncurses_clear_line(row)
        let width = size.width
        if line.isChosen {
            write(String(repeating: " ", count: width), row, 0, width, CNCURSES_REVERSE.rawValue, 0)
        }
        var column = 0
        for span in line.spans {
            let (look, pair) = ink(span.ink)
            let chosen = line.isChosen ? CNCURSES_REVERSE.rawValue : 0
            write(span.text, row, column, width - column, look | chosen, line.isChosen ? 0 : pair)
            column += TextWidth.of(span.text)
        }
    }

    /// Writes as much of a text as the terminal has room for, by how wide the terminal's library takes it for.
    private func write(
        _ text: String, _ row: Int32, _ column: Int, _ room: Int, _ look: UInt32, _ pair: Int16
    ) {
        var characters: [wchar_t] = []
        var taken = 0
        for scalar in text.unicodeScalars {
            let width = Int(cncurses_width(scalar.value))
            let isKnown = width >= 0
            taken += isKnown ? width : 1
            guard taken <= room else { break }
            characters.append(wchar_t(truncatingIfNeeded: isKnown ? scalar.value : 0x3F))
        }
        cncurses_write(row, Int32(column), characters, Int32(characters.count), look, pair)
    }

    private func ink(_ ink: StyledLine.Ink) -> (look: UInt32, pair: Int16) {
        let bold = CNCURSES_BOLD.rawValue
        switch ink {
        case .plain: return (0, 0)
        case .bold: return (bold, 0)
        case .faint: return (CNCURSES_DIM.rawValue, 0)
        case .warning: return isColoured ? (0, CursesScreen.yellow) : (bold, 0)
        case .alarm: return isColoured ? (bold, CursesScreen.red) : (bold, 0)
        case .good: return isColoured ? (0, CursesScreen.green) : (0, 0)
        }
    }

    // MARK: Keys

    /// The next key that was pressed; `nil` where none was.
    func nextKey() -> TopKey? {
        var code = wint_t()
        while true {
            switch cncurses_key(&code) {
            case OK:
                guard let key = Unicode.Scalar(UInt32(code)).map(CursesScreen.key) else { continue }
                return key
            case KEY_CODE_YES:
                guard let key = CursesScreen.key(Int32(bitPattern: UInt32(code))) else { continue }
                return key
            default: return nil
            }
        }
    }

    private static func key(_ scalar: Unicode.Scalar) -> TopKey {
        switch scalar.value {
        case 0x0A, 0x0D: .enter
        case 0x1B: .escape
        case 0x08, 0x7F: .backspace
        case 0x0C: .redraw
        case 0x02: .pageUp
        case 0x06: .pageDown
        default: .character(scalar)
        }
    }

    private static func key(_ code: Int32) -> TopKey? {
        switch code {
        case KEY_UP: .up
        case KEY_DOWN: .down
        case KEY_PPAGE: .pageUp
        case KEY_NPAGE: .pageDown
        case KEY_HOME: .home
        case KEY_END: .end
        case KEY_ENTER: .enter
        case KEY_BACKSPACE: .backspace
        default: nil
        }
    }
}
