package import BudgetCore
package import TaskStore

/// Spans of applications on their way to the disk. Where they are too many, as while the disk takes nothing, the account
/// that has most loses the oldest, of those of its uids that have most.
package struct WaitingSpans: Sendable {
    /// How many wait at most, and how many are left where some have to go.
    package static let (countMax, countLeft) = (8192, 7168)

    private var spans: [UInt64: StoredSpan] = [:]
    private var counts: [OwnerID: Int] = [:]
    /// Which account each owner's count for.
    private var accounts = Accounts()
    /// Those that are being written.
    private var underWay: [UInt64: StoredSpan] = [:]
    /// What has been dropped, by the account that it counts for, and is not told yet.
    private var dropped: [OwnerID: Int] = [:]
    /// How many have been dropped.
    package private(set) var droppedCount = 0
    /// When those began that go on, as it was told first: the one before ended then.
    private var begins: [UInt64: WallTime] = [:]

    package init() {}

    package var isEmpty: Bool { spans.isEmpty }
    package var count: Int { spans.count }
    /// Whether something has been dropped that is not told yet.
    package var hasDropped: Bool { !dropped.isEmpty }

    /// Goes by these accounts from now on.
    package mutating func rank(by accounts: Accounts) { self.accounts = accounts }

    /// Takes spans, each in the place of what was to be written of it before.
    package mutating func add(_ more: [StoredSpan]) {
        for span in more { put(span) }
        if spans.count > WaitingSpans.countMax { dropOldest() }
    }

    /// Those that wait, in the order of their numbers, so many at most; they are being written until `written` or
    /// `notWritten`.
    package mutating func take(atMost countMax: Int) -> [StoredSpan] {
        guard spans.count > countMax else {
            underWay = spans
            (spans, counts) = ([:], [:])
            return underWay.values.sorted { $0.number < $1.number }
        }
        let numbers = spans.keys.sorted().prefix(countMax)
        return numbers.compactMap { number in
            let span = remove(number)
            underWay[number] = span
            return span
        }
    }

    /// What was taken is on disk.
    package mutating func written() { underWay = [:] }

    /// What was taken is not on disk, and waits again, where nothing newer is known of it.
    package mutating func notWritten() {
        let before = underWay
        underWay = [:]
        for (number, span) in before where spans[number] == nil { put(span) }
        if spans.count > WaitingSpans.countMax { dropOldest() }
    }

    /// How many have been dropped since this was last called, by account.
    package mutating func takeDropped() -> [OwnerID: Int] {
        defer { dropped = [:] }
        return dropped
    }

    /// Those that have ended and are not on disk, of these; the newest end first.
    package func ended(_ filter: SpanFilter) -> [StoredSpan] {
        let older = underWay.values.lazy.filter { [spans] in
            spans[$0.number] == nil && filter.includes($0)
        }
        return (spans.values.filter(filter.includes) + older).sorted {
            ($0.endedAt?.microseconds ?? 0, $0.number) > ($1.endedAt?.microseconds ?? 0, $1.number)
        }
    }

    private mutating func put(_ span: StoredSpan) {
        var span = span
        span.beganAt = begins[span.number] ?? span.beganAt
        begins[span.number] = span.endedAt == nil ? span.beganAt : nil
        if spans.updateValue(span, forKey: span.number) == nil {
            counts[span.key.owner, default: 0] += 1
        }
    }

    private mutating func remove(_ number: UInt64) -> StoredSpan? {
        guard let span = spans.removeValue(forKey: number) else { return nil }
        counts[span.key.owner] = counts[span.key.owner].flatMap { $0 > 1 ? $0 - 1 : nil }
        return span
    }

    /// Leaves `countLeft`: who has more than the others loses the oldest, until nobody who lost some has more than
    /// another one of them.
    private mutating func dropOldest() {
        let limits = limits()
        var numbers: [OwnerID: [UInt64]] = [:]
        for span in spans.values where limits[span.key.owner] != nil {
            numbers[span.key.owner, default: []].append(span.number)
        }
        for (owner, owned) in numbers {
            let oldest = owned.sorted().dropLast(limits[owner] ?? 0)
            dropped[accounts.account(of: owner), default: 0] += oldest.count
            droppedCount += oldest.count
            for number in oldest {
                _ = remove(number)
                begins[number] = nil
                // What is older of it is not to be written in its place.
                underWay[number] = nil
            }
        }
    }

    /// How many of theirs those owners keep who have too many.
    private func limits() -> [OwnerID: Int] {
        let members = Dictionary(grouping: counts.keys, by: accounts.account(of:))
        func count(_ owners: [OwnerID]) -> Int {
            owners.reduce(0) { $0 + counts[$1, default: 0] }
        }
        let share = WaitingSpans.share(
            of: WaitingSpans.countLeft, among: members.values.map(count))
        var limits: [OwnerID: Int] = [:]
        for owners in members.values where count(owners) > share {
            let own = WaitingSpans.share(of: share, among: owners.map { counts[$0, default: 0] })
            for owner in owners where counts[owner, default: 0] > own { limits[owner] = own }
        }
        return limits
    }

    /// What each may keep at most, so that those who have so many keep no more than `left` together.
    private static func share(of left: Int, among counts: [Int]) -> Int {
        var left = left
        for (index, count) in counts.sorted().enumerated() {
            let share = left / (counts.count - index)
            guard count <= share else { return share }
            left -= count
        }
        return .max
    }
}
