internal import TaskAPI

/// Draws a timeline for a terminal: a character for each stretch of time, so that it can be read without colours.
package struct TimelineBlocks {
    private let chart: TimelineChart
    private let columns: Int
    private let gutter: Int
    private let style: Style
    private let set: CharacterSet

    package static let widths = 40...1000
    /// That of what is no terminal.
    static let widthUsual = 100

    /// What is drawn with.
    package enum CharacterSet: Sendable {
        /// Blocks and geometric shapes of Unicode.
        case blocks
        case ascii

        /// The one that a locale has, as its variables say (locale(7)).
        package static func of(_ variable: (String) -> String?) -> CharacterSet {
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first ?? ""
            let charset = locale.split(separator: "@").first?.split(separator: ".").last ?? ""
            let isUnicode = ["utf-8", "utf8"].contains(charset.lowercased())
            return isUnicode ? .blocks : .ascii
        }

        package func character(_ sign: TimelineKey.Sign) -> Character {
            switch (sign, self) {
            case (.span(let kind), _): character(kind)
            case (.outcome(let outcome), _): character(outcome)
            case (.attempt, .blocks): "┃"
            case (.attempt, .ascii): "|"
            case (.live, .blocks): "▸"
            case (.live, .ascii): ">"
            case (.crowd, .blocks): "▅"
            case (.crowd, .ascii): "5"
            }
        }

        private func character(_ kind: TimelineSpan.Kind) -> Character {
            switch (kind, self) {
            case (.waiting, .blocks): "·"
            case (.waiting, .ascii): "."
            case (.unknown, _): "?"
            case (.running, .blocks): "█"
            case (.running, .ascii): "="
            case (.grace, .blocks): "▒"
            case (.grace, .ascii): "%"
            case (.frozen, .blocks): "┊"
            case (.frozen, .ascii): ":"
            case (.dormant, .blocks): "╌"
            case (.dormant, .ascii): ","
            case (.foreground, .blocks): "═"
            case (.foreground, .ascii): "+"
            case (.background, .blocks): "─"
            case (.background, .ascii): "-"
            }
        }

        private func character(_ outcome: Tasks.Outcome) -> Character {
            switch (outcome, self) {
            case (.completed, .blocks): "✓"
            case (.completed, .ascii): "o"
            case (.failed, .blocks): "✗"
            case (.failed, .ascii): "X"
            case (.expired, .blocks): "▲"
            case (.expired, .ascii): "^"
            case (.overrun, .blocks): "■"
            case (.overrun, .ascii): "#"
            case (.cancelled, .blocks): "━"
            case (.cancelled, .ascii): "_"
            case (.abandoned, .blocks): "◇"
            case (.abandoned, .ascii): "@"
            case (.interrupted, .blocks): "↯"
            case (.interrupted, .ascii): "~"
            }
        }

        /// A share of the greatest number, in eighths from 1.
        fileprivate func height(_ eighths: Int) -> Character {
            let characters: [Character] = Array(self == .blocks ? "▁▂▃▄▅▆▇█" : "12345678")
            return characters[min(max(eighths, 1), characters.count) - 1]
        }

        fileprivate var tick: Character { self == .blocks ? "╷" : "|" }

        /// A label that takes no more than so many columns.
        fileprivate func label(_ text: String, columns: Int) -> String {
            let cut = XMLText.label(VisibleText.oneLine(text), columns: columns)
            return self == .blocks ? cut : cut.replacing("…", with: ".")
        }
    }

    /// The size that a chart has that is drawn in so many columns.
    package static func scale(width: Int) -> TimelineScale {
        TimelineScale(
            width: Double(width - gutter(width) - 1), mark: 1, column: 1, isWhole: true)
    }

    private static func gutter(_ width: Int) -> Int { min(24, width / 4) }

    /// The lines, each with its newline.
    ///
    /// - Parameter width: in columns, that of the scale that the chart was made with.
    package static func text(
        _ chart: TimelineChart, width: Int, _ style: Style, _ set: CharacterSet
    ) -> String {
        let blocks = TimelineBlocks(
            chart: chart, columns: width - gutter(width) - 1, gutter: gutter(width), style: style,
            set: set)
        return blocks.lines.map { $0 + "\n" }.joined()
    }

    private var lines: [String] {
        let heading =
            set == .blocks
            ? TimelineText.heading(chart)
            : TimelineText.heading(chart).replacing("–", with: "-")
        var lines = [style.paint(heading, .bold)]
        lines += axis
        let rows = chart.rows.flatMap(drawn)
        lines += rows
        if chart.rows.isEmpty { lines.append(TimelineText.nothing) }
        // Of two things in one place one alone is to be seen.
        let seen = Set(rows.joined())
        let key = TimelineKey(
            TimelineSigns(chart, attemptsHaveOutcomes: false)
        ).entries.filter { $0.sign == .crowd || seen.contains(set.character($0.sign)) }.map {
            entry in
            (text: "\(set.character(entry.sign)) \(entry.word)", colour: Self.colour(entry.sign))
        }
        if !key.isEmpty { lines += [""] + wrapped(key) }
        for note in chart.notes {
            lines += TextWidth.wrapped(note, to: gutter + 1 + columns).map {
                style.paint($0, .grey)
            }
        }
        return lines
    }

    // MARK: The axis

    private var axis: [String] {
        let ticks = chart.axis.ticks(chart.axis.step(characters: columns))
        var days = Line(columns, set)
        var labels = Line(columns, set)
        for tick in ticks {
            let place = column(tick.moment)
            labels.write("\(set.tick)\(tick.label)", at: place)
            if let day = tick.day { days.write(day, at: place) }
        }
        let indent = String(repeating: " ", count: gutter + 1)
        return [days, labels].filter { !$0.isEmpty }.map { line in
            indent + style.paint(line.text, .grey)
        }
    }

    /// A line of text in which things have their columns.
    private struct Line {
        private var cells: [Character]
        private var free = 0

        init(_ count: Int, _ set: CharacterSet) {
            cells = Array(repeating: " ", count: count)
        }

        /// Writes where there is room, and nothing otherwise.
        mutating func write(_ text: String, at place: Int) {
            guard place >= free, place + text.count <= cells.count else { return }
            cells.replaceSubrange(place..<place + text.count, with: text)
            free = place + text.count + 1
        }

        var isEmpty: Bool { cells.allSatisfy { $0 == " " } }
        var text: String { TimelineBlocks.trimmed(String(cells)) }
    }

    // MARK: Rows

    private func drawn(_ row: TimelineChart.Row) -> [String] {
        let indent = row.isBeneath ? "  " : ""
        let label = set.label(indent + row.label, columns: gutter)
        let count = TimelineText.count(row).map { set.label("\(indent)  \($0)", columns: gutter) }
        let lines: [String]
        switch row.content {
        case .lanes(let lanes): lines = lanes.map(drawn)
        case .crowd(let crowd): lines = drawn(crowd)
        }
        let labels = [label, lines.count > 1 || !row.isLanes ? count ?? "" : ""]
        let height = max(lines.count, labels[1].isEmpty ? 1 : 2)
        return (0..<height).map { place in
            let text = place < labels.count ? labels[place] : ""
            let padding = String(repeating: " ", count: max(0, gutter - TextWidth.of(text)))
            let colour: Style.Colour? = place > 0 ? .grey : row.kind == .application ? .bold : nil
            let cells = place < lines.count ? lines[place] : ""
            return Self.trimmed(style.paint(text, colour) + padding + " " + cells)
        }
    }

    /// One character of a line.
    private struct Cell {
        var character: Character = " "
        var colour: Style.Colour?
        /// What is of more weight is seen where two things have one place.
        var weight = -1
    }

    private func drawn(_ lane: [TimelineEntry]) -> String {
        var cells = [Cell](repeating: Cell(), count: columns)
        func put(_ sign: TimelineKey.Sign, _ places: ClosedRange<Int>, _ weight: Int) {
            let cell = Cell(
                character: set.character(sign), colour: Self.colour(sign), weight: weight)
            for place in places where cells[place].weight < weight { cells[place] = cell }
        }
        for entry in lane {
            for span in entry.spans
            where span.end >= chart.axis.begin && span.begin <= chart.axis.end {
                let first = column(span.begin)
                // What ends at the begin of a column is not in it.
                let last = max(first, column(max(span.begin, span.end - 1)))
                put(.span(span.kind), first...last, Self.weight(span.kind))
            }
            for mark in entry.marks where chart.axis.begin...chart.axis.end ~= mark.moment {
                let place = column(mark.moment)
                switch mark.kind {
                case .attempt: put(.attempt, place...place, 10)
                case .ended(let outcome): put(.outcome(outcome), place...place, 20)
                case .live: put(.live, place...place, 20)
                }
            }
        }
        return painted(cells)
    }

    private static func weight(_ kind: TimelineSpan.Kind) -> Int {
        switch kind {
        case .waiting, .unknown: 0
        case .running, .background: 1
        case .foreground: 2
        case .dormant: 2
        case .frozen: 3
        case .grace: 4
        }
    }

    private func drawn(_ crowd: TimelineCrowd) -> [String] {
        var cells = [Cell](repeating: Cell(), count: columns)
        var marks = cells
        for place in cells.indices {
            let column = crowd.columns[place * crowd.columns.count / columns]
            if column.active > 0 {
                cells[place].character = set.height(
                    (column.active * 8 + crowd.peak - 1) / max(crowd.peak, 1))
            } else if column.waiting > 0 {
                cells[place].character = set.character(.span(.waiting))
            }
            guard let worst = column.outcomes.worst, worst != .completed else { continue }
            marks[place].character = set.character(.outcome(worst))
            marks[place].colour = TaskText.colour(worst)
        }
        let hasMarks = marks.contains { $0.character != " " }
        return [painted(cells)] + (hasMarks ? [painted(marks)] : [])
    }

    // MARK: Pieces

    private func column(_ moment: Int) -> Int {
        min(Int(chart.axis.fraction(moment) * Double(columns)), columns - 1)
    }

    private func painted(_ cells: [Cell]) -> String {
        let end = (cells.lastIndex { $0.character != " " } ?? -1) + 1
        var (text, piece): (String, String) = ("", "")
        var colour: Style.Colour?
        for cell in cells.prefix(end) {
            if cell.colour != colour, !piece.isEmpty {
                text += style.paint(piece, colour)
                piece = ""
            }
            colour = cell.colour
            piece.append(cell.character)
        }
        return piece.isEmpty ? text : text + style.paint(piece, colour)
    }

    private static func colour(_ sign: TimelineKey.Sign) -> Style.Colour? {
        switch sign {
        case .span(.waiting), .span(.unknown), .span(.frozen), .span(.background): .grey
        case .span(.grace): .yellow
        case .span(.running), .span(.dormant), .span(.foreground), .attempt, .live, .crowd: nil
        case .outcome(let outcome): TaskText.colour(outcome)
        }
    }

    private func wrapped(_ key: [(text: String, colour: Style.Colour?)]) -> [String] {
        var lines: [(text: String, width: Int)] = []
        for entry in key {
            let (width, text) = (TextWidth.of(entry.text), style.paint(entry.text, entry.colour))
            if let last = lines.last, last.width + width + 3 <= gutter + 1 + columns {
                lines[lines.count - 1] = ("\(last.text)   \(text)", last.width + width + 3)
            } else {
                lines.append((text, width))
            }
        }
        return lines.map(\.text)
    }

    private static func trimmed(_ text: String) -> String {
        String(
            text.prefix(
                (text.lastIndex { $0 != " " }.map { text.distance(from: text.startIndex, to: $0) }
                    ?? -1) + 1))
    }
}
