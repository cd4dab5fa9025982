import BudgetCore
import TaskStore
import Testing

@testable import DaemonShell

@Suite("Spans of applications on their way to the disk")
struct WaitingSpansTests {
    private func span(
        _ number: UInt64, _ began: Int64, _ ended: Int64?, owner: UInt32 = 1000
    ) -> StoredSpan {
        StoredSpan(
            number: number, key: ApplicationKey(owner: OwnerID(rawValue: owner), id: "player"),
            state: .active, beganAt: WallTime(microseconds: began),
            endedAt: ended.map(WallTime.init(microseconds:)))
    }

    @Test("what was written is told no more, and what was not waits again, but for what is newer")
    func writes() {
        var spans = WaitingSpans()
        spans.add([span(2, 5, nil), span(1, 1, 5)])
        #expect(spans.take() == [span(1, 1, 5), span(2, 5, nil)])
        #expect(spans.isEmpty)
        #expect(spans.ended(SpanFilter()) == [span(1, 1, 5)])
        // It began when it was said to begin first.
        spans.add([span(2, 6, 9)])
        #expect(spans.ended(SpanFilter()) == [span(2, 5, 9), span(1, 1, 5)])
        spans.notWritten()
        #expect(spans.take() == [span(1, 1, 5), span(2, 5, 9)])
        spans.written()
        #expect(spans.ended(SpanFilter()) == [])
        spans.notWritten()
        #expect(spans.isEmpty)
    }

    @Test("where too many wait, who has most loses the oldest")
    func bounds() {
        var spans = WaitingSpans()
        spans.add((1...10).map { span($0, 0, 1, owner: 7) })
        let most = UInt64(WaitingSpans.countMax)
        spans.add((11...most + 20).map { span($0, 0, 1) })
        #expect(spans.count == WaitingSpans.countMax)
        let kept = spans.take().map(\.number)
        #expect(kept == Array(1...10) + Array(31...most + 20))
        spans.add([span(most + 21, 0, 1)])
        spans.notWritten()
        #expect(spans.count == WaitingSpans.countMax)
    }
}
