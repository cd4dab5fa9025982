package import TaskAPI

/// Counts tasks by state, and finds the one whose time is up first.
struct TaskSummary {
    private(set) var counts: [Tasks.State: Int] = [:]
    /// The live task with the least time until its handler, or its limit where that has fired.
    private(set) var next: (task: Tasks.Task, milliseconds: Int)?

    mutating func add(_ task: Tasks.Task) {
        counts[task.state, default: 0] += 1
        guard task.state != .queued,
            let left = task.state == .expiring ? task.remaining?.hardMs : task.remaining?.ms
        else {
            return
        }
        if left < next?.milliseconds ?? .max { next = (task, left) }
    }

    /// `2 running, 1 queued`.
    var counted: String {
        let shown = Tasks.State.allCases.compactMap { state in
            counts[state].map { "\($0) \(state.rawValue)" }
        }
        return shown.isEmpty ? "none" : shown.joined(separator: ", ")
    }

    /// What happens next: `"flush" (7) reaches its warning in 12s`.
    var nextText: String? {
        guard let (task, left) = next else { return nil }
        let what = task.state == .expiring ? "limit" : "warning"
        return "\(task.name) (\(task.id)) reaches its \(what) in \(TimeText.span(left))"
    }
}

/// Shows a daemon's description.
struct StatusText {
    let daemon: Manager.Describe.Output
    let socket: String
    let summary: TaskSummary

    /// A summary, then profiles, limits and settings; for a person those settings alone that are not as built in.
    func text(_ style: Style) -> String {
        var fields = Fields()
        fields.add("version", daemon.version)
        fields.add("scope", daemon.scope)
        fields.add("socket", socket)
        fields.add("containment", daemon.containment)
        if let executor = daemon.executor { fields.add("executor", executor) }
        fields.add("tasks", summary.counted)
        fields.add("next", summary.nextText)
        let unchanged = daemon.settings.count { $0.source == StatusText.builtIn }
        if style.isTerminal, unchanged > 0 {
            fields.add("settings", "\(unchanged) of \(daemon.settings.count) as built in")
        }
        let limits = daemon.limits.map { [Table.Cell($0.name), Table.Cell(String($0.value))] }
        let tables = [
            profiles,
            Table(columns: [.init("LIMIT"), .init("VALUE", isRight: true)], rows: limits),
            settings(withBuiltIn: !style.isTerminal),
        ]
        return tables.reduce(fields.text(style)) { text, table in
            table.rows.isEmpty ? text : text + "\n" + table.text(style)
        }
    }

    private static let builtIn = "default"

    private var profiles: Table {
        Table(
            columns: [
                .init("PROFILE", widthMin: 12), .init("LIMIT", isRight: true),
                .init("WARNING AT", isRight: true), .init("GRACE", isRight: true),
                .init("LIFETIME LIMIT", isRight: true),
            ],
            rows: daemon.profiles.map { profile in
                let handler = profile.durationMs.map { TimeText.span($0 - profile.graceMs) }
                let texts = [
                    profile.name, profile.durationMs.map(TimeText.span) ?? "no limit",
                    handler ?? "-", TimeText.span(profile.graceMs),
                    profile.lifetimeMaxMs.map(TimeText.span) ?? "no limit",
                ]
                return texts.map { Table.Cell($0) }
            })
    }

    private func settings(withBuiltIn: Bool) -> Table {
        Table(
            columns: [
                .init("SETTING"), .init("VALUE", widthMin: 8), .init("FROM", widthMin: 8),
            ],
            rows: daemon.settings.filter {
                withBuiltIn || $0.source != StatusText.builtIn
            }.map { setting in
                [setting.key, setting.value, setting.source].map { Table.Cell($0) }
            })
    }
}

/// Shows what the daemon has counted.
package enum CounterText {
    /// On a terminal histograms are told by their percentiles, else by their sums and counts.
    package static func text(_ statistics: Manager.Statistics.Output, _ style: Style) -> String {
        let histograms = statistics.histograms ?? []
        let numbers = statistics.numbers
        guard style.isTerminal else { return plain(numbers, histograms) }
        let text = explained(table(numbers), numbers.map(\.help), style)
        return histograms.isEmpty
            ? text
            : text + "\n" + explained(table(histograms), histograms.map(\.help), style)
    }

    /// A line each, with what it means.
    private static func plain(
        _ numbers: [StatisticNumber], _ histograms: [Manager.Histogram]
    ) -> String {
        let sums = histograms.flatMap { histogram in
            [
                ("_sum", MetricsText.seconds(histogram.sumNs)),
                ("_count", String(count(histogram))),
            ].map { ending, value in
                [name(histogram.name + ending, histogram.labels), value, histogram.help]
            }
        }
        let fields = ["name", "value", "help"].map { Table.Column($0) }
        let rows = (numbers.map { [name($0.name, $0.labels), $0.value, $0.help] } + sums).map {
            $0.map { Table.Cell($0) }
        }
        return Table(columns: fields, rows: rows).text(.plain)
    }

    private static func table(_ numbers: [StatisticNumber]) -> Table {
        Table(
            columns: [.init("METRIC"), .init("VALUE", isRight: true)],
            rows: numbers.map { number in
                [name(number.name, number.labels), number.value].map { Table.Cell($0) }
            })
    }

    private static func table(_ histograms: [Manager.Histogram]) -> Table {
        Table(
            columns: [
                .init("HISTOGRAM"), .init("COUNT", isRight: true), .init("HALF", isRight: true),
                .init("99 %", isRight: true),
            ],
            rows: histograms.map { histogram in
                [
                    name(histogram.name, histogram.labels), String(count(histogram)),
                    bound(histogram, percent: 50), bound(histogram, percent: 99),
                ].map { Table.Cell($0) }
            })
    }

    /// The table with the meaning of its lines above them, once for those that share it: beside them there is no room
    /// for it on a terminal.
    private static func explained(_ table: Table, _ meanings: [String], _ style: Style) -> String {
        let lines = table.text(style).split(separator: "\n", omittingEmptySubsequences: false)
        var text = "\(lines.first ?? "")\n"
        var last: String?
        for (meaning, line) in zip(meanings, lines.dropFirst()) {
            if meaning != last {
                let comment = "# " + VisibleText.oneLine(meaning)
                for piece in TextWidth.wrapped(comment, to: style.width) {
                    text += style.paint(piece, .grey) + "\n"
                }
            }
            last = meaning
            text += "\(line)\n"
        }
        return text
    }

    private static func count(_ histogram: Manager.Histogram) -> Int {
        histogram.counts.reduce(0) { $0 &+ $1 }
    }

    /// The bound that so much of what was recorded is not above.
    package static func bound(_ histogram: Manager.Histogram, percent: Int) -> String {
        let count = count(histogram)
        guard count > 0 else { return Table.nothing }
        var sum = 0
        for (bound, number) in zip(histogram.boundsNs, histogram.counts) {
            sum = sum &+ number
            if Double(sum) * 100 >= Double(count) * Double(percent) {
                return "\u{2264} " + MetricsText.seconds(bound) + " s"
            }
        }
        return histogram.boundsNs.last.map { "> " + MetricsText.seconds($0) + " s" }
            ?? Table.nothing
    }

    /// `name{label="value"}`, as scrapers write it.
    private static func name(_ name: String, _ labels: [String: String]) -> String {
        guard !labels.isEmpty else { return name }
        let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value)\"" }
        return "\(name){\(pairs.joined(separator: ","))}"
    }
}
