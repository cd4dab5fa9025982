import TaskAPI
import TestKit
import Testing
import TaskControl

@Suite("What is drawn of a task")
struct TimelineEntryTests {
    /// The states as `kind:begin-end`, in seconds before now.
    private func spans(_ entry: TimelineEntry) -> [String] {
        entry.spans.map { span in
            let (begin, end) = (TimelineSample.now - span.begin, TimelineSample.now - span.end)
            return "\(span.kind):\(begin / 1000)-\(end / 1000)"
        }
    }

    private func marks(_ entry: TimelineEntry) -> [String] {
        entry.marks.map { mark in
            "\(mark.kind):\((TimelineSample.now - mark.moment) / 1000)".replacing(
                "TaskAPI.Tasks.Outcome.", with: "")
        }
    }

    @Test("it waits, runs, is warned, and ends")
    func whole() {
        let entry = TimelineSample.entry(
            TimelineSample.task(
                1, submitted: 100, started: 90, warned: 40, ended: 30, .overrun))
        #expect(spans(entry) == ["waiting:100-90", "running:90-40", "grace:40-30"])
        #expect(marks(entry) == ["ended(overrun):30"])
        #expect(entry.timeActive == 60_000)
    }

    @Test("one that never started has waited only")
    func neverStarted() {
        let entry = TimelineSample.entry(
            TimelineSample.task(1, submitted: 100, started: nil, ended: 30, .cancelled))
        #expect(spans(entry) == ["waiting:100-30"])
        #expect(marks(entry) == ["ended(cancelled):30"])
    }

    @Test("one that has not ended is drawn up to now")
    func live() {
        let running = TimelineSample.entry(
            Sample.task {
                $0.submittedMs = 20_000
                $0.startedMs = 15_000
                $0.warnedMs = 5000
                $0.state = .expiring
            })
        #expect(spans(running) == ["waiting:20-15", "running:15-5", "grace:5-0"])
        #expect(marks(running) == ["live:0"])
        let queued = TimelineSample.entry(
            Sample.task {
                $0.submittedMs = 20_000
                $0.state = .queued
            })
        #expect(spans(queued) == ["waiting:20-0"])
    }

    @Test("attempts are told apart, with the wait between them")
    func attempts() {
        let attempts = [
            TimelineSample.attempt(1, started: 90, ended: 80),
            TimelineSample.attempt(2, started: 60, warned: 55, ended: 50, .expired),
        ]
        let task = TimelineSample.task(1, submitted: 100, started: 30, ended: 20) {
            $0.attempts = attempts
            $0.attempt = 3
        }
        let expected = [
            "waiting:100-90", "running:90-80", "waiting:80-60", "running:60-55", "grace:55-50",
            "waiting:50-30", "running:30-20",
        ]
        #expect(spans(TimelineSample.entry(task)) == expected)
        let marked = ["attempt(failed):80", "attempt(expired):50", "ended(completed):20"]
        #expect(marks(TimelineSample.entry(task)) == marked)
        // The same where the last attempt, which is over too, is among them.
        var told = task
        told.attempts = attempts + [TimelineSample.attempt(3, started: 30, ended: 20, .completed)]
        #expect(spans(TimelineSample.entry(told)) == expected)
        #expect(marks(TimelineSample.entry(told)) == marked)
    }

    @Test("it is not said that it waited where the oldest of its attempts are not kept")
    func forgottenAttempts() {
        let entry = TimelineSample.entry(
            TimelineSample.task(1, submitted: 100, started: 30, ended: 20) {
                $0.attempts = [TimelineSample.attempt(5, started: 50, ended: 40)]
                $0.attempt = 6
            })
        #expect(
            spans(entry) == ["unknown:100-50", "running:50-40", "waiting:40-30", "running:30-20"])
    }

    @Test("what was told before starts were kept is drawn from its age")
    func old() {
        let entry = TimelineSample.entry(
            Sample.task {
                $0.state = .ended
                $0.outcome = .failed
                $0.ageMs = 10_000
                $0.endedMs = 30_000
            })
        #expect(spans(entry) == ["running:40-30"])
    }

    @Test("its work is frozen while its application is suspended")
    func frozen() {
        let entry = TimelineSample.entry(
            TimelineSample.task(1, submitted: 100, started: 90, warned: 40, ended: 30))
        func span(_ begin: Int, _ end: Int) -> TimelineSpan {
            TimelineSpan(
                .frozen, TimelineSample.now - begin * 1000, TimelineSample.now - end * 1000)
        }
        let frozen = entry.overlaid(with: [
            span(200, 150), span(95, 85), span(50, 35), span(20, 10),
        ])
        #expect(
            spans(frozen) == [
                "waiting:100-90", "frozen:90-85", "running:85-50", "frozen:50-40", "frozen:40-35",
                "grace:35-30",
            ])
        #expect(
            spans(entry.overlaid(with: [span(95, 20)])) == [
                "waiting:100-90", "frozen:90-40", "frozen:40-30",
            ])
        #expect(spans(entry.overlaid(with: [])) == spans(entry))
    }

    @Test("whatever is told, states follow each other and end before now")
    func random() {
        for seed in 0..<Effort.choose(UInt64(20), 500) {
            for entry in TimelineSample.random(100, names: 20, seed: seed) {
                let ends = entry.spans.flatMap { [$0.begin, $0.end] }
                #expect(ends == ends.sorted(), "seed \(seed)")
                #expect(ends.allSatisfy { (0...TimelineSample.now).contains($0) }, "seed \(seed)")
                #expect(entry.begin <= entry.end && !entry.marks.isEmpty, "seed \(seed)")
                let moments = entry.marks.map(\.moment)
                #expect(moments == moments.sorted(), "seed \(seed)")
            }
        }
    }
}

