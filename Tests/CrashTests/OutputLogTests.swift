import BudgetCore
import DaemonShell
import TaskStore
import TestKit
import Testing

@Suite("What is kept of a task's output, and what that takes")
struct OutputLogTests {
    private static let mebibyte = 1 << 20
    private static let time = WallTime(microseconds: 1_700_000_000_000_000)

    private static func bytes(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }

    /// What a reader gets from a position on, and the bytes that it misses.
    private static func read(
        _ log: OutputLog, from position: Int = 0
    ) -> (text: [OutputStream: [UInt8]], dropped: Int) {
        var (position, dropped) = (position, 0)
        var text: [OutputStream: [UInt8]] = [:]
        while let piece = log.piece(at: position) {
            text[piece.stream, default: []] += piece.bytes
            dropped += piece.dropped
            position = piece.next
        }
        return (text, dropped)
    }

    @Test(
        "whatever a task prints, a mebibyte that is kept takes no fifth more",
        arguments: [1, 2, 7, 80])
    func memory(length: Int) {
        var log = OutputLog()
        let line = [UInt8](repeating: 10, count: length)[...]
        for number in 0..<3 * Self.mebibyte / length {
            log.append(
                line, of: number % 2 == 0 ? .stdout : .stderr, at: Self.time, max: Self.mebibyte)
        }
        #expect(log.memoryBytes <= Self.mebibyte * 6 / 5, "\(log.memoryBytes)")
        #expect(log.byteCount >= Self.mebibyte / 3, "\(log.byteCount)")
        let (text, dropped) = Self.read(log)
        #expect(text.values.reduce(0) { $0 + $1.count } == log.byteCount)
        #expect(dropped + log.byteCount == log.end)
    }

    @Test("of ordinary output the limit itself is kept")
    func ordinary() {
        var log = OutputLog()
        for _ in 0..<2 * Self.mebibyte / 64 {
            log.append(
                [UInt8](repeating: 65, count: 64)[...], of: .stdout, at: Self.time,
                max: Self.mebibyte)
        }
        #expect(log.byteCount == Self.mebibyte)
        log.fit()
        #expect(log.memoryBytes <= Self.mebibyte * 21 / 20, "\(log.memoryBytes)")
    }

    @Test("a little output takes little")
    func little() {
        var log = OutputLog()
        log.append(Self.bytes("hello\n"), of: .stdout, at: Self.time, max: Self.mebibyte)
        log.fit()
        #expect(log.memoryBytes < 200, "\(log.memoryBytes)")
    }

    @Test(
        "a reader gets the newest bytes of each stream, and no character is torn",
        arguments: 0..<Effort.choose(60)
    )
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let max = [0, 1, 100, 5000, 40_000].randomElement(using: &random) ?? 0
        var log = OutputLog()
        var all: [(stream: OutputStream, text: String)] = []
        for _ in 0..<Int.random(in: 1...300, using: &random) {
            let stream: OutputStream = Bool.random(using: &random) ? .stdout : .stderr
            let word = ["a", "é", "日本", "\u{1F600}", "x\n"].randomElement(using: &random) ?? ""
            let count = Int.random(in: 1...20, using: &random) * (seed % 3 == 0 ? 300 : 1)
            let text = String(repeating: word, count: count)
            log.append(Self.bytes(text), of: stream, at: Self.time, max: max)
            all.append((stream, text))
            if Int.random(in: 0..<40, using: &random) == 0 { log.fit() }
            if Int.random(in: 0..<100, using: &random) == 0 { log.forget() }
        }
        let total = all.reduce(0) { $0 + $1.text.utf8.count }
        #expect(log.end == total)
        #expect(log.byteCount <= max)
        let (text, dropped) = Self.read(log)
        #expect(
            dropped + text.values.reduce(0) { $0 + $1.count } == (log.byteCount > 0 ? total : 0))
        for stream in [OutputStream.stdout, .stderr] {
            let printed = all.filter { $0.stream == stream }.map(\.text).joined()
            let kept = String(validating: text[stream] ?? [], as: UTF8.self)
            #expect(kept.map(printed.hasSuffix) == true, "seed \(seed): \(stream)")
        }
        let stored = log.stored(of: TaskID(rawValue: 1), OwnerID(rawValue: 2))
        #expect((stored.start, stored.end) == (log.start, log.end))
        #expect(stored.chunks.allSatisfy { $0.text.count <= StoredOutput.Chunk.byteCountMax })
        let again = OutputLog(stored)
        #expect((again.start, again.end) == (log.byteCount > 0 ? log.start : log.end, log.end))
        #expect(Self.read(again, from: log.start).text == text, "seed \(seed)")
        #expect(again.stored(of: stored.task, stored.owner).chunks == stored.chunks)
    }
}
