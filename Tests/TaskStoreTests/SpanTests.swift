import BudgetCore
import TaskStore
import TestKit
import Testing

@Suite("The spans of applications in the store")
struct SpanTests {
    private let folder: Folder
    private let store: TaskStore

    init() throws {
        folder = try Folder()
        store = try folder.open()
    }

    private func span(
        _ number: UInt64, _ began: Int, _ ended: Int?, owner: UInt32 = 1000, id: String = "player",
        _ state: ApplicationState = .active, reason: TerminationReason? = nil
    ) -> StoredSpan {
        StoredSpan(
            number: number, key: ApplicationKey(owner: OwnerID(rawValue: owner), id: id),
            state: state, beganAt: Samples.time(began), endedAt: ended.map(Samples.time),
            reason: reason)
    }

    private func numbers(
        _ filter: SpanFilter = SpanFilter(), through last: UInt64 = 1000
    ) throws -> [UInt64] {
        try store.historyReader().spans(filter, through: last, countMax: 10_000).spans.map(\.number)
    }

    @Test("what is written is there, with a commit or without one, and after another opening")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 1)
        var spans: [StoredSpan] = []
        for state in ApplicationState.allCases {
            for reason in TerminationReason.allCases.map(Optional.some) + [nil] {
                let number = UInt64(spans.count + 1)
                var span = span(number, 1, Int(number), id: "日本 \u{1F600} '", state)
                span.reason = reason
                if Bool.random(using: &random) { span.seenAt = Samples.time(1) }
                spans.append(span)
            }
        }
        let half = spans.count / 2
        try store.keep(Array(spans[..<half]))
        try store.apply([.groupPaused("night", true)], with: Array(spans[half...]))
        #expect(try store.historyReader().spans(countMax: 1000).spans == spans.reversed())
        try store.close()
        let again = try folder.open()
        #expect(try again.historyReader().spans(countMax: 1000).spans == spans.reversed())
        #expect(try again.endedSpanCount() == spans.count)
        #expect(try again.openSpans().numberLast == UInt64(spans.count))
        #expect(try again.openSpans().spans == [])
    }

    @Test("a span that ends is the same, begins when it was said to begin first, and counts once")
    func ends() throws {
        try store.keep([span(1, 5, nil)])
        #expect(try numbers() == [])
        #expect(try store.endedSpanCount() == 0)
        #expect(try store.openSpans().spans == [span(1, 5, nil)])
        for _ in 0..<2 { try store.keep([span(1, 6, 9)]) }
        #expect(try store.historyReader().spans(countMax: 9).spans == [span(1, 5, 9)])
        #expect(try store.endedSpanCount() == 1)
        // One that was of no length goes on after all.
        try store.keep([span(1, 5, nil)])
        #expect(try store.endedSpanCount() == 0)
    }

    @Test("the latest time of anything is that of the last sign of life")
    func seen() throws {
        #expect(try store.openSpans().seenAt == nil)
        try store.keep([span(1, 5, nil)])
        #expect(try store.openSpans().seenAt == Samples.time(5))
        try store.keep([span(2, 5, 7)])
        #expect(try store.openSpans().seenAt == Samples.time(7))
        try store.apply([
            .submitted(Samples.task(1)), .started(TaskID(rawValue: 1), at: Samples.time(20)),
        ])
        #expect(try store.openSpans().seenAt == Samples.time(20))
        try store.apply([.ended(TaskID(rawValue: 1), Samples.end(30))])
        #expect(try store.openSpans().seenAt == Samples.time(30))
    }

    @Test("they are told by owner, by application and by their end, in pages")
    func filters() throws {
        try store.keep([
            span(1, 0, 5), span(2, 0, 4, owner: 1001), span(3, 1, 9, id: "clock"),
            span(4, 2, 5, owner: 1001, id: "clock"), span(5, 5, nil),
        ])
        #expect(try numbers() == [3, 4, 1, 2])
        #expect(try numbers(SpanFilter(owner: OwnerID(rawValue: 1001))) == [4, 2])
        #expect(try numbers(SpanFilter(application: "clock")) == [3, 4])
        let both = SpanFilter(owner: OwnerID(rawValue: 1000), application: "clock")
        #expect(try numbers(both) == [3])
        #expect(try numbers(SpanFilter(since: Samples.time(5))) == [3, 4, 1])
        #expect(try numbers(through: 3) == [3, 1, 2])
        #expect(try numbers(SpanFilter(application: "' OR 1")) == [])
        var (cursor, found): (SpanCursor?, [UInt64]) = (nil, [])
        repeat {
            let page = try store.historyReader().spans(after: cursor, countMax: 1)
            found += page.spans.map(\.number)
            cursor = page.next
        } while cursor != nil
        #expect(found == [3, 4, 1, 2])
    }

    private func prune(_ bounds: HistoryBounds, at seconds: Int) throws {
        while try !store.prune(to: bounds, at: Samples.time(seconds), rowsMax: 50).isComplete {}
    }

    @Test("who has most loses the oldest where they are too many, and what goes on stays")
    func tooMany() throws {
        let flood = (1...900).map { span(UInt64($0), $0, $0 + 1) }
        let others = (901...1000).map { span(UInt64($0), $0 - 900, $0 - 899, owner: 1001) }
        try store.keep(flood + others + [span(5000, 0, nil)])
        try prune(HistoryBounds(countMax: 300, ageMax: nil), at: 1000)
        #expect(try store.endedSpanCount() == 300)
        #expect(try numbers(SpanFilter(owner: OwnerID(rawValue: 1001))).count == 100)
        let kept = try numbers(SpanFilter(owner: OwnerID(rawValue: 1000)))
        #expect(kept == (701...900).reversed().map(UInt64.init))
        #expect(try store.openSpans().spans.map(\.number) == [5000])
        try prune(HistoryBounds(countMax: 0, ageMax: nil), at: 1000)
        #expect(try numbers() == [])
        // What is counted is what another opening counts.
        try store.close()
        #expect(try folder.open().endedSpanCount() == 0)
    }

    @Test(
        "however many flood, one look for each flood keeps them within their bounds",
        arguments: UInt64(0)..<6)
    func keepsUp(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let countMax = Int.random(in: 0...500, using: &random)
        let accounts = Accounts([
            Accounts.Grant(uids: 1010...1015, user: OwnerID(rawValue: 1001))
        ])
        let bounds = HistoryBounds(
            countMax: countMax, ageMax: seed.isMultiple(of: 2) ? nil : .seconds(400),
            accounts: accounts)
        var number: UInt64 = 0
        var before = 0
        for round in 1...40 {
            // The first is before there were these bounds.
            let count = round == 1 ? 2000 : Int.random(in: 0...400, using: &random)
            let owners = UInt32.random(in: 1...20, using: &random)
            try store.keep(
                (0..<count).map { _ in
                    number += 1
                    let owner = 1000 + UInt32.random(in: 0..<owners, using: &random)
                    let ended = round * 20 + Int.random(in: 0...20, using: &random)
                    return span(number, 0, ended, owner: owner)
                })
            // A task that is too old has a step of its own, and the spans have theirs.
            let id = UInt64(round)
            try store.apply([
                .submitted(Samples.task(id)), .ended(TaskID(rawValue: id), Samples.end(1)),
            ])
            _ = try store.prune(to: bounds, at: Samples.time(round * 20 + 20), rowsMax: 10)
            let there = try store.endedSpanCount()
            #expect(there <= max(countMax, before - 64), "seed \(seed), round \(round)")
            before = round == 1 ? max(there, countMax) : there
        }
        try store.close()
        #expect(try folder.open().endedSpanCount() == before)
    }

    @Test("the same by bytes, and of equals nobody loses many more than another")
    func keepsUpByBytes() throws {
        let bounds = HistoryBounds(countMax: 1_000_000, bytesMax: 1 << 20, ageMax: nil)
        var number: UInt64 = 0
        for round in 1...20 {
            try store.keep(
                (0..<600).map { place in
                    number += 1
                    return span(number, 0, round, owner: 1000 + UInt32(place % 3))
                })
            _ = try store.prune(to: bounds, at: Samples.time(round), rowsMax: 10)
            // Each takes 140 bytes.
            #expect(try store.endedSpanCount() <= (1 << 20) / 10 / 140)
        }
        let counts = try (UInt32(1000)...1002).map {
            try numbers(SpanFilter(owner: OwnerID(rawValue: $0)), through: number).count
        }
        #expect(try #require(counts.max()) - #require(counts.min()) <= 128)
    }

    @Test("they take a tenth of what the history may take on the disk")
    func tooMuch() throws {
        let long = String(repeating: "x", count: 200)
        try store.keep((1...9000).map { span(UInt64($0), $0, $0 + 1, id: long) })
        try prune(HistoryBounds(countMax: 1_000_000, bytesMax: 1 << 20, ageMax: nil), at: 1000)
        #expect(try (150...198).contains(store.endedSpanCount()))
        #expect(try numbers(through: 1_000_000).first == 9000)
    }

    @Test("what is too old goes")
    func tooOld() throws {
        try store.keep((1...50).map { span(UInt64($0), $0 - 1, $0) })
        try prune(HistoryBounds(countMax: 1000, ageMax: .seconds(10)), at: 50)
        #expect(try numbers() == (40...50).reversed().map(UInt64.init))
    }

    @Test("a disk that takes nothing takes none of them, and commits are waited for again after it")
    func fails() throws {
        try store.keep([span(1, 0, 1)])
        try Visitor(folder.database).execute(
            "CREATE TRIGGER no BEFORE INSERT ON application_spans BEGIN SELECT RAISE(FAIL, 'no'); END"
        )
        #expect(throws: StoreError.self) { try store.keep([span(2, 1, 2), span(3, 2, 3)]) }
        #expect(throws: StoreError.self) {
            try store.apply([.groupPaused("night", true)], with: [span(2, 1, 2)])
        }
        #expect(try numbers() == [1])
        #expect(try store.pausedGroups() == [])
        #expect(try store.endedSpanCount() == 1)
        try Visitor(folder.database).execute("DROP TRIGGER no")
        try store.apply([.groupPaused("night", true)], with: [span(2, 1, 2)])
        #expect(try numbers() == [2, 1])
    }
}
