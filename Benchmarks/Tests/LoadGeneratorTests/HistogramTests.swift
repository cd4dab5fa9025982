import Testing

@testable import load_generator

@Suite("The histogram of latencies")
struct HistogramTests {
    /// Times of every magnitude, always the same.
    private static var times: [UInt64] {
        var state: UInt64 = 88_172_645_463_325_252
        return (0..<20_000).map { number in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state >> UInt64(20 + number % 40)
        }
    }

    @Test(
        "tells no percentile too low, and none more than 1.6 % too high",
        arguments: [0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1])
    func percentiles(share: Double) {
        var histogram = Histogram()
        for time in Self.times { histogram.record(time) }
        let sorted = Self.times.sorted()
        let exact = sorted[Int((Double(sorted.count) * share).rounded(.up)) - 1]
        let told = histogram.percentile(share)
        #expect(told >= exact)
        #expect(Double(told) <= Double(exact) * 1.016)
    }

    @Test("keeps the longest time as it is, up to the longest that there is")
    func longest() {
        var histogram = Histogram()
        #expect(histogram.percentile(0.5) == 0)
        for time: UInt64 in [0, 1, 63, 64, .max] { histogram.record(time) }
        #expect(histogram.longest == .max)
        #expect(histogram.percentile(1) == .max)
        #expect(histogram.percentile(0.2) == 0)
        #expect(histogram.total == 5)
    }
}
