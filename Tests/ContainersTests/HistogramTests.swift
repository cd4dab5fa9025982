import Containers
import TestKit
import Testing

@Suite("A histogram of durations")
struct HistogramTests {
    @Test("bounds grow from the first one by the factor")
    func bounds() {
        #expect(Histogram(firstBound: 125, boundCount: 4).bounds == [125, 250, 500, 1000])
        #expect(
            Histogram(firstBound: 3, bitsPerBucket: 2, boundCount: 3).bounds == [3, 12, 48])
    }

    @Test(
        "a duration is counted at the first bound that it is not above",
        arguments: [
            (Int64.min, 0), (-1, 0), (0, 0), (1, 0), (99, 0), (100, 0), (101, 1), (200, 1),
            (201, 2),
            (400, 2), (401, 3), (Int64.max, 3),
        ])
    func places(nanoseconds: Int64, bucket: Int) {
        var histogram = Histogram(firstBound: 100, boundCount: 3)
        histogram.record(nanoseconds: nanoseconds)
        #expect(histogram.counts.firstIndex(of: 1) == bucket)
        #expect(histogram.count == 1)
        #expect(histogram.sumNanoseconds == max(nanoseconds, 0))
    }

    @Test(
        "the bucket is the one that a search of the bounds finds", arguments: 0..<Effort.choose(20))
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let boundCount = Int.random(in: 1...20, using: &random)
        let bits = Int.random(in: 1...2, using: &random)
        var histogram = Histogram(
            firstBound: .random(in: 1...1_000_000, using: &random), bitsPerBucket: bits,
            boundCount: boundCount)
        var counts = Array(repeating: 0, count: boundCount + 1)
        var sum: Int64 = 0
        for _ in 0..<300 {
            let bound = histogram.bounds.randomElement(using: &random) ?? 1
            let near = bound + Int64.random(in: -2...2, using: &random)
            let far = Int64.random(in: 0...bound * 2, using: &random)
            let nanoseconds = Bool.random(using: &random) ? near : far
            histogram.record(nanoseconds: nanoseconds)
            counts[histogram.bounds.firstIndex { nanoseconds <= $0 } ?? boundCount] += 1
            sum += max(nanoseconds, 0)
        }
        #expect(histogram.counts == counts, "seed \(seed)")
        #expect(histogram.sumNanoseconds == sum, "seed \(seed)")
        #expect(histogram.count == 300)
    }

    @Test("the sum stays where it is at its end")
    func fullSum() {
        var histogram = Histogram(firstBound: 1, boundCount: 1)
        histogram.record(nanoseconds: .max - 1)
        histogram.record(nanoseconds: 5)
        #expect(histogram.sumNanoseconds == .max)
        #expect(histogram.counts == [0, 2])
    }
}
