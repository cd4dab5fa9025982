import TaskAPI
import Testing
import Varlink
import TaskControl

/// How a task that waits, or is tried again, is shown.
@Suite struct WaitingTests {
    private let terminal = Style.terminal(width: 80, colour: false)

    private func queued(_ rule: String?, notBeforeMs: Int? = nil) -> Tasks.Task {
        Sample.task {
            $0.state = .queued
            $0.usedMs = 0
            $0.waiting = rule
            $0.notBeforeMs = notBeforeMs
        }
    }

    private func attempt(
        _ number: Int, _ outcome: Tasks.Outcome, status: Int? = nil, reason: String? = nil
    ) -> Tasks.Attempt {
        var attempt = Tasks.Attempt()
        attempt.attempt = number
        attempt.outcome = outcome
        attempt.usedMs = 2000
        attempt.reason = reason
        if let status {
            var exit = Tasks.Exit()
            exit.status = status
            attempt.exit = exit
        }
        return attempt
    }

    private func retried(_ attempts: [Tasks.Attempt]) -> Tasks.Task {
        var task = queued("retry", notBeforeMs: 30_000)
        task.attempt = attempts.count + 1
        task.attemptsMax = 3
        task.attempts = attempts
        return task
    }

    private func detail(_ kind: Tasks.EventKind, _ task: Tasks.Task) -> String {
        let line = TaskText.line(Sample.event(kind, task), .plain).dropLast()
        return String(line.split(separator: "\t", omittingEmptySubsequences: false)[3])
    }

    @Test(
        "why a task waits is said in a word, and for how long where that is known",
        arguments: [
            ("paused", nil, "paused"), ("network", nil, "network"),
            ("minimumInterval", 540_000, "interval, 9min"), ("earliestBegin", 180_000, "in 3min"),
            ("slots", nil, "slots"), ("retry", 30_000, "retry, 30s"),
            ("externalPower", nil, "external power"), ("unique", nil, "same name"),
            ("groupSlots", nil, "group's slots"), ("starting", nil, "starting"),
            ("aNewRule", nil, "aNewRule"), ("paused", 300_000, "paused"), (nil, nil, "-"),
        ] as [(String?, Int?, String)])
    func words(_ rule: String?, _ notBeforeMs: Int?, _ text: String) {
        #expect(WaitingText.short(queued(rule, notBeforeMs: notBeforeMs)) == text)
    }

    @Test("list shows it beside the state; a script has a field for it")
    func column() {
        let running = Sample.task { $0.id = 12 }
        let waits = [running, queued("network")]
        #expect(
            TaskTable.listing(waits).text(terminal).split(separator: "\n") == [
                "ID  NAME   STATE            LEFT  USED  COMMAND",
                "12  flush  running          3min    5s  sleep 60",
                " 7  flush  queued: network     -    0s  sleep 60",
            ])
        #expect(
            TaskTable.fields([queued("network")], owners: true).text(.plain)
                == "7\t0\tflush\tqueued\t-\t0s\tnetwork\tsleep 60\t-\n")
    }

    @Test("show names the rule as explain does, and has a table of the attempts that are over")
    func show() throws {
        var output = Tasks.Show.Output()
        output.task = retried([
            attempt(1, .failed, status: 1), attempt(2, .overrun, reason: "its budget is spent"),
        ])
        output.task.attempts?[0].endedMs = 60_000
        let answer = output
        let daemon = try FakeDaemon { $0.expect(Tasks.Show.self, reply: answer) }
        let run = try CommandRun(daemon, "show", "7")
        #expect(run.finish() == 0)
        #expect(run.output.contains("attempt\t3 of 3\n"))
        #expect(run.output.contains("waiting for\tretry, for 30s at least\n"))
        let rows = run.output.split(separator: "\n").suffix(2).map { $0.split(separator: "\t") }
        #expect(rows[0].prefix(3) == ["1", "failed", "status 1"])
        #expect(rows[0].suffix(2) == ["2s", "-"])
        #expect(rows[1].prefix(3) == ["2", "overrun", "-"])
        #expect(rows[1].suffix(2) == ["2s", "its budget is spent"])
    }

    @Test("watch tells how an attempt ended, and when the next one begins")
    func attempts() {
        #expect(
            detail(.attempt, retried([attempt(1, .failed, status: 1)]))
                == "attempt 1 of 3 failed (status 1); next in 30s")
        #expect(
            detail(.attempt, retried([attempt(1, .failed), attempt(2, .overrun)]))
                == "attempt 2 of 3 overran its limit; next in 30s")
        #expect(
            detail(.attempt, retried([attempt(1, .interrupted, reason: "the daemon stopped")]))
                == "attempt 1 of 3 was interrupted (the daemon stopped); next in 30s")
        var unknown = retried([])
        unknown.attempt = 2
        unknown.notBeforeMs = nil
        #expect(detail(.attempt, unknown) == "attempt 1 of 3 is over")
    }

    @Test("watch counts the attempts of a task that is tried again, and of no other")
    func began() {
        let budget = "3min (warning at 2min 55s, grace 5s)"
        var task = retried([attempt(1, .failed, status: 1)])
        #expect(detail(.began, task) == "attempt 2 of 3: \(budget)")
        #expect(detail(.began, Sample.task()) == budget)
        #expect(detail(.present, task) == "queued: retry, 30s")
        #expect(detail(.queued, queued("slots")) == "waiting: slots")
        task = Sample.ended(.failed, status: 1)
        task.attempt = 3
        task.attemptsMax = 3
        #expect(detail(.ended, task) == "failed after 5s, status 1, attempt 3 of 3")
    }

    @Test("run --wait ends with the last attempt's status")
    func waits() throws {
        var submitted = Tasks.Submit.Output()
        submitted.id = 7
        var end = Tasks.Wait.Output()
        end.task = Sample.ended(.failed, status: 6)
        end.task?.attempts = [attempt(1, .failed, status: 4), attempt(2, .failed, status: 5)]
        let (receipt, answer) = (submitted, end)
        let daemon = try FakeDaemon { peer in
            peer.expect(Tasks.Submit.self, reply: receipt)
            peer.expect(Tasks.Wait.self, reply: answer)
        }
        let run = try CommandRun(daemon, "run", "--wait", "--attempts", "3", "--", "true")
        #expect(run.finish() == 6)
        #expect(run.output == "7\n")
    }

    @Test("explain has several rules under each other, each with its number and its time")
    func explains() {
        let explanations = [
            ("minimumInterval", "usage succeeded 19 s ago", 600_000, 581_000),
            ("slots", "all slots are taken", 4, nil),
            ("paused", "the group uploads is paused", nil, nil),
        ].map { (rule, text, value, change) in
            var explanation = Tasks.Explanation()
            explanation.rule = rule
            explanation.text = text
            explanation.value = value
            explanation.earliestChangeMs = change
            return explanation
        }
        #expect(
            ExplanationText.lines(explanations, terminal).split(separator: "\n") == [
                "minimumInterval (10min)  usage succeeded 19 s ago; can change in 9min 41s",
                "slots (4)                all slots are taken",
                "paused                   the group uploads is paused",
            ])
        #expect(
            ExplanationText.lines(explanations, .plain).split(separator: "\n").first
                == "minimumInterval\t10min\t9min 41s\tusage succeeded 19 s ago")
    }
}
