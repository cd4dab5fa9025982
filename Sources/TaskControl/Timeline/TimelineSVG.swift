internal import TaskAPI

/// Draws a timeline as SVG that stands alone: no script, nothing from elsewhere, light and dark by what the reader
/// prefers, and with all that is to be told of a thing as its title.
///
/// All its classes and ids begin with `bgtl`, so that a page may have it beside other things.
package struct TimelineSVG {
    private let chart: TimelineChart
    private let layout: Layout
    private let isAlone: Bool
    private var out = ""

    /// The size that a chart for such a picture has.
    package static func scale(width: Int) -> TimelineScale {
        TimelineScale(
            width: Layout(width: width).axisWidth, mark: 13, column: 8, isWhole: false)
    }

    package static let widths = 400...20_000
    static let widthUsual = 1200

    /// The picture as text.
    ///
    /// - Parameters:
    ///   - width: in pixels, that of the scale that the chart was made with.
    ///   - isAlone: whether it has a heading, and explains its signs itself.
    package static func text(_ chart: TimelineChart, width: Int, isAlone: Bool = true) -> String {
        var picture = TimelineSVG(
            chart: chart, layout: Layout(width: width), isAlone: isAlone)
        picture.draw()
        return picture.out
    }

    /// A sign by itself, for a legend on a page that has the picture, whose style sheet it uses.
    static func sign(_ sign: TimelineKey.Sign) -> String {
        var picture = TimelineSVG(layout: Layout(width: widths.lowerBound))
        picture.draw(sign, x: 7, y: 10)
        return
            "<svg class=\"bgtl\" width=\"40\" height=\"20\" aria-hidden=\"true\">\(picture.out)</svg>"
    }

    private init(layout: Layout) {
        chart = TimelineChart(
            [], axis: TimeAxis(begin: 0, end: 0, clock: .here), by: .name,
            scale: Self.scale(width: Self.widths.lowerBound))
        self.layout = layout
        isAlone = false
    }

    private init(chart: TimelineChart, layout: Layout, isAlone: Bool) {
        self.chart = chart
        self.layout = layout
        self.isAlone = isAlone
    }

    /// Where things are, in pixels.
    private struct Layout {
        let width: Double
        /// Where the axis begins.
        let left: Double

        static let right = 20.0
        /// The room for the names along the axis.
        static let axis = 40.0
        static let lane = 19.0
        static let crowd = 44.0
        static let crowdColumns = 27.0
        static let gap = 5.0
        static let legendLine = 22.0
        static let legendColumn = 150.0
        /// What a character of a label takes, and of the small text.
        static let (character, smallCharacter) = (6.7, 6.0)

        init(width: Int) {
            self.width = Double(width)
            left = min(210, (Double(width) * 0.28).rounded())
        }

        var axisWidth: Double { width - left - Self.right }

        /// Whether what the heading says of the time has no room beside its first words.
        var isNarrow: Bool { left < 170 }

        /// The room for the heading above the names along the axis.
        var heading: Double { isNarrow ? 52 : 34 }

        func height(_ row: TimelineChart.Row) -> Double {
            switch row.content {
            case .lanes(let lanes): Double(lanes.count) * Self.lane + Self.gap
            case .crowd: Self.crowd + Self.gap
            }
        }
    }

    // MARK: The whole

    /// Where the rows begin.
    private var top: Double { Layout.axis + (isAlone ? layout.heading : 0) }

    private mutating func draw() {
        let rowsHeight = chart.rows.reduce(0) { $0 + layout.height($1) }
        let bottom = top + max(rowsHeight, Layout.lane)
        let isLong = rowsHeight > 700
        let legend =
            isAlone ? TimelineKey(TimelineSigns(chart, attemptsHaveOutcomes: true)).entries : []
        let perLine = max(1, Int((layout.width - 32) / Layout.legendColumn))
        let legendTop = bottom + (isLong ? 34 : 18)
        let legendHeight =
            Double((legend.count + perLine - 1) / perLine) * Layout.legendLine
        let notes = chart.notes.flatMap { wrapped($0) }
        let notesTop = legendTop + legendHeight + (legend.isEmpty ? 0 : 6)
        let height = notesTop + Double(notes.count) * 16 + 12
        open(height: height)
        grid(to: bottom)
        axis(labelsAt: top - 10, daysAt: top - 26)
        if isLong { axis(labelsAt: bottom + 16, daysAt: nil) }
        rows()
        for (place, entry) in legend.enumerated() {
            let x = 16 + Double(place % perLine) * Layout.legendColumn
            let y = legendTop + Double(place / perLine) * Layout.legendLine + 10
            draw(entry.sign, x: x, y: y)
            text(entry.word, "bgtl-small", x: x + 34, y: y + 4)
        }
        for (place, note) in notes.enumerated() {
            text(note, "bgtl-small", x: 16, y: notesTop + Double(place) * 16 + 10)
        }
        out += "</svg>\n"
    }

    private mutating func open(height: Double) {
        let (width, heightText) = (number(layout.width), number(height))
        let heading = XMLText.escaped(TimelineText.heading(chart))
        out += """
            <svg xmlns="http://www.w3.org/2000/svg" class="bgtl" role="img" width="\(width)" \
            height="\(heightText)" viewBox="0 0 \(width) \(heightText)">
            <title>Background tasks, \(heading)</title>
            <style>\(TimelineColours.sheet)</style>
            <defs>
            <pattern id="bgtl-hatch" width="5" height="5" patternUnits="userSpaceOnUse" \
            patternTransform="rotate(45)"><rect class="bgtl-hatch" width="5" height="5"/>\
            <rect class="bgtl-stripe" width="2.4" height="5"/></pattern>
            <pattern id="bgtl-dots" width="5" height="5" patternUnits="userSpaceOnUse">\
            <rect class="bgtl-paper" width="5" height="5"/>\
            <circle class="bgtl-dot" cx="2.5" cy="2.5" r="1.25"/></pattern>
            <clipPath id="bgtl-labels"><rect x="0" y="0" width="\(number(layout.left - 8))" \
            height="\(heightText)"/></clipPath>
            </defs>
            <rect class="bgtl-paper" width="\(width)" height="\(heightText)"/>

            """
        guard isAlone else { return }
        text("Background tasks", "bgtl-head", x: 16, y: 26)
        text(
            TimelineText.heading(chart), "bgtl-small", x: layout.isNarrow ? 16 : layout.left,
            y: layout.isNarrow ? 44 : 26)
    }

    private mutating func grid(to bottom: Double) {
        var y = top
        for (place, row) in chart.rows.enumerated() {
            let height = layout.height(row)
            if place % 2 == 1 {
                out +=
                    "<rect class=\"bgtl-band\" x=\"0\" y=\"\(number(y))\" "
                    + "width=\"\(number(layout.width))\" height=\"\(number(height))\"/>\n"
            }
            y += height
        }
        let lines = ticks.map { tick in
            let x = number(position(tick.moment))
            return "M\(x) \(number(top))V\(number(bottom))"
        }
        out += "<path class=\"bgtl-grid\" d=\"\(lines.joined())\"/>\n"
        let (left, right) = (number(layout.left), number(layout.left + layout.axisWidth))
        out +=
            "<path class=\"bgtl-frame\" d=\"M\(left) \(number(top))H\(right)"
            + "M\(left) \(number(bottom))H\(right)\"/>\n"
    }

    private var ticks: [TimeAxis.Tick] {
        chart.axis.ticks(
            chart.axis.step(characters: Int(layout.axisWidth / Layout.smallCharacter)))
    }

    private mutating func axis(labelsAt y: Double, daysAt daysY: Double?) {
        // A day's name is as wide as two ticks are apart at least.
        var free = 0.0
        for tick in ticks {
            let x = position(tick.moment)
            text(tick.label, "bgtl-tick", x: x, y: y)
            guard let daysY, let day = tick.day, x >= free else { continue }
            text(day, "bgtl-day", x: min(x, layout.width - 60), y: daysY)
            free = x + 80
        }
    }

    // MARK: Rows

    private mutating func rows() {
        var y = top
        for row in chart.rows {
            out += "<g>\n"
            label(row, y)
            switch row.content {
            case .lanes(let lanes):
                for (place, lane) in lanes.enumerated() {
                    let middle = y + Layout.gap / 2 + (Double(place) + 0.5) * Layout.lane
                    for entry in lane { draw(entry, middle) }
                }
            case .crowd(let crowd): draw(crowd, y + Layout.gap / 2)
            }
            out += "</g>\n"
            y += layout.height(row)
        }
        if chart.rows.isEmpty {
            text(TimelineText.nothing, "bgtl-small", x: layout.left + 8, y: top + 15)
        }
    }

    private mutating func label(_ row: TimelineChart.Row, _ y: Double) {
        let x = row.isBeneath ? 30.0 : 16
        let room = Int((layout.left - 10 - x) / Layout.character)
        let full = VisibleText.oneLine(row.label)
        let cut = XMLText.label(full, columns: room)
        let style =
            switch row.kind {
            case .application: "bgtl-app"
            case .tasks: "bgtl-name"
            case .others: "bgtl-other"
            }
        out += "<g clip-path=\"url(#bgtl-labels)\">"
        if cut != full { out += "<title>\(XMLText.escaped(full))</title>" }
        text(cut, style, x: x, y: y + 16)
        if let count = TimelineText.count(row) {
            let isCrowd = if case .crowd = row.content { true } else { false }
            text(count, "bgtl-small", x: x, y: y + (isCrowd ? 32 : 31))
        }
        out += "</g>\n"
    }

    private mutating func draw(_ entry: TimelineEntry, _ y: Double) {
        let title = TimelineText.lines(entry, chart.axis.clock).joined(separator: "\n")
        out += "<g><title>\(XMLText.escaped(title))</title>"
        for span in entry.spans where span.end >= chart.axis.begin && span.begin <= chart.axis.end {
            let x = position(span.begin)
            draw(span.kind, x: x, y: y, width: position(span.end) - x)
        }
        for mark in entry.marks where chart.axis.begin...chart.axis.end ~= mark.moment {
            draw(mark.kind, x: position(mark.moment), y: y)
        }
        out += "</g>\n"
    }

    private mutating func draw(_ crowd: TimelineCrowd, _ top: Double) {
        let width = layout.axisWidth / Double(crowd.columns.count)
        let foot = top + Layout.crowdColumns + 3
        for (place, column) in crowd.columns.enumerated() {
            guard column.active + column.waiting + column.outcomes.total > 0 else { continue }
            let x = layout.left + Double(place) * width
            let title = TimelineText.line(column, chart.axis.clock)
            out += "<g><title>\(XMLText.escaped(title))</title>"
            if column.active > 0 {
                let share = Double(column.active) / Double(max(crowd.peak, 1))
                let height = max(2, share * Layout.crowdColumns)
                rectangle(
                    "bgtl-run", x: x + 0.5, y: foot - height, width: max(width - 1, 1),
                    height: height)
                // The part of them that did not complete.
                let bad = column.outcomes.total - column.outcomes.count(.completed)
                let part = height * Double(bad) / Double(column.active)
                if part >= 0.5 {
                    rectangle(
                        "bgtl-bad", x: x + 0.5, y: foot - min(part, height),
                        width: max(width - 1, 1), height: min(part, height))
                }
            } else if column.waiting > 0 {
                rectangle(
                    "bgtl-wait", x: x + 0.5, y: foot - 3, width: max(width - 1, 1), height: 3)
            }
            if let worst = column.outcomes.worst, worst != .completed {
                glyph(worst, x: x + width / 2, y: foot + 7, size: min(0.7, width / 11))
            }
            out += "</g>\n"
        }
    }

    // MARK: Signs

    private mutating func draw(_ kind: TimelineSpan.Kind, x: Double, y: Double, width: Double) {
        let width = max(width, 0.8)
        switch kind {
        case .waiting: rectangle("bgtl-wait", x: x, y: y - 2, width: width, height: 4)
        case .unknown:
            out +=
                "<path class=\"bgtl-unknown\" d=\"M\(number(x)) \(number(y))h\(number(width))\"/>"
        case .running: rectangle("bgtl-run", x: x, y: y - 5, width: width, height: 10, rounded: 2)
        case .grace: rectangle("bgtl-grace", x: x, y: y - 5, width: width, height: 10)
        case .frozen: rectangle("bgtl-frozen", x: x, y: y - 5, width: width, height: 10)
        case .dormant:
            rectangle("bgtl-dormant", x: x, y: y - 3, width: width, height: 6, rounded: 2)
        case .foreground:
            rectangle("bgtl-front", x: x, y: y - 6, width: width, height: 12, rounded: 2)
        case .background:
            rectangle("bgtl-back", x: x, y: y - 3, width: width, height: 6, rounded: 2)
        }
    }

    private mutating func draw(_ kind: TimelineMark.Kind, x: Double, y: Double) {
        switch kind {
        case .ended(let outcome): glyph(outcome, x: x, y: y, size: 1)
        case .attempt(let outcome):
            out += "<path class=\"bgtl-notch\" d=\"M\(number(x)) \(number(y - 8))v16\"/>"
            glyph(outcome, x: x, y: y, size: 0.66)
        case .live:
            out +=
                "<path class=\"bgtl-live\" d=\"M\(number(x - 2)) \(number(y - 6))"
                + "l7 6l-7 6z\"/>"
        }
    }

    /// The sign of an outcome: each has a shape and a colour of its own.
    private mutating func glyph(_ outcome: Tasks.Outcome, x: Double, y: Double, size: Double) {
        let (centre, radius) = ("cx=\"\(number(x))\" cy=\"\(number(y))\"", number(6 * size))
        func path(_ style: String, _ start: (Double, Double), _ rest: [String]) -> String {
            "<path class=\"bgtl-\(style)\" d=\"M\(number(x + start.0 * size)) "
                + "\(number(y + start.1 * size))\(rest.joined())\"/>"
        }
        func step(_ letter: String, _ values: Double...) -> String {
            letter + values.map { number($0 * size) }.joined(separator: " ")
        }
        if outcome != .completed {
            out += "<circle class=\"bgtl-paper\" \(centre) r=\"\(number(6.4 * size))\"/>"
        }
        switch outcome {
        case .completed:
            out +=
                "<circle class=\"bgtl-completed\" \(centre) r=\"\(radius)\"/>"
                + path("check", (-2.6, 0.3), [step("l", 1.9, 2.1), step("l", 3.4, -4.4)])
        case .failed:
            out += path(
                "failed", (-4, -4), [step("l", 8, 8), step("m", 0, -8), step("l", -8, 8)])
        case .expired:
            out += path("expired", (0, -5.5), [step("l", 5.6, 9.8), step("h", -11.2), "z"])
        case .overrun:
            out += path(
                "overrun", (-4.6, -4.6), [step("h", 9.2), step("v", 9.2), step("h", -9.2), "z"])
        case .cancelled: out += path("cancelled", (-5.2, 0), [step("h", 10.4)])
        case .abandoned:
            out += path(
                "abandoned", (0, -5.2),
                [step("l", 5.2, 5.2), step("l", -5.2, 5.2), step("l", -5.2, -5.2), "z"])
        case .interrupted:
            out += path(
                "interrupted", (1.2, -6.4),
                [
                    step("l", -5.4, 7.4), step("h", 3.4), step("l", -1, 5.4),
                    step("l", 5.6, -7.6), step("h", -3.6), "z",
                ])
        }
    }

    private mutating func draw(_ sign: TimelineKey.Sign, x: Double, y: Double) {
        switch sign {
        case .span(let kind): draw(kind, x: x, y: y, width: 26)
        case .outcome(let outcome): glyph(outcome, x: x + 13, y: y, size: 1)
        case .attempt:
            draw(.running, x: x, y: y, width: 13)
            draw(TimelineMark.Kind.attempt(.failed), x: x + 13, y: y)
        case .live:
            draw(.running, x: x, y: y, width: 18)
            draw(TimelineMark.Kind.live, x: x + 18, y: y)
        case .crowd:
            for (place, height) in [4.0, 10, 14, 7].enumerated() {
                rectangle(
                    "bgtl-run", x: x + Double(place) * 6.5, y: y + 6 - height, width: 5.5,
                    height: height)
                rectangle(
                    "bgtl-bad", x: x + Double(place) * 6.5, y: y + 6 - height / 4, width: 5.5,
                    height: height / 4)
            }
        }
    }

    // MARK: Pieces

    private mutating func rectangle(
        _ style: String, x: Double, y: Double, width: Double, height: Double, rounded: Int = 0
    ) {
        out +=
            "<rect class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" "
            + "width=\"\(number(width))\" height=\"\(number(height))\""
            + (rounded > 0 && width > 4 ? " rx=\"\(rounded)\"/>" : "/>")
    }

    private mutating func text(_ text: String, _ style: String, x: Double, y: Double) {
        out +=
            "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\">"
            + "\(XMLText.escaped(text))</text>\n"
    }

    /// A sentence in lines that are as wide as the picture.
    private func wrapped(_ sentence: String) -> [String] {
        let room = Int((layout.width - 32) / Layout.smallCharacter)
        var lines: [String] = []
        for word in sentence.split(separator: " ") {
            if let last = lines.last, last.count + word.count < room {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private func position(_ moment: Int) -> Double {
        layout.left + chart.axis.fraction(moment) * layout.axisWidth
    }

    private func number(_ value: Double) -> String { XMLText.number(value) }
}

/// The colours of a picture, on light and on dark paper.
package enum TimelineColours {
    /// A style sheet whose rules reach what begins with `bgtl`.
    package static let sheet: String = {
        let light = rules(
            paper: "#ffffff", ink: "#1c2128", soft: "#5c6672", line: "#d9dee4", band: "#f5f7f9",
            run: "#3a7bd5", front: "#7a8fa8", back: "#b3c0cf", wait: "#8b96a3", warn: "#e08e00",
            good: "#1f8f55", bad: "#c9252d", dark: "#8f2bb0", plain: "#5c6672")
        let dark = rules(
            paper: "#15191e", ink: "#e6e9ed", soft: "#9aa5b1", line: "#323a44", band: "#1b2026",
            run: "#5b9bf0", front: "#8ea3bc", back: "#4d5b6b", wait: "#7d8894", warn: "#f0aa2e",
            good: "#3fb97a", bad: "#ff6b6b", dark: "#d07bf0", plain: "#9aa5b1")
        return fixed + light + "@media (prefers-color-scheme:dark){" + dark + "}"
    }()

    private static let fixed = """
        .bgtl text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}\
        .bgtl .bgtl-head{font-size:16px;font-weight:600}\
        .bgtl .bgtl-small,.bgtl .bgtl-tick,.bgtl .bgtl-day{font-size:11px}\
        .bgtl .bgtl-tick{text-anchor:middle}.bgtl .bgtl-day,.bgtl .bgtl-app{font-weight:600}\
        .bgtl .bgtl-other{font-style:italic}\
        .bgtl-grid,.bgtl-frame{fill:none;stroke-width:1}\
        .bgtl-grace{fill:url(#bgtl-hatch)}.bgtl-frozen{fill:url(#bgtl-dots);stroke-width:1}\
        .bgtl-wait,.bgtl-dormant{stroke-width:1}\
        .bgtl-unknown{fill:none;stroke-width:1.5;stroke-dasharray:2 4}\
        .bgtl-notch{fill:none;stroke-width:1.6}\
        .bgtl-check,.bgtl-failed{fill:none;stroke-linecap:round;stroke-linejoin:round}\
        .bgtl-failed{stroke-width:2.6}.bgtl-check{stroke-width:1.6}.bgtl-cancelled{fill:none;stroke-width:3}\
        .bgtl-abandoned{stroke-width:1.8}

        """

    private static func rules(
        paper: String, ink: String, soft: String, line: String, band: String, run: String,
        front: String, back: String, wait: String, warn: String, good: String, bad: String,
        dark: String, plain: String
    ) -> String {
        """
        .bgtl-paper,.bgtl-wait,.bgtl-dormant{fill:\(paper)}.bgtl-band{fill:\(band)}\
        .bgtl-head,.bgtl-name,.bgtl-app{fill:\(ink)}\
        .bgtl-small,.bgtl-other,.bgtl-tick,.bgtl-day{fill:\(soft)}\
        .bgtl-grid{stroke:\(line)}.bgtl-frame{stroke:\(wait)}\
        .bgtl-wait,.bgtl-unknown{stroke:\(wait)}\
        .bgtl-run,.bgtl-live,.bgtl-dot{fill:\(run)}.bgtl-frozen,.bgtl-dormant{stroke:\(run)}\
        .bgtl-front{fill:\(front)}.bgtl-back{fill:\(back)}\
        .bgtl-hatch{fill:\(paper)}.bgtl-stripe{fill:\(warn)}\
        .bgtl-completed{fill:\(good)}.bgtl-check{stroke:\(paper)}\
        .bgtl-failed{stroke:\(bad)}.bgtl-expired{fill:\(warn)}.bgtl-overrun{fill:\(dark)}\
        .bgtl-cancelled{stroke:\(plain)}.bgtl-abandoned{fill:\(paper);stroke:\(warn)}\
        .bgtl-interrupted,.bgtl-bad{fill:\(bad)}.bgtl-notch{stroke:\(ink)}

        """
    }
}
