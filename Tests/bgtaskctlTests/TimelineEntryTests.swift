import TaskAPI
import TestKit
import Testing

@testable import bgtaskctl

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
        let frozen = entry.frozen([span(200, 150), span(95, 85), span(50, 35), span(20, 10)])
        #expect(
            spans(frozen) == [
                "waiting:100-90", "frozen:90-85", "running:85-50", "frozen:50-40", "frozen:40-35",
                "grace:35-30",
            ])
        #expect(
            spans(entry.frozen([span(95, 20)])) == [
                "waiting:100-90", "frozen:90-40", "frozen:40-30",
            ])
        #expect(spans(entry.frozen([])) == spans(entry))
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
