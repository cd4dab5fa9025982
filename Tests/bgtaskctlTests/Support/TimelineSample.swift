import TaskAPI
import TestKit
import TaskControl

/// Timelines for tests.
enum TimelineSample {
    /// 2026-11-25 18:00:00 in UTC, in milliseconds since 1970.
    static let now = 1_795_629_600_000

    /// Greenwich.
    static let clock = LocalClock { _ in 0 }

    /// Berlin in 2026: summer time from 29 March, 01:00 UTC, to 25 October, 01:00 UTC.
    static let berlin = LocalClock { seconds in
        (1_774_746_000..<1_792_890_000).contains(seconds) ? 7200 : 3600
    }

    /// The seconds before `now` that are drawn.
    static func axis(_ seconds: Int, _ clock: LocalClock = clock) -> TimeAxis {
        TimeAxis(begin: now - seconds * 1000, end: now, clock: clock)
    }

    /// A task that has ended, its times in seconds before `now`.
    static func task(
        _ id: Int, _ name: String = "flush", submitted: Int, started: Int?, warned: Int? = nil,
        ended: Int, _ outcome: Tasks.Outcome = .completed,
        _ change: (inout Tasks.Task) -> Void = { _ in }
    ) -> Tasks.Task {
        Sample.task {
            $0.id = id
            $0.name = name
            $0.state = .ended
            $0.outcome = outcome
            $0.remaining = nil
            $0.submittedMs = submitted * 1000
            $0.startedMs = started.map { $0 * 1000 }
            $0.warnedMs = warned.map { $0 * 1000 }
            $0.endedMs = ended * 1000
            $0.command = nil
            change(&$0)
        }
    }

    static func attempt(
        _ number: Int, started: Int?, warned: Int? = nil, ended: Int,
        _ outcome: Tasks.Outcome = .failed
    ) -> Tasks.Attempt {
        var attempt = Tasks.Attempt()
        attempt.attempt = number
        attempt.outcome = outcome
        attempt.startedMs = started.map { $0 * 1000 }
        attempt.warnedMs = warned.map { $0 * 1000 }
        attempt.endedMs = ended * 1000
        return attempt
    }

    /// What SVG draws of entries.
    static func chart(
        _ entries: [TimelineEntry], _ seconds: Int, by grouping: TimelineGrouping, width: Int,
        limits: TimelineLimits
    ) -> TimelineChart {
        TimelineChart(
            entries, axis: axis(seconds), by: grouping, scale: TimelineSVG.scale(width: width),
            limits: limits)
    }

    static func entry(_ task: Tasks.Task) -> TimelineEntry { TimelineEntry(task, now: now) }

    /// Four tasks, one of which is tried again and goes on.
    static var few: [TimelineEntry] {
        [
            task(1, "backup", submitted: 100, started: 90, ended: 60),
            task(2, "backup", submitted: 50, started: 50, warned: 30, ended: 20, .expired),
            task(3, "a<b>&\u{202E}\u{1}", submitted: 80, started: nil, ended: 40, .cancelled),
            Sample.task {
                $0.id = 4
                $0.name = "flaky"
                $0.attempt = 2
                $0.submittedMs = 95_000
                $0.startedMs = 10_000
                $0.attempts = [attempt(1, started: 90, ended: 70)]
                $0.command = nil
            },
        ].map(entry)
    }

    /// Tasks with everything that a daemon may say of them, and what none should.
    static func random(_ count: Int, names: Int, seed: UInt64) -> [TimelineEntry] {
        var random = SeededGenerator(seed: seed)
        return (1...max(count, 1)).map { id in
            entry(task(id, names: names, &random))
        }
    }

    private static let hostile = [
        "", "<script>alert(1)</script>", "]]>", "\u{202E}gnp", "a\nb\tc", "\u{0}\u{1B}[31m",
        "\u{FFFE}\u{FFFF}", "&amp;\"'", "漢字かな交じり文漢字かな交じり文漢字かな交じり文",
        String(repeating: "e\u{301}\u{302}\u{303}", count: 40), "\u{2028}\u{E000}",
    ]

    private static func task(
        _ id: Int, names: Int, _ random: inout SeededGenerator
    ) -> Tasks.Task {
        let number = Int.random(in: 0..<max(names, 1), using: &random)
        let name = number < hostile.count ? hostile[number] : "task \(number)"
        let submitted = Int.random(in: -5...4000, using: &random)
        let started =
            Bool.random(using: &random) ? Int.random(in: -5...4000, using: &random) : nil
        let warned = Bool.random(using: &random) ? Int.random(in: -5...4000, using: &random) : nil
        let ended = Int.random(in: -5...3000, using: &random)
        let outcome = Tasks.Outcome.allCases.randomElement(using: &random) ?? .completed
        var task = task(
            id, name, submitted: submitted, started: started, warned: warned, ended: ended,
            outcome)
        if Int.random(in: 0..<4, using: &random) == 0 {
            (task.state, task.outcome, task.endedMs) = (.running, nil, nil)
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            task.attempts = (1...3).map { number in
                attempt(
                    number, started: Int.random(in: -5...4000, using: &random),
                    ended: Int.random(in: -5...4000, using: &random))
            }
        }
        if Int.random(in: 0..<8, using: &random) == 0 { task.endedMs = .max }
        if Int.random(in: 0..<8, using: &random) == 0 { task.submittedMs = .min }
        if Bool.random(using: &random) { task.application = "app \(number % 3)" }
        task.reason = hostile.randomElement(using: &random)
        task.owner = Int.random(in: 0...1, using: &random)
        return task
    }
}
