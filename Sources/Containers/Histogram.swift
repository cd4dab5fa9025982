/// Counts durations in buckets whose upper bounds grow by a fixed factor, for a percentile to be estimated of.
///
/// The buckets are fixed when it is made, so that recording looks up the highest bit of a number, adds to two others,
/// and takes no memory. A duration that is one of the bounds is counted below it, as Prometheus wants it.
package struct Histogram: Equatable, Sendable {
    /// The bounds: the first one, and by how many bits each is above the one before.
    private let firstBound: Int64
    private let bitsPerBucket: Int
    /// How many durations are in each bucket; in the last one those above all bounds.
    package private(set) var counts: [Int]
    /// What all durations make together, in nanoseconds; no more than there can be.
    package private(set) var sumNanoseconds: Int64 = 0

    /// - Parameters:
    ///   - firstBound: the lowest of the bounds, in nanoseconds.
    ///   - bitsPerBucket: 1 doubles from bound to bound, 2 makes four times as much.
    ///   - boundCount: how many bounds there are; the last is below 292 years.
    package init(firstBound: Int64, bitsPerBucket: Int = 1, boundCount: Int) {
        self.firstBound = max(firstBound, 1)
        self.bitsPerBucket = max(bitsPerBucket, 1)
        counts = Array(repeating: 0, count: max(boundCount, 0) + 1)
    }

    /// The upper bounds of all buckets but the last, in nanoseconds.
    package var bounds: [Int64] {
        (0..<counts.count - 1).map { firstBound << ($0 * bitsPerBucket) }
    }

    /// How many durations were recorded.
    package var count: Int { counts.reduce(0, +) }

    /// Records a duration in nanoseconds; one that is negative counts as none.
    package mutating func record(nanoseconds: Int64) {
        let nanoseconds = max(nanoseconds, 0)
        // The lowest power of two that, times the first bound, is no less.
        let whole = UInt64(max(nanoseconds, 1) - 1) / UInt64(firstBound)
        let bits = UInt64.bitWidth - whole.leadingZeroBitCount
        let bucket = (bits + bitsPerBucket - 1) / bitsPerBucket
        counts[min(bucket, counts.count - 1)] += 1
        let (sum, overflow) = sumNanoseconds.addingReportingOverflow(nanoseconds)
        sumNanoseconds = overflow ? .max : sum
    }
}
