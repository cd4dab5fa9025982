/// When which part of a task's output was printed, as exactly as a bounded number of marks can tell.
///
/// What is printed within `span` of a mark has no mark of its own. Where marks become too many, those are dropped that
/// come within twice that time of the one before them, so that the last minutes of a long task are told less exactly
/// than the whole of a short one.
package struct OutputTimes: Equatable, Sendable {
    private struct Mark: Equatable {
        let position: Int
        let time: WallTime
    }

    private var marks: [Mark] = []
    /// In microseconds.
    private var span = OutputTimes.spanLeast

    /// A second.
    private static let spanLeast: Int64 = 1_000_000
    /// Longer than any task; what it is doubled to overflows nothing.
    private static let spanMost: Int64 = 1 << 52
    private static let marksMax = 256

    package init() {}

    package var memoryBytes: Int { marks.capacity * MemoryLayout<Mark>.stride }

    /// Something is printed.
    ///
    /// - Parameter position: that of its first byte, which is behind all before it.
    package mutating func note(_ position: Int, at time: WallTime) {
        if let last = marks.last, !isBeyond(span, time, from: last) { return }
        if marks.count == OutputTimes.marksMax { thin() }
        marks.append(Mark(position: position, time: time))
    }

    /// Where the first byte is that was printed at this time or later, or some time before it: `span` at most, and as
    /// much again where marks were dropped. `nil`: all was printed earlier.
    package func position(since time: WallTime) -> Int? {
        let earliest = time.earlier(by: .microseconds(2 * span))
        return marks.first { $0.time > earliest }?.position
    }

    /// Takes no more room than it needs.
    package mutating func fit() { marks = marks.withUnsafeBufferPointer { Array($0) } }

    private mutating func thin() {
        while marks.count > OutputTimes.marksMax * 3 / 4 {
            guard span < OutputTimes.spanMost else {
                // A clock that falls all the time; no span ever drops such marks.
                marks = marks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
                continue
            }
            span *= 2
            var kept: [Mark] = []
            for mark in marks where kept.last.map({ isBeyond(span, mark.time, from: $0) }) ?? true {
                kept.append(mark)
            }
            marks = kept
        }
    }

    /// A clock that was set back is as good as one that has gone on.
    private func isBeyond(_ span: Int64, _ time: WallTime, from mark: Mark) -> Bool {
        let (passed, overflow) = time.microseconds.subtractingReportingOverflow(
            mark.time.microseconds)
        return overflow || passed >= span || passed < 0
    }
}

// As the disk has them: the span, then the marks, each number in eight bytes.
extension OutputTimes {
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ number: Int64) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
        add(span)
        for mark in marks {
            add(Int64(mark.position))
            add(mark.time.microseconds)
        }
        return bytes
    }

    /// `nil` where they make no sense.
    package init?(bytes: [UInt8]) {
        guard bytes.count % 16 == 8, bytes.count <= 8 + 16 * OutputTimes.marksMax else {
            return nil
        }
        let numbers = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        span = numbers[0]
        guard span >= OutputTimes.spanLeast, span <= Int64.max / 4 else { return nil }
        for index in stride(from: 1, to: numbers.count, by: 2) {
            let position = Int(numbers[index])
            guard position >= marks.last?.position ?? 0 else { return nil }
            marks.append(
                Mark(position: position, time: WallTime(microseconds: numbers[index + 1])))
        }
    }
}
