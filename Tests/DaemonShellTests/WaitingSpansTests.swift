import BudgetCore
import DaemonShell
import TaskStore
import Testing

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
        #expect(spans.take(atMost: .max) == [span(1, 1, 5), span(2, 5, nil)])
        #expect(spans.isEmpty)
        #expect(spans.ended(SpanFilter()) == [span(1, 1, 5)])
        // It began when it was said to begin first.
        spans.add([span(2, 6, 9)])
        #expect(spans.ended(SpanFilter()) == [span(2, 5, 9), span(1, 1, 5)])
        spans.notWritten()
        #expect(spans.take(atMost: .max) == [span(1, 1, 5), span(2, 5, 9)])
        spans.written()
        #expect(spans.ended(SpanFilter()) == [])
        spans.notWritten()
        #expect(spans.isEmpty)
    }

    @Test("so many are taken as are asked for, the first ones, and the others wait")
    func some() {
        var spans = WaitingSpans()
        spans.add([span(3, 7, nil), span(1, 1, 5), span(2, 5, 7)])
        #expect(spans.take(atMost: 2) == [span(1, 1, 5), span(2, 5, 7)])
        #expect(spans.count == 1)
        #expect(spans.ended(SpanFilter()) == [span(2, 5, 7), span(1, 1, 5)])
        spans.notWritten()
        #expect(spans.count == 3)
        #expect(spans.take(atMost: 2).map(\.number) == [1, 2])
        spans.written()
        #expect(spans.take(atMost: 2).map(\.number) == [3])
    }

    @Test("where too many wait, who has most loses the oldest")
    func bounds() {
        var spans = WaitingSpans()
        spans.add((1...10).map { span($0, 0, 1, owner: 7) })
        let most = UInt64(WaitingSpans.countMax)
        spans.add((11...most).map { span($0, 0, 1) })
        #expect(spans.count == WaitingSpans.countMax)
        spans.add([span(most + 1, 0, 1)])
        #expect(spans.count == WaitingSpans.countLeft)
        let lost = WaitingSpans.countMax + 1 - WaitingSpans.countLeft
        #expect(spans.hasDropped && spans.droppedCount == lost)
        #expect(spans.takeDropped() == [OwnerID(rawValue: 1000): lost])
        #expect(!spans.hasDropped && spans.takeDropped() == [:] && spans.droppedCount == lost)
        let kept = spans.take(atMost: .max).map(\.number)
        let first = most + 2 - UInt64(WaitingSpans.countLeft - 10)
        #expect(kept == Array(1...10) + Array(first...most + 1))
        spans.add([span(most + 2, 0, 1)])
        spans.notWritten()
        #expect(spans.count == WaitingSpans.countLeft + 1)
    }

    @Test("two who have as many lose as many")
    func fairness() {
        var spans = WaitingSpans()
        let half = UInt64(WaitingSpans.countMax / 2)
        spans.add((1...half).map { span($0, 0, 1, owner: 7) })
        spans.add((half + 1...2 * half + 1).map { span($0, 0, 1, owner: 8) })
        let owners = spans.take(atMost: .max).map(\.key.owner.rawValue)
        #expect(owners.count == WaitingSpans.countLeft)
        #expect(owners.count { $0 == 7 } == WaitingSpans.countLeft / 2)
    }

    @Test("an account has no more for its many uids, and of those who has most loses")
    func accounts() {
        var spans = WaitingSpans()
        spans.rank(
            by: Accounts([
                Accounts.Grant(uids: 100_000...165_535, user: OwnerID(rawValue: 7))
            ]))
        let counts: [(owner: UInt32, count: UInt64)] = [(100_000, 1000), (7, 4000), (8, 3193)]
        var number: UInt64 = 0
        for (owner, count) in counts {
            spans.add((number + 1...number + count).map { span($0, 0, 1, owner: owner) })
            number += count
        }
        #expect(spans.count == WaitingSpans.countLeft)
        let owners = spans.take(atMost: .max).map(\.key.owner.rawValue)
        #expect(owners.count { $0 == 8 } == 3193)
        #expect(owners.count { $0 == 7 } == 2975)
        #expect(owners.count { $0 == 100_000 } == 1000)
        #expect(spans.takeDropped() == [OwnerID(rawValue: 7): 1025])
    }

    @Test("what is dropped is not written in its older form")
    func dropped() {
        var spans = WaitingSpans()
        spans.add([span(1, 0, nil)])
        _ = spans.take(atMost: .max)
        spans.add([span(1, 0, 4)])
        let most = UInt64(WaitingSpans.countMax)
        spans.add((2...most + 1).map { span($0, 0, 1) })
        spans.notWritten()
        #expect(!spans.take(atMost: .max).contains { $0.number == 1 })
    }
}