@Suite("What is drawn of an application")
struct TimelineRunTests {
    private func span(
        _ state: Applications.State, _ began: Int, _ ended: Int?,
        _ change: (inout Applications.Span) -> Void = { _ in }
    ) -> Applications.Span {
        var span = Applications.Span()
        (span.application, span.owner, span.state) = ("player", 1000, state)
        (span.beganMs, span.endedMs) = (began * 1000, ended.map { $0 * 1000 })
        change(&span)
        return span
    }

    private func texts(_ entry: TimelineEntry) -> [String] {
        entry.spans.map { span in
            let (begin, end) = (TimelineSample.now - span.begin, TimelineSample.now - span.end)
            return "\(span.kind):\(begin / 1000)-\(end / 1000)"
        }
    }

    @Test("a run is one, in whatever order its states are told, and has its end")
    func runs() {
        let spans = [
            span(.active, 30, nil), span(.notRunning, 40, 30) { $0.reason = .crashed },
            span(.suspended, 60, 40) { $0.frozen = true }, span(.background, 80, 60),
            span(.active, 100, 80), span(.notRunning, 200, 100),
        ]
        for spans in [spans, spans.reversed()] {
            let runs = TimelineEntry.runs(of: spans, now: TimelineSample.now)
            #expect(
                runs.map(texts) == [
                    ["foreground:100-80", "background:80-60", "frozen:60-40"], ["foreground:30-0"],
                ])
            #expect(runs.map(\.outcome) == [.failed, nil])
            #expect(runs[0].details == ["ended: crashed"])
            #expect(runs.map { $0.marks.map(\.kind) } == [[.ended(.failed)], [.live]])
        }
    }

    @Test("one that was not frozen is in the background, and what nobody saw is not known")
    func notSeen() {
        let spans = [
            span(.suspended, 100, 80) { $0.frozen = false },
            span(.background, 80, 20) { $0.seenMs = 50_000 },
        ]
        let runs = TimelineEntry.runs(of: spans, now: TimelineSample.now)
        #expect(runs.map(texts) == [["background:100-80", "background:80-50", "unknown:50-20"]])
        #expect(runs[0].marks == [])
    }

    @Test("an end is drawn of which nothing before is kept, and what never ran is not")
    func endAlone() {
        let end = span(.notRunning, 50, nil) { $0.reason = .exited }
        let runs = TimelineEntry.runs(of: [end], now: TimelineSample.now)
        #expect(runs.map { $0.marks.map(\.kind) } == [[.ended(.completed)]])
        #expect(
            TimelineEntry.runs(of: [span(.notRunning, 50, nil)], now: TimelineSample.now).isEmpty)
    }

    @Test(
        "tasks are frozen with their own application and dormant while it is in front, and with no other"
    )
    func frozen() {
        let runs = TimelineEntry.runs(
            of: [
                span(.background, 100, 60),
                span(.suspended, 60, 40) { $0.frozen = true }, span(.active, 40, nil),
            ], now: TimelineSample.now)
        let times = ApplicationTimes(runs)
        func drawn(
            _ application: String?, owner: Int, warned: Int? = nil, wake: Bool? = nil
        ) -> [String] {
            texts(
                times.added(
                    to: TimelineSample.entry(
                        TimelineSample.task(
                            1, submitted: 70, started: 70, warned: warned, ended: 30
                        ) {
                            ($0.application, $0.owner, $0.wake) = (application, owner, wake)
                        })))
        }
        #expect(drawn("player", owner: 1000) == ["running:70-60", "frozen:60-40", "dormant:40-30"])
        // A warning stays one in front, and what is woken has a budget of its own.
        #expect(
            drawn("player", owner: 1000, warned: 45) == [
                "running:70-60", "frozen:60-45", "frozen:45-40", "grace:40-30",
            ])
        #expect(
            drawn("player", owner: 1000, wake: true)
                == ["running:70-60", "frozen:60-40", "running:40-30"])
        for (application, owner) in [("player", 1), ("other", 1000), (nil, 1000)] {
            #expect(drawn(application, owner: owner) == ["running:70-30"])
        }
    }

    @Test("states that are too short to be seen are drawn as the longest beside them, and counted")
    func flapping() {
        let spans = (0..<10_000).map { place in
            let state: Applications.State = place % 2 == 0 ? .active : .background
            return span(state, 20_000 - place * 2, 20_000 - (place + 1) * 2)
        }
        let runs = TimelineEntry.runs(of: spans, now: TimelineSample.now)
        let chart = TimelineChart(
            runs, axis: TimelineSample.axis(20_000), by: .name,
            scale: TimelineSVG.scale(width: 1200))
        guard case .lanes(let lanes) = chart.rows.first?.content else {
            Issue.record("it has no row")
            return
        }
        let drawn = lanes[0][0].spans
        #expect(drawn.count < 1300)
        #expect(drawn.count + chart.blurred == 10_000)
        #expect(drawn.first?.begin == runs[0].begin && drawn.last?.end == runs[0].end)
        #expect(zip(drawn, drawn.dropFirst()).allSatisfy { $0.end == $1.begin })
        #expect(chart.notes.first?.hasPrefix("\(chart.blurred) states that were too short") == true)
    }
}
