/// What a terminal shows: reads the few sequences that a terminal of type vt100 is sent.
struct TerminalScreen {
    private var cells: [[Unicode.Scalar]]
    private var row = 0
    private var column = 0
    private var saved = (row: 0, column: 0)
    /// The lines that scroll.
    private var region: ClosedRange<Int>
    private var unread: [Unicode.Scalar] = []

    init(rows: Int, columns: Int) {
        cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
        region = 0...rows - 1
    }

    /// Its lines, without blanks at their ends.
    var lines: [String] {
        cells.map { cells in
            var line = String(String.UnicodeScalarView(cells))
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Takes another size, as a terminal does whose program draws everything anew then.
    mutating func resize(rows: Int, columns: Int) {
        self = TerminalScreen(rows: rows, columns: columns)
    }

    /// Takes what a program writes.
    mutating func take(_ text: String) {
        unread += text.unicodeScalars
        while let first = unread.first {
            guard first != "\u{1B}" else {
                guard let count = takeSequence() else { return }
                unread.removeFirst(count)
                continue
            }
            unread.removeFirst()
            put(first)
        }
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\r": column = 0
        case "\n": feedLine()
        case "\u{8}": column = max(0, shownColumn - 1)
        case "\t": column = min(column / 8 * 8 + 8, cells[0].count - 1)
        case _ where scalar.value < 0x20: break
        default:
            if column == cells[0].count {
                column = 0
                feedLine()
            }
            cells[row][column] = scalar
            column += 1
        }
    }

    /// Where the cursor is: behind the last column it stays in that, until something else is written.
    private var shownColumn: Int { min(column, cells[0].count - 1) }

    private mutating func feedLine() {
        guard row == region.upperBound else {
            row = min(row + 1, cells.count - 1)
            return
        }
        cells.remove(at: region.lowerBound)
        cells.insert(blankLine, at: region.upperBound)
    }

    private mutating func feedLineBackwards() {
        guard row == region.lowerBound else {
            row = max(0, row - 1)
            return
        }
        cells.remove(at: region.upperBound)
        cells.insert(blankLine, at: region.lowerBound)
    }

    private var blankLine: [Unicode.Scalar] { Array(repeating: " ", count: cells[0].count) }

    /// Acts on the sequence that comes next.
    ///
    /// - Returns: how long it is; `nil` where it is not all there.
    private mutating func takeSequence() -> Int? {
        guard unread.count > 1 else { return nil }
        switch unread[1] {
        case "[":
            guard let end = unread.dropFirst(2).firstIndex(where: { $0.value >= 0x40 }) else {
                return nil
            }
            let text = String(String.UnicodeScalarView(unread[2..<end]))
            control(unread[end], text.split(separator: ";").compactMap { Int($0) })
            return end + 1
        case "(", ")", "#": return unread.count > 2 ? 3 : nil
        case "7":
            saved = (row, column)
            return 2
        case "8":
            (row, column) = saved
            return 2
        case "D":
            feedLine()
            return 2
        case "M":
            feedLineBackwards()
            return 2
        default: return 2
        }
    }

    private mutating func control(_ letter: Unicode.Scalar, _ numbers: [Int]) {
        let count = max(numbers.first ?? 1, 1)
        if "ABCD".unicodeScalars.contains(letter) { column = shownColumn }
        switch letter {
        case "H":
            row = min(count, cells.count) - 1
            column = min(max(numbers.dropFirst().first ?? 1, 1), cells[0].count) - 1
        case "r":
            let last = min(numbers.dropFirst().first ?? cells.count, cells.count)
            region = min(count, last) - 1...last - 1
            (row, column) = (0, 0)
        case "A": row = max(0, row - count)
        case "B": row = min(cells.count - 1, row + count)
        case "C": column = min(cells[0].count - 1, column + count)
        case "D": column = max(0, column - count)
        case "K": erase(numbers.first ?? 0, row, shownColumn)
        case "J":
            erase(numbers.first ?? 0, row, shownColumn)
            let others =
                numbers.first == 1
                ? 0..<row : numbers.first == 2 ? 0..<cells.count : row + 1..<cells.count
            for other in others { erase(2, other, 0) }
        default: break
        }
    }

    private mutating func erase(_ part: Int, _ row: Int, _ column: Int) {
        let columns =
            part == 0
            ? column..<cells[row].count : part == 1 ? 0..<column + 1 : 0..<cells[row].count
        for column in columns { cells[row][column] = " " }
    }
}
