import BudgetCore
import TaskStore
import TestKit
import Testing

@Suite("When output was printed")
struct OutputTimesTests {
    private static func time(_ milliseconds: Int64) -> WallTime {
        WallTime(microseconds: 1_700_000_000_000_000 + milliseconds * 1000)
    }

    @Test(
        "what was printed since a time is always found, and in the first minutes at most two seconds more",
        arguments: 0..<Effort.choose(60, 1000))
    func since(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var times = OutputTimes()
        var printed: [(position: Int, at: Int64)] = []
        var (position, now): (Int, Int64) = (0, 0)
        let pauses: [Int64] = [5, 900, 30_000]
        let pause: Int64 = pauses.randomElement(using: &random) ?? 5
        for _ in 0..<Int.random(in: 1...3000, using: &random) {
            now += Int64.random(in: 0...pause, using: &random)
            times.note(position, at: Self.time(now))
            printed.append((position, now))
            position += Int.random(in: 1...100, using: &random)
        }
        let again = try #require(OutputTimes(bytes: times.bytes))
        #expect(again == times)
        #expect(times.bytes.count <= 8 + 16 * 256)
        for _ in 0..<50 {
            let since = Int64.random(in: -5000...now + 5000, using: &random)
            let first = printed.first { $0.at > since }?.position
            let found = times.position(since: Self.time(since))
            if let first { #expect(try #require(found) <= first, "seed \(seed)") }
            // As long as no mark was dropped.
            guard now < 256_000, let found else { continue }
            let early = try #require(printed.first { $0.at > since - 2000 }?.position)
            #expect(found >= early, "seed \(seed)")
        }
    }

    @Test("a clock that is set back loses nothing")
    func setBack() {
        var times = OutputTimes()
        times.note(0, at: Self.time(1_000_000))
        times.note(10, at: Self.time(0))
        times.note(20, at: Self.time(5000))
        #expect(times.position(since: Self.time(4000)) == 0)
        #expect(times.position(since: Self.time(2_000_000)) == nil)
    }

    @Test("a clock that falls all the time takes no more marks, and no span overflows")
    func falling() {
        var times = OutputTimes()
        for number in 0..<5000 { times.note(number, at: Self.time(Int64(-number) * 1000)) }
        #expect(times.bytes.count <= 8 + 16 * 256)
        #expect(OutputTimes(bytes: times.bytes) == times)
        #expect(times.position(since: Self.time(-10_000_000)) == 0)
    }

    @Test("bytes that make no sense are refused")
    func senseless() {
        var times = OutputTimes()
        times.note(7, at: Self.time(0))
        let good = times.bytes
        #expect(OutputTimes(bytes: good) == times)
        #expect(OutputTimes(bytes: Array(good.dropLast())) == nil)
        #expect(OutputTimes(bytes: []) == nil)
        #expect(OutputTimes(bytes: [UInt8](repeating: 0, count: 8)) == nil)
        #expect(OutputTimes(bytes: [UInt8](repeating: 255, count: 24)) == nil)
        #expect(OutputTimes(bytes: good + good.dropFirst(8).map { _ in 255 }) == nil)
        #expect(OutputTimes(bytes: good + [UInt8](repeating: 0, count: 16 * 256)) == nil)
    }
}
