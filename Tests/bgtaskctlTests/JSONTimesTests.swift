import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite struct JSONTimesTests {
    /// 2026-03-01T13:03:07.250Z
    private let moment = JSONTimes(now: 1_772_370_187_250)

    private func value(_ task: Tasks.Task) throws -> JSONValue {
        try JSONDocument(parsing: JSONLine.text(task, moment).utf8).value()
    }

    @Test("the age of a task is the time since its begin, or since its submission while it waits")
    func ages() throws {
        let running = try value(Sample.task())
        #expect(running["begunAt"] == .string("2026-03-01T13:03:02.250Z"))
        #expect(running["submittedAt"] == nil)
        let queued = try value(
            Sample.task {
                $0.state = .queued
                $0.notBeforeMs = 60_000
            })
        #expect(queued["submittedAt"] == .string("2026-03-01T13:03:02.250Z"))
        #expect(queued["notBefore"] == .string("2026-03-01T13:04:07.250Z"))
        #expect(queued["begunAt"] == nil)
    }

    @Test("the age of one that has ended is the time up to its end")
    func ends() throws {
        let ended = try value(
            Sample.task {
                $0.state = .ended
                $0.outcome = .completed
                $0.endedMs = 2000
                var attempt = Tasks.Attempt()
                attempt.endedMs = 1
                $0.attempts = [attempt]
            })
        #expect(ended["endedAt"] == .string("2026-03-01T13:03:05.250Z"))
        #expect(ended["begunAt"] == .string("2026-03-01T13:03:00.250Z"))
        guard case .array(let attempts)? = ended["attempts"] else {
            Issue.record("no attempts")
            return
        }
        #expect(attempts.first?["endedAt"] == .string("2026-03-01T13:03:07.249Z"))
        let cancelled = try value(
            Sample.task {
                $0.state = .ended
                $0.outcome = .cancelled
                $0.endedMs = 2000
                $0.usedMs = 0
            })
        #expect(cancelled["submittedAt"] == .string("2026-03-01T13:03:00.250Z"))
        #expect(cancelled["begunAt"] == nil)
    }

    @Test(
        "a daemon that tells when a task was submitted, started and warned is believed, each once")
    func told() throws {
        let text = JSONLine.text(
            Sample.task {
                $0.state = .ended
                $0.outcome = .expired
                ($0.submittedMs, $0.startedMs, $0.warnedMs) = (9000, 8000, 3000)
                ($0.ageMs, $0.endedMs) = (6000, 2000)
            }, moment)
        let expected = [
            ("submittedAt", "2026-03-01T13:02:58.250Z"), ("begunAt", "2026-03-01T13:02:59.250Z"),
            ("warnedAt", "2026-03-01T13:03:04.250Z"), ("endedAt", "2026-03-01T13:03:05.250Z"),
        ]
        for (name, time) in expected {
            #expect(text.split(separator: "\"\(name)\":").count == 2, "\(text)")
            #expect(text.contains("\"\(name)\":\"\(time)\""), "\(text)")
        }
    }

    @Test("the point in time stands behind the member that it explains, and all else as it was")
    func places() {
        var receipt = Tasks.Submit.Output()
        receipt.id = 7
        receipt.notBeforeMs = 1000
        #expect(
            JSONLine.text(receipt, moment)
                == #"{"id":7,"receipt":"accepted","notBeforeMs":1000,"#
                + #""notBefore":"2026-03-01T13:03:08.250Z"}"# + "\n")
        let task = Sample.task()
        let whole = JSONLine.text(task, moment)
        #expect(timeless(whole) == task.text)
    }

    @Test("an explanation and an application have theirs, and an event has when it came")
    func others() {
        var explanation = Tasks.Explanation()
        explanation.earliestChangeMs = 750
        #expect(
            JSONLine.text(explanation, moment)
                .contains(#""earliestChange":"2026-03-01T13:03:08.000Z""#))
        let application = Sample.application { $0.lastTermination = Sample.termination(.exited) }
        let line = JSONLine.text(application, moment)
        #expect(line.contains(#""backgroundSince":"2026-03-01T13:03:02.250Z""#))
        #expect(line.contains(#""endedAt":"2026-03-01T13:00:07.250Z""#))
        let event = JSONLine.event(Sample.event(.began, Sample.task()), moment)
        #expect(event.hasSuffix(#","at":"2026-03-01T13:03:07.250Z"}"# + "\n"))
        #expect(event.contains(#""begunAt":"2026-03-01T13:03:02.250Z""#))
    }

    @Test("a message of somebody else stays as it is")
    func payload() {
        let payload = JSONValue.object([("endedMs", .integer(5)), ("x", .number(0.5))])
        let event = Sample.transition(1, .active, .background) {
            $0.payload = payload
            $0.backgroundMs = 1000
        }
        #expect(JSONLine.text(event, moment) == event.text)
    }

    @Test("a time that no calendar has is left out", arguments: [Int.max, .min, 1 << 60])
    func bounds(milliseconds: Int) {
        let task = Sample.task {
            $0.state = .ended
            $0.outcome = .completed
            $0.ageMs = milliseconds
            $0.endedMs = milliseconds
        }
        #expect(JSONLine.text(task, moment) == task.text)
    }

    @Test(
        "a point in time is in UTC, with its milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_007, "2000-02-29T00:00:00.007Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (253_402_300_800_000, nil),
            (-1, nil),
        ] as [(Int, String?)])
    func utc(moment: Int, text: String?) {
        #expect(WallClock.utc(moment) == text)
    }
}

extension Message {
    /// The message as it is on the wire, on a line.
    fileprivate var text: String {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.text + "\n"
    }
}
