internal import TaskAPI

/// What a timeline says in words, of what it draws.
package enum TimelineText {
    /// What a way to draw a span means.
    static func word(_ kind: TimelineSpan.Kind) -> String {
        switch kind {
        case .waiting: "waiting"
        case .unknown: "not known"
        case .running: "running"
        case .grace: "warned, in its grace"
        case .frozen: "suspended"
        case .dormant: "dormant"
        case .foreground: "in front"
        case .background: "in the background"
        }
    }

    /// All that is to be told of an entry, a line each; of what others wrote nothing is more than a line.
    static func lines(_ entry: TimelineEntry, _ clock: LocalClock) -> [String] {
        var lines: [String] = []
        switch entry.subject {
        case .task(let id):
            lines.append("\(id) \(entry.name): \(entry.outcome?.rawValue ?? "has not ended")")
        case .application: lines.append("application \(entry.name)")
        }
        let times = TimelineSpan.Kind.allCases.compactMap { kind -> String? in
            let time = entry.time(kind)
            return time > 0 ? "\(word(kind)) \(TimeText.span(time))" : nil
        }
        if !times.isEmpty { lines.append(times.joined(separator: ", ")) }
        let isOver = !entry.marks.contains { $0.kind == .live }
        lines.append(clock.text(entry.begin) + " – " + (isOver ? clock.text(entry.end) : "now"))
        let attempts = entry.marks.compactMap { mark -> String? in
            guard case .attempt(let outcome) = mark.kind else { return nil }
            return "\(outcome.rawValue) at \(clock.time(mark.moment / 1000))"
        }
        if !attempts.isEmpty { lines.append("attempts: " + attempts.joined(separator: ", ")) }
        return (lines + entry.details).map { TextWidth.cut(VisibleText.oneLine($0), to: lineMax) }
    }

    private static let lineMax = 160

    /// What is to be told of a column of a crowd.
    static func line(_ column: TimelineCrowd.Column, _ clock: LocalClock) -> String {
        let waiting = column.waiting > 0 ? ", \(column.waiting) waiting" : ""
        let ends = column.outcomes.text
        return "\(clock.text(column.begin)) – \(clock.time(column.end / 1000)): "
            + "\(column.active) there\(waiting)" + (ends.isEmpty ? "" : "; \(ends)")
    }

    /// How many there are in a row, and how many of them ended worst; `nil` where that is to be seen.
    package static func count(_ row: TimelineChart.Row) -> String? {
        let unit =
            switch row.kind {
            case .application: "runs"
            case .tasks: "tasks"
            case .others: "entries"
            }
        switch row.content {
        case .lanes(let lanes): return lanes.count > 1 ? "\(row.count) \(unit)" : nil
        case .crowd(let crowd):
            let worst = crowd.outcomes.worst.map { $0 == .completed ? [] : [$0] } ?? []
            return
                (["\(row.count) \(unit)"]
                + worst.map { "\(crowd.outcomes.count($0)) \($0.rawValue)" })
                .joined(separator: ", ")
        }
    }

    /// What stands in a picture of nothing.
    static let nothing = "nothing waited, ran or ended in this time"

    /// The line above a timeline.
    static func heading(_ chart: TimelineChart) -> String {
        let count = chart.tasks == 1 ? "1 task" : "\(chart.tasks) tasks"
        return "\(chart.axis.title): \(count)"
    }
}
