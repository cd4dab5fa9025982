/// Lines of cells under a header.
package struct Table {
    var columns: [Column]
    package var rows: [[Cell]] = []

    private static let gap = 2
    /// What a cell says that has nothing to say.
    package static let nothing = "-"

    /// One column.
    struct Column {
        let title: String
        var isRight = false
        /// The width down to which it may be cut where the line is too long; `nil`: never cut.
        var widthMin: Int?
        /// Whether a terminal is spared it where no cell has something.
        var isOptional = false

        init(
            _ title: String, isRight: Bool = false, widthMin: Int? = nil, isOptional: Bool = false
        ) {
            self.isOptional = isOptional
            self.title = title
            self.isRight = isRight
            self.widthMin = widthMin
        }
    }

    /// One cell; its text can do a terminal no harm.
    package struct Cell: Equatable {
        let text: String
        let colour: Style.Colour?

        package init(_ text: String, _ colour: Style.Colour? = nil) {
            self.text = VisibleText.oneLine(text)
            self.colour = colour
        }
    }

    /// The lines, each with its newline.
    package func text(_ style: Style) -> String {
        guard case .terminal(let width, _) = style else {
            return rows.map { $0.map(\.text).joined(separator: "\t") + "\n" }.joined()
        }
        let table = withoutEmpty
        let widths = table.fitted(to: width)
        let header = table.columns.map { Cell($0.title, .bold) }
        return ([header] + table.rows).map { table.line($0, widths, style) }.joined()
    }

    /// The table without the optional columns in which no cell has something.
    private var withoutEmpty: Table {
        let shown = columns.indices.filter { index in
            !columns[index].isOptional || rows.contains { $0[index].text != Table.nothing }
        }
        return Table(
            columns: shown.map { columns[$0] }, rows: rows.map { row in shown.map { row[$0] } })
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ style: Style) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let text = TextWidth.cut(cell.text, to: widths[index])
            let padding = String(
                repeating: " ", count: max(0, widths[index] - TextWidth.of(text)))
            let painted = style.paint(text, cell.colour)
            if index > 0 { line += String(repeating: " ", count: Table.gap) }
            if columns[index].isRight {
                line += padding + painted
            } else {
                line += index == cells.count - 1 ? painted : painted + padding
            }
        }
        return line + "\n"
    }

    /// The widths of the columns: what their cells want; where that is too much, the widest of those that can be
    /// cut is cut first.
    private func fitted(to width: Int) -> [Int] {
        var widths = columns.indices.map { index in
            rows.reduce(TextWidth.of(columns[index].title)) { widest, row in
                max(widest, TextWidth.of(row[index].text))
            }
        }
        var excess = widths.reduce(0, +) + Table.gap * (columns.count - 1) - width
        while excess > 0 {
            let candidates = columns.indices.filter { index in
                columns[index].widthMin.map { widths[index] > $0 } ?? false
            }
            guard let widest = candidates.max(by: { widths[$0] <= widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }
}

/// Names and values, one a line. What has no value is left out on a terminal; a script has a line for it too.
package struct Fields {
    private var entries: [(name: String, value: Table.Cell?)] = []

    mutating func add(_ name: String, _ value: String?, _ colour: Style.Colour? = nil) {
        entries.append((name, value.map { Table.Cell($0, colour) }))
    }

    /// The lines, each with its newline. Values are never cut.
    package func text(_ style: Style) -> String {
        guard style.isTerminal else {
            return entries.map { "\($0.name)\t\($0.value?.text ?? Table.nothing)\n" }.joined()
        }
        let shown = entries.compactMap { name, value in value.map { (name: name, value: $0) } }
        let width = shown.map { TextWidth.of($0.name) }.max() ?? 0
        return shown.map { entry in
            let padding = String(repeating: " ", count: width - TextWidth.of(entry.name))
            let name = style.paint(entry.name, .bold)
            return "\(padding)\(name)  \(style.paint(entry.value.text, entry.value.colour))\n"
        }.joined()
    }
}
