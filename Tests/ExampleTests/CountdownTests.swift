import TaskAPI
import Testing

@Suite("The example countdown", .timeLimit(.minutes(15)))
struct CountdownTests {
    @Test(
        "it stays right over a time away, in which it does not run",
        arguments: Language.allCases, ["auto", "supervisor"])
    func away(language: Language, containment: String) throws {
        let example = try LaunchedExample("countdown", language, containment) { _ in [] }
        #expect(try example.lines.next(2) == ["5:00", "4:59"])

        let leaves = ContinuousClock.now
        try example.order(Applications.EnterBackground.self)
        var line = try example.lines.next()
        // A slow machine may have got further before it left.
        while !line.hasPrefix("leaves with ") { line = try example.lines.next() }
        let left = try milliseconds(line)
        #expect((0...299_000).contains(left))
        try example.suspend()
        #expect(try example.present.frozen)
        let frozen = ContinuousClock.now

        let returns = ContinuousClock.now
        try example.order(Applications.Activate.self)
        let event = try example.wait { $0.callback == .willEnterForeground }
        let away = try milliseconds(example.lines.next())
        if language == .python {
            #expect(away == event.backgroundMs)
        } else {
            // UIKit tells nobody how long that was: it looks at its own clock.
            #expect(.milliseconds(away) <= leaves.duration(to: .now))
            #expect(.milliseconds(away + 1) >= frozen.duration(to: returns))
        }
        let back = try milliseconds(example.lines.next())
        #expect(back == left - away)
        // From there on at whole seconds again.
        #expect(try milliseconds(example.lines.next()) == (back - 1) / 1000 * 1000)
    }

    @Test("it says so when the time is over, and ends", arguments: Language.allCases)
    func over(language: Language) throws {
        let example = try LaunchedExample("countdown", language, "auto") { _ in ["1"] }
        #expect(try example.lines.next(3) == ["0:01", "0:00", "the time is over"])
        try example.wait { $0.state == .notRunning && $0.previous == .active }
        let termination = try example.present.lastTermination
        #expect(termination?.reason == .exited)
        #expect(termination?.status == 0)
    }

    /// The time that ends a line.
    private func milliseconds(_ line: String) throws -> Int {
        let time = try #require(line.split(separator: " ").last)
        let parts = time.split { ":.".contains($0) }
        let numbers = try parts.map { try #require(Int($0)) }
        try #require((2...3).contains(numbers.count), "\(line)")
        return numbers[0] * 60_000 + numbers[1] * 1000 + (numbers.count == 3 ? numbers[2] : 0)
    }
}
