/// Hands out ids in ascending order, never beyond what is reserved on disk.
///
/// Reserving in blocks keeps ids unique over restarts without a write for each task; what a crash leaves
/// of a block is skipped. The faster ids are taken, the larger the blocks are.
struct IdentifierSource: Sendable {
    /// How many ids are asked for at once while few are taken.
    static let blockSizeMin: UInt64 = 1 << 12
    /// The most: what 100,000 begins in a second take while a slow disk writes.
    private static let blockSizeMax: UInt64 = 1 << 20
    /// Where a block lasts for less than this, the next one is larger.
    private static let lastingMin = Duration.seconds(1)

    private var next: UInt64
    private var last: UInt64
    private var requested: UInt64
    private var blockSize = IdentifierSource.blockSizeMin
    private var requestedAt: Instant?

    init(_ range: ClosedRange<UInt64>) {
        next = max(range.lowerBound, 1)
        last = range.upperBound
        requested = last
    }

    mutating func reserved(through id: TaskID) {
        last = max(last, id.rawValue)
        requested = max(requested, last)
    }

    /// The id that was handed out last; ids above it are unused.
    var lastTaken: UInt64 { next - 1 }

    /// The disk did not take what was asked for last; it is asked for again.
    mutating func notReserved() {
        requested = last
        requestedAt = nil
    }

    /// - Returns: the next id; `nil` where the disk has not yet confirmed any more.
    mutating func take(at now: Instant, _ actions: inout [Action]) -> TaskID? {
        if requested == last, last - min(next, last) < blockSize / 4 * 3 {
            request(at: now, &actions)
        }
        guard next <= last, next < UInt64(Int64.max) else { return nil }
        defer { next += 1 }
        return TaskID(rawValue: next)
    }

    private mutating func request(at now: Instant, _ actions: inout [Action]) {
        let isTakenFast = requestedAt.map { now - $0 < IdentifierSource.lastingMin } ?? false
        blockSize =
            isTakenFast
            ? min(blockSize * 2, IdentifierSource.blockSizeMax)
            : max(blockSize / 2, IdentifierSource.blockSizeMin)
        requestedAt = now
        let (end, overflow) = last.addingReportingOverflow(blockSize)
        guard !overflow else { return }
        requested = end
        actions.append(.store(.identifiersReserved(through: TaskID(rawValue: end))))
    }
}
