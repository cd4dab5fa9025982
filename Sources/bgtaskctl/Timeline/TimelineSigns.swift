internal import TaskAPI

/// Which signs a picture has, so that its legend explains these and no others.
struct TimelineSigns: Equatable {
    private(set) var spans: [TimelineSpan.Kind]
    private(set) var outcomes: [Tasks.Outcome]
    private(set) var hasAttempts = false
    private(set) var hasLive = false
    private(set) var hasCrowds = false

    init(_ chart: TimelineChart) {
        var kinds: Set<TimelineSpan.Kind> = []
        var ends: Set<Tasks.Outcome> = []
        for row in chart.rows {
            switch row.content {
            case .lanes(let lanes):
                for entry in lanes.joined() {
                    for span in entry.spans { kinds.insert(span.kind) }
                    for mark in entry.marks {
                        switch mark.kind {
                        case .attempt(let outcome):
                            ends.insert(outcome)
                            hasAttempts = true
                        case .ended(let outcome): ends.insert(outcome)
                        case .live: hasLive = true
                        }
                    }
                }
            case .crowd(let crowd):
                hasCrowds = true
                for outcome in TimelineOutcomes.order.dropLast()
                where crowd.outcomes.count(outcome) > 0 {
                    ends.insert(outcome)
                }
            }
        }
        spans = TimelineSpan.Kind.allCases.filter(kinds.contains)
        outcomes = TimelineOutcomes.order.reversed().filter(ends.contains)
    }
}
