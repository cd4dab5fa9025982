import BudgetCore
import Testing

@Suite("The spans of time in which applications were in one state")
struct SpanLogTests {
    private let key = ApplicationKey(owner: Clerk.ann.owner, id: "player")
    private let other = ApplicationKey(owner: Clerk.bob.owner, id: "player")

    private func boot(_ seconds: Int64) -> BootInstant {
        BootInstant(nanoseconds: seconds * 1_000_000_000)
    }

    private func span(
        _ number: UInt64, _ state: ApplicationState, _ began: Int64, _ ended: Int64? = nil,
        reason: TerminationReason? = nil, seen: Int64? = nil
    ) -> ApplicationSpan {
        ApplicationSpan(
            number: number, key: key, state: state, beganAt: boot(began), reason: reason,
            endedAt: ended.map(boot), seenAt: seen.map(boot))
    }

    @Test("each state is a span, and what was taken is not told again until it ends")
    func course() {
        var log = SpanLog()
        log.begin(key, .notRunning, at: boot(1))
        log.move(key, to: .active, reason: nil, at: boot(2))
        #expect(log.take() == [span(1, .notRunning, 1, 2), span(2, .active, 2)])
        #expect(log.take() == [])
        log.move(key, to: .active, reason: nil, at: boot(3))
        #expect(log.take() == [])
        log.move(key, to: .notRunning, reason: .crashed, at: boot(4))
        #expect(
            log.take() == [span(2, .active, 2, 4), span(3, .notRunning, 4, reason: .crashed)])
        log.end(key, at: boot(9))
        #expect(log.take() == [span(3, .notRunning, 4, 9, reason: .crashed)])
        #expect(log[key] == nil)
        log.end(key, at: boot(10))
        log.move(key, to: .active, reason: nil, at: boot(10))
        #expect(log.take() == [])
    }

    @Test("a state of no length has no span, and the one before goes on where it is back at once")
    func noLength() {
        var log = SpanLog()
        log.begin(key, .notRunning, at: boot(1))
        log.move(key, to: .active, reason: nil, at: boot(1))
        #expect(log.take() == [span(1, .active, 1)])
        for _ in 0..<100 {
            log.move(key, to: .background, reason: nil, at: boot(2))
            log.move(key, to: .active, reason: nil, at: boot(2))
        }
        #expect(log.take() == [span(1, .active, 1)])
        log.move(key, to: .background, reason: nil, at: boot(3))
        // The disk has it by now.
        #expect(log.take().count == 2)
        log.move(key, to: .active, reason: nil, at: boot(3))
        #expect(log.take().map(\.state) == [.active])
        log.move(key, to: .background, reason: nil, at: boot(4))
        log.move(key, to: .suspended, reason: nil, at: boot(4))
        let last = log.take()
        #expect(last.map(\.state) == [.active, .suspended])
        #expect(last.map(\.endedAt) == [boot(4), nil])
    }

    @Test("a run of no length is told by how it ended")
    func noRun() {
        var log = SpanLog()
        log.begin(key, .notRunning, at: boot(1))
        _ = log.take()
        log.move(key, to: .active, reason: nil, at: boot(2))
        log.move(key, to: .notRunning, reason: .crashed, at: boot(2))
        #expect(
            log.take() == [span(1, .notRunning, 1, 2), span(2, .notRunning, 2, reason: .crashed)])
    }

    @Test("what went on under a daemon that was killed is cut, and says when it was last seen")
    func crash() {
        var log = SpanLog()
        log.restore(
            RestoredSpans(open: [span(7, .active, -5)], numberLast: 9, seenAt: boot(-2)))
        log.resume(key, wasRunning: true, nil, seenAt: boot(-2), at: boot(3))
        #expect(
            log.take() == [
                span(7, .active, -5, 3, seen: -2), span(10, .notRunning, 3, reason: .interrupted),
            ])
    }

    @Test("one that did not run goes on over a restart, and one whose end the disk knew ends then")
    func restart() {
        var log = SpanLog()
        let found = RestoredSpans(open: [span(7, .notRunning, -5)], numberLast: 7, seenAt: boot(9))
        log.restore(found)
        log.resume(key, wasRunning: false, nil, seenAt: found.seenAt, at: boot(3))
        #expect(log.take() == [])
        #expect(log[key] == span(7, .notRunning, -5))

        let last = Termination(reason: .exited, endedAt: boot(1))
        log = SpanLog()
        log.restore(RestoredSpans(open: [span(7, .active, -5)], numberLast: 7, seenAt: boot(9)))
        log.resume(key, wasRunning: false, last, seenAt: boot(9), at: boot(3))
        #expect(
            log.take() == [span(7, .active, -5, 1), span(8, .notRunning, 1, reason: .exited)])
    }

    @Test("of an application of which no span is on disk it is known since when it does not run")
    func unknown() {
        var log = SpanLog()
        let last = Termination(reason: .memoryPressure, endedAt: boot(-40))
        log.resume(key, wasRunning: false, last, seenAt: nil, at: boot(3))
        #expect(log.take() == [span(1, .notRunning, -40, reason: .memoryPressure)])
        log = SpanLog()
        log.resume(key, wasRunning: false, nil, seenAt: nil, at: boot(3))
        #expect(log.take() == [span(1, .notRunning, 3)])
        // It ran when the daemon was lost, which is no part of the time since the run before.
        log = SpanLog()
        log.resume(key, wasRunning: true, last, seenAt: nil, at: boot(3))
        #expect(log.take() == [span(1, .notRunning, 3, reason: .interrupted)])
    }

    @Test("times that cannot be, as after the clock was set back, are none of a span")
    func clocks() {
        var log = SpanLog()
        log.restore(RestoredSpans(open: [span(7, .active, 8)], numberLast: 7, seenAt: boot(1)))
        log.resume(key, wasRunning: true, nil, seenAt: boot(1), at: boot(5))
        let cut = log.take()[0]
        #expect(cut.endedAt == boot(8) && cut.seenAt == boot(5))
        log = SpanLog()
        let last = Termination(reason: .exited, endedAt: boot(90))
        log.restore(RestoredSpans(open: [span(7, .active, 2)], numberLast: 7, seenAt: boot(99)))
        log.resume(key, wasRunning: false, last, seenAt: boot(99), at: boot(5))
        #expect(log.take().map(\.endedAt) == [boot(5), nil])
    }

    @Test("of several of an application the last goes on, and those of nobody are cut")
    func several() {
        var log = SpanLog()
        let foreign = ApplicationSpan(number: 6, key: other, state: .active, beganAt: boot(2))
        let ended = ApplicationSpan(
            number: 6, key: other, state: .active, beganAt: boot(2), endedAt: boot(5),
            seenAt: boot(4))
        log.restore(
            RestoredSpans(
                open: [span(4, .active, 1), foreign, span(7, .notRunning, 3)], numberLast: 7,
                seenAt: boot(4)))
        log.resume(key, wasRunning: false, nil, seenAt: boot(4), at: boot(5))
        log.cut(seenAt: boot(4), at: boot(5)) { $0 == key }
        #expect(log.take() == [span(4, .active, 1, 3, seen: 1), ended])
        #expect(log[key]?.number == 7)
        #expect(log[other] == nil)
    }
}
