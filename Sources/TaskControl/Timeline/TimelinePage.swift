internal import TaskAPI

/// A whole HTML page around a picture: what its signs mean, and a table of what is in it. It has no script and asks for
/// nothing from elsewhere.
package struct TimelinePage {
    private let chart: TimelineChart
    private let summary: TimelineSummary
    private let width: Int
    private var out = ""

    /// The page as text.
    package static func text(_ chart: TimelineChart, _ summary: TimelineSummary, width: Int)
        -> String
    {
        var page = TimelinePage(chart: chart, summary: summary, width: width)
        page.write()
        return page.out
    }

    private init(chart: TimelineChart, summary: TimelineSummary, width: Int) {
        self.chart = chart
        self.summary = summary
        self.width = width
    }

    private mutating func write() {
        let heading = XMLText.escaped(TimelineText.heading(chart))
        out += """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <meta name="color-scheme" content="light dark"/>
            <title>Background tasks, \(heading)</title>
            <style>
            body{margin:2em auto;max-width:\(width + 40)px;padding:0 1em;font:14px/1.45 system-ui,sans-serif;\
            background:#fff;color:#1c2128}
            .bgtl-scroll{overflow-x:auto}
            table{border-collapse:collapse;margin:.5em 0 2em}
            th,td{padding:.25em .8em .25em 0;text-align:left;border-bottom:1px solid #d9dee4;vertical-align:top}
            th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}
            td.bgtl-cell{width:60px}
            @media (prefers-color-scheme:dark){body{background:#15191e;color:#e6e9ed}th,td{border-color:#323a44}}
            </style>
            </head>
            <body>
            <h1>Background tasks</h1>
            <p>\(heading)</p>
            <div class="bgtl-scroll">

            """
        out += TimelineSVG.text(chart, width: width, isAlone: false)
        out += "</div>\n"
        legend()
        table()
        out += "</body>\n</html>\n"
    }

    private mutating func legend() {
        let entries = TimelineKey(TimelineSigns(chart, attemptsHaveOutcomes: true)).entries
        guard !entries.isEmpty else { return }
        out += "<h2>Signs</h2>\n<table>\n"
        for entry in entries {
            out +=
                "<tr><td class=\"bgtl-cell\">\(TimelineSVG.sign(entry.sign))</td>"
                + "<td>\(XMLText.escaped(entry.word))</td>"
                + "<td>\(XMLText.escaped(entry.sentence))</td></tr>\n"
        }
        out += "</table>\n"
    }

    private mutating func table() {
        guard !summary.lines.isEmpty else { return }
        let outcomes = TimelineOutcomes.order.reversed().filter { outcome in
            summary.lines.contains { $0.outcomes.count(outcome) > 0 }
        }
        out += "<h2>Summary</h2>\n<table>\n<tr><th>name</th><th class=\"n\">tasks</th>"
        for outcome in outcomes { out += "<th class=\"n\">\(outcome.rawValue)</th>" }
        out +=
            "<th class=\"n\">not ended</th><th class=\"n\">waited</th><th class=\"n\">ran</th>"
            + "<th class=\"n\">longest</th></tr>\n"
        for line in summary.lines {
            out += "<tr><td>\(XMLText.escaped(VisibleText.oneLine(line.label)))</td>"
            let counts =
                [line.count] + outcomes.map(line.outcomes.count) + [
                    line.count - line.outcomes.total
                ]
            for count in counts {
                out += "<td class=\"n\">\(count == 0 ? "" : String(count))</td>"
            }
            for time in [line.waited, line.ran, line.longest] {
                out += "<td class=\"n\">\(time == 0 ? "" : TimeText.span(time))</td>"
            }
            out += "</tr>\n"
        }
        out += "</table>\n"
        if summary.others > 0 {
            out +=
                "<p>\(summary.others) more names, with \(summary.othersCount) tasks, "
                + "are not in this table.</p>\n"
        }
    }
}

/// The tasks of a timeline by their names, those that took the most time first.
package struct TimelineSummary: Sendable {
    package let lines: [Line]
    /// How many names have no line, and how many tasks they have.
    package let others: Int
    package let othersCount: Int

    private static let linesMax = 500

    /// The tasks of one name, of one application and user.
    package struct Line: Equatable, Sendable {
        /// Of another's choice: to be shown as such.
        package let label: String
        package var count = 0
        package var outcomes = TimelineOutcomes()
        /// In milliseconds, as the others.
        package var waited = 0
        package var ran = 0
        /// The longest that one of them ran.
        package var longest = 0
    }

    /// - Parameter entries: those that have nothing within the axis are left out.
    package init(
        _ entries: [TimelineEntry], axis: TimeAxis, users: (Int) -> String = { String($0) }
    ) {
        struct Key: Hashable {
            let owner: Int
            let application: String?
            let name: String
        }
        let shown = entries.filter {
            $0.isTask && $0.end >= axis.begin && $0.begin <= axis.end
        }
        let hasUsers = Set(shown.map(\.owner)).count > 1
        var found: [Key: Line] = [:]
        for entry in shown {
            let key = Key(owner: entry.owner, application: entry.application, name: entry.name)
            let user = hasUsers ? "\(users(entry.owner)): " : ""
            let application = entry.application.map { "\($0)/" } ?? ""
            var line = found[key] ?? Line(label: user + application + entry.name)
            let ran = entry.timeActive
            line.count += 1
            if let outcome = entry.outcome { line.outcomes.add(outcome) }
            line.waited += entry.time(.waiting)
            line.ran += ran
            line.longest = max(line.longest, ran)
            found[key] = line
        }
        let sorted = found.values.sorted {
            ($1.ran, $1.count, $0.label) < ($0.ran, $0.count, $1.label)
        }
        lines = Array(sorted.prefix(Self.linesMax))
        others = max(0, sorted.count - Self.linesMax)
        othersCount = sorted.dropFirst(Self.linesMax).reduce(0) { $0 + $1.count }
    }
}
