import TaskAPI
import TestKit
import Testing
import TaskControl

/// Whoever listens at a socket may answer with any numbers; none of them ends the process of whoever asks.
@Suite struct HostileAnswerTests {
    private static let numbers = [
        Int.min, .min + 1, -(1 << 53), -1000, -1, 0, 1, 1000, 86_400_000, 1 << 32,
        TimelineSample.now, 1 << 53, 1 << 62, .max - 1, .max,
    ]

    /// Chooses by a seed.
    private struct Dice {
        var random: SeededGenerator

        mutating func number() -> Int { one(of: HostileAnswerTests.numbers) }

        mutating func one<Value>(of values: [Value]) -> Value {
            values[Int.random(in: values.indices, using: &random)]
        }

        /// Often, and otherwise nothing.
        mutating func maybe() -> Int? { Int.random(in: 0..<4, using: &random) > 0 ? number() : nil }

        mutating func task(_ id: Int) -> Tasks.Task {
            var task = Sample.task { $0.id = id }
            task.kind = one(of: [.held, .run])
            task.state = one(of: [.queued, .dormant, .running, .expiring, .ended])
            task.outcome = task.state == .ended ? one(of: Tasks.Outcome.allCases) : nil
            (task.owner, task.priority, task.ageMs) = (number(), number(), number())
            (task.usedMs, task.endedMs, task.slots) = (maybe(), maybe(), maybe())
            (task.submittedMs, task.startedMs, task.warnedMs) = (maybe(), maybe(), maybe())
            (task.notBeforeMs, task.pid, task.attemptsMax) = (maybe(), maybe(), maybe())
            task.attempt = number()
            task.budget = one(of: [nil, Sample.budget(number(), number())])
            task.remaining = Sample.remaining(
                ms: maybe(), hardMs: maybe(),
                one(of: [nil, .ownBudget, .applicationBackgroundTime, .lifetimeLimit]))
            task.application = one(of: [nil, "player"])
            var progress = Tasks.Progress()
            (progress.completed, progress.total) = (number(), maybe())
            task.progress = one(of: [nil, progress])
            task.attempts = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                var attempt = Tasks.Attempt()
                (attempt.attempt, attempt.endedMs) = (number(), number())
                (attempt.startedMs, attempt.warnedMs, attempt.usedMs) = (maybe(), maybe(), maybe())
                attempt.outcome = one(of: Tasks.Outcome.allCases)
                return attempt
            }
            return task
        }

        mutating func span() -> Applications.Span {
            var span = Applications.Span()
            (span.application, span.owner, span.beganMs) = ("player", number(), number())
            (span.endedMs, span.seenMs) = (maybe(), maybe())
            span.state = one(of: [.notRunning, .active, .background, .suspended])
            span.frozen = one(of: [nil, false, true])
            span.reason = one(of: [nil, .exited, .crashed, .memoryPressure])
            return span
        }

        mutating func application() -> Applications.Application {
            var application = Applications.Application()
            (application.id, application.owner) = ("player", number())
            application.state = one(of: [.active, .background, .suspended])
            application.remainingMs = maybe()
            return application
        }
    }

    @Test("the live view shows any numbers", arguments: 0..<10 as Range<UInt64>)
    func top(seed: UInt64) {
        var dice = Dice(random: SeededGenerator(seed: seed))
        var stage = TopStage(width: dice.one(of: [1, 30, 80, 160]), isOfEverybody: true)
        stage.take(.listed((0..<20).map { dice.task($0) }))
        stage.take(.appeared((0..<5).map { _ in dice.application() }))
        for _ in 0..<20 {
            stage.now += dice.one(of: [0, 1, 1000, 100_000_000])
            let kind: Tasks.EventKind = dice.one(of: [.began, .extended, .expiring, .ended])
            stage.happen(kind, dice.task(Int.random(in: 0..<25, using: &dice.random)))
            stage.take(.shown(dice.task(3)))
            var explanation = Tasks.Explanation()
            explanation.rule = dice.one(of: ["budget", "slots"])
            (explanation.value, explanation.earliestChangeMs) = (dice.maybe(), dice.maybe())
            stage.take(.explained(stage.chosen ?? 0, [explanation]))
            stage.press(dice.one(of: [.down, .character("s"), .character("f"), .pageDown]))
            #expect(stage.lines.allSatisfy { $0.width <= stage.model.size.width })
        }
    }

    @Test(
        "a timeline draws any numbers, in each of its forms", arguments: 0..<10 as Range<UInt64>)
    func timeline(seed: UInt64) {
        var dice = Dice(random: SeededGenerator(seed: seed))
        let now = TimelineSample.now
        let runs = TimelineEntry.runs(of: (0..<20).map { _ in dice.span() }, now: now)
        let frozen = ApplicationTimes(runs)
        let entries =
            (0..<30).map { frozen.added(to: TimelineEntry(dice.task($0), now: now)) } + runs
        for begin in [0, now - 1000, now] {
            let axis = TimeAxis(begin: begin, end: now, clock: TimelineSample.clock)
            for scale in [TimelineBlocks.scale(width: 40), TimelineSVG.scale(width: 640)] {
                let chart = TimelineChart(entries, axis: axis, by: .name, scale: scale)
                let summary = TimelineSummary(entries, axis: axis)
                #expect(!TimelineBlocks.text(chart, width: 40, .plain, .blocks).isEmpty)
                #expect(TimelinePage.text(chart, summary, width: 640).hasSuffix("</html>\n"))
            }
        }
    }

    @Test("what a task says of how far it has come is from none to all of it")
    func progress() {
        for completed in Self.numbers {
            for total in Self.numbers {
                var progress = Tasks.Progress()
                (progress.completed, progress.total) = (completed, total)
                let text = ProgressText.full(progress)
                #expect(text.hasPrefix("[") && text.dropFirst(11).hasPrefix("] "))
            }
        }
    }
}
