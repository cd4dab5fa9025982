internal import TaskAPI

/// Which signs a picture has, so that its legend explains these and no others.
struct TimelineSigns: Equatable {
    private(set) var spans: [TimelineSpan.Kind]
    private(set) var outcomes: [Tasks.Outcome]
    private(set) var hasAttempts = false
    private(set) var hasLive = false
    private(set) var hasCrowds = false

    /// - Parameter attemptsHaveOutcomes: whether the end of an attempt is drawn with its outcome.
    init(_ chart: TimelineChart, attemptsHaveOutcomes: Bool) {
        let axis = chart.axis
        var kinds: Set<TimelineSpan.Kind> = []
        var ends: Set<Tasks.Outcome> = []
        for row in chart.rows {
            switch row.content {
            case .lanes(let lanes):
                for entry in lanes.joined() {
                    for span in entry.spans
                    where span.end >= axis.begin && span.begin <= axis.end {
                        kinds.insert(span.kind)
                    }
                    for mark in entry.marks where axis.begin...axis.end ~= mark.moment {
                        switch mark.kind {
                        case .attempt(let outcome):
                            if attemptsHaveOutcomes { ends.insert(outcome) }
                            hasAttempts = true
                        case .ended(let outcome): ends.insert(outcome)
                        case .live: hasLive = true
                        }
                    }
                }
            case .crowd(let crowd):
                hasCrowds = true
                for column in crowd.columns {
                    if column.active == 0, column.waiting > 0 { kinds.insert(.waiting) }
                    if let worst = column.outcomes.worst, worst != .completed {
                        ends.insert(worst)
                    }
                }
            }
        }
        spans = TimelineSpan.Kind.allCases.filter(kinds.contains)
        outcomes = TimelineOutcomes.order.reversed().filter(ends.contains)
    }
}
