import TaskAPI
import Testing
import TaskControl

@Suite struct TimeTextTests {
    @Test(
        "a span is as exact as somebody wants to know",
        arguments: [
            (-5, "0s"), (0, "0s"), (1, "1ms"), (99, "99ms"), (343, "340ms"), (994, "990ms"),
            (999, "1s"), (1000, "1s"), (4200, "4.2s"),
            (4249, "4.2s"), (9949, "9.9s"), (9950, "10s"), (59_499, "59s"), (59_500, "1min"),
            (174_600, "2min 55s"), (180_000, "3min"), (3_599_500, "1h"), (3_905_000, "1h 5min"),
            (86_399_000, "23h 59min"), (266_400_000, "3d 2h"),
        ])
    func span(milliseconds: Int, text: String) {
        #expect(TimeText.span(milliseconds) == text)
    }

    @Test("the longest span does not trap")
    func longest() {
        #expect(TimeText.span(.max).hasSuffix("h") || TimeText.span(.max).hasSuffix("d"))
    }

    @Test("remaining time names the handler, the limit and what sets them")
    func remaining() {
        let left = Sample.remaining(ms: 175_000, hardMs: 180_000, .ownBudget)
        #expect(
            TimeText.remaining(left)
                == "2min 55s until the warning, 3min until the limit (own budget)")
        let fired = Sample.remaining(ms: 0, hardMs: 4200, .lifetimeLimit)
        #expect(
            TimeText.remaining(fired)
                == "warned, 4.2s until the limit (lifetime limit)")
    }

    @Test("no limit is said as such")
    func unlimited() {
        #expect(TimeText.remaining(Tasks.Remaining()) == "no limit")
        #expect(TimeText.budget(nil) == "no limit")
        #expect(TimeText.left(Sample.task { $0.remaining = Tasks.Remaining() }) == "no limit")
    }

    @Test("a budget says when its handler fires")
    func budget() {
        #expect(
            TimeText.budget(Sample.budget(180_000, 5000))
                == "3min (warning at 2min 55s, grace 5s)")
    }
}
