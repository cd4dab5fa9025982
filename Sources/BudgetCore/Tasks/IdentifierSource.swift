/// Hands out ids in ascending order, never beyond what is reserved on disk.
///
/// Reserving in blocks keeps ids unique over restarts without a write for each task; what a crash leaves
/// of a block is skipped.
struct IdentifierSource: Sendable {
    /// How many ids are asked for at once.
    static let blockSize: UInt64 = 1 << 20

    private var next: UInt64
    private var last: UInt64
    private var requested: UInt64

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
    }

    /// - Returns: the next id; `nil` where the disk has not yet confirmed any more.
    mutating func take(_ actions: inout [Action]) -> TaskID? {
        if requested == last, last - min(next, last) < IdentifierSource.blockSize / 2 {
            let (end, overflow) = last.addingReportingOverflow(IdentifierSource.blockSize)
            if !overflow {
                requested = end
                actions.append(.store(.identifiersReserved(through: TaskID(rawValue: end))))
            }
        }
        guard next <= last, next < UInt64(Int64.max) else { return nil }
        defer { next += 1 }
        return TaskID(rawValue: next)
    }
}
