/// Counts of times in buckets whose width grows with the time: 64 between a power of two and the next one, so
/// that a percentile is at most 1.6 % too high.
struct Histogram {
    private static let bits = 6
    private static let buckets = 1 << bits
    private let counts: UnsafeMutablePointer<UInt64>

    /// How many times were recorded.
    private(set) var total: UInt64 = 0
    /// The longest, in nanoseconds.
    private(set) var longest: UInt64 = 0

    init() {
        counts = .allocate(capacity: Self.buckets * 64)
        counts.initialize(repeating: 0, count: Self.buckets * 64)
    }

    /// - Parameter time: in nanoseconds.
    mutating func record(_ time: UInt64) {
        counts[Self.bucket(of: time)] &+= 1
        total &+= 1
        if time > longest { longest = time }
    }

    /// The time that a share of all times was not longer than, in nanoseconds; 0 where there are none.
    func percentile(_ share: Double) -> UInt64 {
        let wanted = max(1, UInt64((Double(total) * share).rounded(.up)))
        var seen: UInt64 = 0
        for bucket in 0..<(Self.buckets * 64) {
            seen += counts[bucket]
            if seen >= wanted { return min(Self.highest(in: bucket), longest) }
        }
        return 0
    }

    private static func bucket(of time: UInt64) -> Int {
        let power = 63 - (time | 1).leadingZeroBitCount
        guard power >= bits else { return Int(time) }
        let shift = power - bits
        return (shift + 1) << bits + Int(truncatingIfNeeded: time >> UInt64(shift)) & (buckets - 1)
    }

    private static func highest(in bucket: Int) -> UInt64 {
        guard bucket >= buckets else { return UInt64(bucket) }
        let shift = UInt64(bucket >> bits - 1)
        // The last bucket ends with the largest number, beyond which the sum begins at 0 again.
        return (UInt64(buckets + bucket & (buckets - 1)) + 1) << shift &- 1
    }
}
