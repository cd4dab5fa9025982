internal import BudgetCore
internal import TaskStore

/// Spans of applications on their way to the disk. Where they are too many, as while the disk takes nothing, the owner
/// who has most loses the oldest.
struct WaitingSpans: Sendable {
    /// How many wait at most.
    static let countMax = 8192

    private var spans: [UInt64: StoredSpan] = [:]
    private var counts: [OwnerID: Int] = [:]
    /// Those that are being written.
    private var underWay: [UInt64: StoredSpan] = [:]
    /// When those began that go on, as it was told first: the one before ended then.
    private var begins: [UInt64: WallTime] = [:]

    var isEmpty: Bool { spans.isEmpty }
    var count: Int { spans.count }

    /// Takes spans, each in the place of what was to be written of it before.
    mutating func add(_ more: [StoredSpan]) {
        for span in more { put(span) }
        while spans.count > WaitingSpans.countMax { dropOldest() }
    }

    /// All that wait, in the order of their numbers; they are being written until `written` or `notWritten`.
    mutating func take() -> [StoredSpan] {
        underWay = spans
        (spans, counts) = ([:], [:])
        return underWay.values.sorted { $0.number < $1.number }
    }

    /// What was taken is on disk.
    mutating func written() { underWay = [:] }

    /// What was taken is not on disk, and waits again, where nothing newer is known of it.
    mutating func notWritten() {
        let before = underWay
        underWay = [:]
        for (number, span) in before where spans[number] == nil { put(span) }
        while spans.count > WaitingSpans.countMax { dropOldest() }
    }

    /// Those that have ended and are not on disk, of these; the newest end first.
    func ended(_ filter: SpanFilter) -> [StoredSpan] {
        underWay.merging(spans) { _, newer in newer }.values.filter(filter.includes).sorted {
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

    private mutating func dropOldest() {
        let most = counts.max { ($0.value, $0.key) < ($1.value, $1.key) }
        guard let owner = most?.key,
            let number = spans.values.lazy.filter({ $0.key.owner == owner }).map(\.number).min()
        else { return }
        spans[number] = nil
        counts[owner] = counts[owner].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}
