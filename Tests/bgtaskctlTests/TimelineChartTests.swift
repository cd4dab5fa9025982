import TaskAPI
import TestKit
import Testing
import TaskControl

@Suite("The rows of a timeline")
struct TimelineChartTests {
    private func chart(
        _ entries: [TimelineEntry], seconds: Int = 100, by grouping: TimelineGrouping = .name,
        width: Int = 1200, limits: TimelineLimits = TimelineLimits()
    ) -> TimelineChart {
        TimelineSample.chart(entries, seconds, by: grouping, width: width, limits: limits)
    }

    private func lanes(_ row: TimelineChart.Row) -> [[Int]]? {
        guard case .lanes(let lanes) = row.content else { return nil }
        return lanes.map { lane in
            lane.map { if case .task(let id) = $0.subject { id } else { 0 } }
        }
    }

    @Test("tasks of one name share a row, and a line of it where they do not overlap")
    func names() {
        let chart = chart(
            TimelineSample.few
                + [
                    TimelineSample.entry(
                        TimelineSample.task(5, "backup", submitted: 70, started: 70, ended: 45))
                ])
        #expect(chart.rows.map(\.label) == ["backup", "flaky", "a<b>&\u{202E}\u{1}"])
        #expect(lanes(chart.rows[0]) == [[1, 2], [5]])
        #expect(chart.notes == [])
        #expect(chart.tasks == 5)
    }

    @Test("each task has a row where that is asked for")
    func tasks() {
        let chart = chart(TimelineSample.few, by: .task)
        #expect(chart.rows.map(\.label).prefix(2) == ["1 backup", "4 flaky"])
        #expect(chart.rows.count == 4)
    }

    @Test(
        "what belongs to an application stands together, and with its user where there are several")
    func applications() {
        func task(_ id: Int, _ name: String, _ application: String?, owner: Int, at begin: Int)
            -> TimelineEntry
        {
            TimelineSample.entry(
                TimelineSample.task(
                    id, name, submitted: begin, started: begin, ended: begin - 5
                ) {
                    $0.application = application
                    $0.owner = owner
                })
        }
        let entries = [
            task(1, "a", "player", owner: 1, at: 90), task(2, "b", nil, owner: 1, at: 80),
            task(3, "c", "player", owner: 1, at: 70), task(4, "a", "player", owner: 2, at: 60),
        ]
        #expect(
            chart(entries).rows.map(\.label) == [
                "1: player/a", "1: player/c", "1: b", "2: player/a",
            ])
        #expect(
            chart(entries, by: .application).rows.map(\.label)
                == ["1: player", "1: no application", "2: player"])
        #expect(chart(Array(entries.prefix(3))).rows.map(\.label) == ["player/a", "player/c", "b"])
    }

    @Test("rows that are too many are drawn as one, which is said; those that took most time stay")
    func merged() {
        let entries = (1...10).map { id in
            TimelineSample.entry(
                TimelineSample.task(
                    id, "task \(id)", submitted: 90, started: 90, ended: 90 - id,
                    id == 2 ? .failed : .completed))
        }
        var limits = TimelineLimits()
        limits.rows = 4
        let chart = chart(entries, limits: limits)
        #expect(chart.rows.map(\.label) == ["task 10", "task 8", "task 9", "7 others"])
        #expect(chart.merged == 7)
        #expect(chart.rows.map(\.count) == [1, 1, 1, 7])
        #expect(chart.notes.first?.hasPrefix("7 rows that took the least time, with 7 ") == true)
        guard case .crowd(let crowd) = chart.rows[3].content else {
            Issue.record("the others are drawn one by one")
            return
        }
        #expect(crowd.peak == 7)
        #expect(crowd.outcomes.text == "6 completed, 1 failed")
    }

    @Test("tasks that are too many for a row are counted")
    func crowds() {
        let entries = (0..<300).map { id in
            TimelineSample.entry(
                TimelineSample.task(
                    id, submitted: 3600 - id * 10, started: 3600 - id * 10,
                    ended: 3595 - id * 10, id == 150 ? .overrun : .completed))
        }
        let chart = chart(entries, seconds: 3600)
        guard case .crowd(let crowd) = chart.rows[0].content else {
            Issue.record("they are drawn one by one")
            return
        }
        #expect(crowd.columns.reduce(0) { $0 + $1.outcomes.total } == 300)
        #expect(crowd.columns.count { $0.outcomes.worst == .overrun } == 1)
        #expect(TimelineText.count(chart.rows[0]) == "300 tasks, 1 overrun")
        #expect(chart.notes.first?.hasPrefix("Columns stand for 300 entries") == true)
    }

    @Test("whatever there is, all of it is drawn or counted, and no more than can be drawn")
    func random() {
        for seed in 0..<Effort.choose(UInt64(60), 1000) {
            var random = SeededGenerator(seed: seed)
            let entries = TimelineSample.random(
                Int.random(in: 1...600, using: &random),
                names: Int.random(in: 1...80, using: &random),
                seed: seed)
            var limits = TimelineLimits()
            limits.rows = Int.random(in: 1...50, using: &random)
            limits.lanes = Int.random(in: 1...8, using: &random)
            limits.perRow = Int.random(in: 1...100, using: &random)
            limits.pieces = Int.random(in: 1...2000, using: &random)
            let grouping = TimelineGrouping.allCases.randomElement(using: &random) ?? .name
            let axis = TimelineSample.axis(Int.random(in: 1...5000, using: &random))
            let isText = Bool.random(using: &random)
            let scale = isText ? TimelineBlocks.scale(width: 80) : TimelineSVG.scale(width: 900)
            let chart = TimelineChart(
                entries, axis: axis, by: grouping, scale: scale, limits: limits)
            let shown = entries.filter { $0.end >= axis.begin && $0.begin <= axis.end }
            #expect(chart.rows.reduce(0) { $0 + $1.count } == shown.count, "seed \(seed)")
            #expect(chart.tasks == shown.count, "seed \(seed)")
            #expect(chart.rows.count <= max(limits.rows, 1), "seed \(seed)")
            for row in chart.rows {
                switch row.content {
                case .lanes(let lanes):
                    #expect(lanes.reduce(0) { $0 + $1.count } == row.count, "seed \(seed)")
                    #expect(lanes.count <= limits.lanes, "seed \(seed)")
                    for lane in lanes {
                        #expect(
                            zip(lane, lane.dropFirst()).allSatisfy { $0.end <= $1.begin },
                            "seed \(seed)")
                    }
                case .crowd(let crowd): check(crowd, axis, "seed \(seed)")
                }
            }
        }
    }

    private func check(_ crowd: TimelineCrowd, _ axis: TimeAxis, _ note: Comment) {
        #expect(crowd.columns.first?.begin == axis.begin, note)
        #expect(crowd.columns.last?.end == axis.end, note)
        #expect(
            zip(crowd.columns, crowd.columns.dropFirst()).allSatisfy { $0.end == $1.begin }, note)
        #expect(crowd.columns.allSatisfy { $0.active >= 0 && $0.waiting >= 0 }, note)
        let ended = crowd.columns.reduce(0) { $0 + $1.outcomes.total }
        #expect(ended <= crowd.outcomes.total, note)
    }
}
