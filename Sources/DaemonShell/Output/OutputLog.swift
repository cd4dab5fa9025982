package import BudgetCore
internal import TaskAPI
package import TaskStore

/// Which of its two streams a task wrote to.
package enum OutputStream: String, Sendable {
    case stdout, stderr
}

/// What a task has printed, oldest first: the newest bytes up to a limit.
///
/// Positions count the bytes since the task's start, so that a reader sees what it has missed. Bytes are kept
/// in chunks, and beside those of a chunk the stream of each piece in two bytes, which are counted as what
/// they cost: a task that writes a byte at a time to both streams in turn has fewer of its bytes kept, and
/// takes no more memory than another.
package struct OutputLog: Sendable {
    /// Some bytes that follow each other, whole characters where the text is UTF-8.
    private struct Chunk: Sendable {
        /// Bytes of one stream, up to a place in the chunk; those after it are of the other.
        struct Run: Sendable {
            private var word: UInt16

            init(_ stream: OutputStream, end: Int) {
                word = UInt16(truncatingIfNeeded: end) | (stream == .stderr ? 0x8000 : 0)
            }

            var stream: OutputStream { word & 0x8000 == 0 ? .stdout : .stderr }
            var end: Int { Int(word & 0x7FFF) }

            /// As the disk has it, from where the text is cut at its front.
            func stored(behind cut: Int) -> UInt16 { word - UInt16(cut) }

            init(stored word: UInt16) { self.word = word }
        }

        static let byteCountMax = StoredOutput.Chunk.byteCountMax

        /// The position of its first byte.
        let base: Int
        private(set) var bytes: [UInt8] = []
        private(set) var runs: [Run] = []

        init(base: Int) {
            self.base = base
        }

        init(_ stored: StoredOutput.Chunk) {
            base = stored.start
            bytes = stored.text
            runs = stored.runs.map(Run.init(stored:))
        }

        /// What it has from a position on, for the disk.
        func stored(from start: Int) -> StoredOutput.Chunk {
            let cut = max(start - base, 0)
            return StoredOutput.Chunk(
                start: base + cut, text: Array(bytes[cut...]),
                runs: runs.filter { $0.end > cut }.map { $0.stored(behind: cut) })
        }

        var end: Int { base + bytes.count }
        var room: Int { Chunk.byteCountMax - bytes.count }
        var runBytes: Int { runs.count * MemoryLayout<Run>.stride }
        var memoryBytes: Int { bytes.capacity + runs.capacity * MemoryLayout<Run>.stride }

        /// Takes bytes that it has room for.
        mutating func append(_ new: ArraySlice<UInt8>, of stream: OutputStream) {
            let count = bytes.count + new.count
            if bytes.capacity < count {
                bytes.reserveCapacity(min(max(count, 2 * bytes.count), Chunk.byteCountMax))
            }
            bytes.append(contentsOf: new)
            let run = Run(stream, end: count)
            if let last = runs.indices.last, runs[last].stream == stream {
                runs[last] = run
            } else {
                runs.append(run)
            }
        }

        /// The bytes of one stream from a position on that it has.
        func piece(at position: Int) -> (stream: OutputStream, bytes: ArraySlice<UInt8>) {
            let place = position - base
            let run = runs[runs.partition { $0.end > place }]
            return (run.stream, bytes[place..<run.end])
        }

        /// Takes no more room than it needs.
        mutating func fit() {
            bytes = bytes.withUnsafeBufferPointer { Array($0) }
            runs = runs.withUnsafeBufferPointer { Array($0) }
        }
    }

    /// What a reader gets at once, in bytes.
    static let pieceMax = 16_384

    /// Those at the front that are dropped are empty, until they are removed.
    private var chunks: [Chunk] = []
    private var chunksDropped = 0
    /// What the streams of the pieces take.
    private var runBytes = 0
    /// Where the first kept byte is.
    package private(set) var start = 0
    package private(set) var end = 0
    private var times = OutputTimes()

    package init() {}

    /// What was read from the disk of a task's output; all that is kept of it can be gone on with.
    package init(_ stored: StoredOutput) {
        chunks = stored.chunks.map { Chunk($0) }
        runBytes = chunks.reduce(0) { $0 + $1.runBytes }
        start = stored.chunks.first?.start ?? stored.end
        end = stored.chunks.last?.end ?? stored.end
        times = stored.times
    }

    /// All of it, for the disk.
    package func stored(of task: TaskID, _ owner: OwnerID) -> StoredOutput {
        let kept = chunks[chunksDropped...].filter { $0.end > start }
        return StoredOutput(
            task: task, owner: owner, start: start, end: end,
            chunks: kept.map { $0.stored(from: start) }, times: times)
    }

    package var byteCount: Int { end - start }

    /// What it takes of memory, in bytes.
    package var memoryBytes: Int {
        chunks.capacity * MemoryLayout<Chunk>.stride + times.memoryBytes
            + chunks[chunksDropped...].reduce(0) { $0 + $1.memoryBytes }
    }

    /// Keeps bytes that end a line, or are a line's part that was too long to wait for its end.
    ///
    /// - Parameter max: how many bytes are kept, where the streams take an eighth of that; fewer where they
    ///   take more.
    package mutating func append(
        _ new: ArraySlice<UInt8>, of stream: OutputStream, at time: WallTime, max: Int
    ) {
        var rest = new
        times.note(end, at: time)
        while !rest.isEmpty {
            if chunks.last.map({ $0.room < rest.count }) ?? true { makeRoom() }
            let last = chunks.endIndex - 1
            let count = UTF8Cut.length(of: rest, max: chunks[last].room)
            let runBytesBefore = chunks[last].runBytes
            chunks[last].append(rest.prefix(count), of: stream)
            runBytes += chunks[last].runBytes - runBytesBefore
            end += count
            rest = rest.dropFirst(count)
        }
        trim(to: max)
    }

    /// Begins a chunk where the last one may have no room for a whole character.
    private mutating func makeRoom() {
        if let last = chunks.last, last.room >= 4 { return }
        if !chunks.isEmpty { chunks[chunks.endIndex - 1].fit() }
        chunks.append(Chunk(base: end))
    }

    /// Bytes of one stream, how many are missing before them, and where the next piece is.
    package typealias Piece = (
        stream: OutputStream, bytes: ArraySlice<UInt8>, dropped: Int, next: Int
    )

    /// The piece at a position, or the first one that is kept after it; `nil` at the end.
    package func piece(at position: Int) -> Piece? {
        let from = max(position, start)
        guard from < end else { return nil }
        let (stream, rest) = chunks[chunk(at: from)].piece(at: from)
        let count = UTF8Cut.length(of: rest, max: OutputLog.pieceMax)
        return (stream, rest.prefix(count), from - position, from + count)
    }

    /// Where what was printed since a time begins, as exactly as that is known (`OutputTimes`).
    func position(since time: WallTime) -> Int { times.position(since: time) ?? end }

    /// Drops everything; readers still learn how much they miss.
    package mutating func forget() {
        chunks = []
        chunksDropped = 0
        runBytes = 0
        start = end
        times = OutputTimes()
    }

    /// Takes no more room than it needs: nothing comes for a while.
    package mutating func fit() {
        chunks.removeFirst(chunksDropped)
        chunksDropped = 0
        if let last = chunks.indices.last { chunks[last].fit() }
        chunks = chunks.withUnsafeBufferPointer { Array($0) }
        times.fit()
    }

    /// Drops the oldest, up to the start of a character.
    private mutating func trim(to max: Int) {
        let spare = max / OutputLog.spareShare
        while byteCount + Swift.max(runBytes - spare, 0) > max, chunksDropped < chunks.endIndex - 1
        {
            let first = chunks[chunksDropped]
            // A part of it is enough where its bytes are too many, and not what is beside them.
            guard runBytes > spare || end - first.end >= max else { break }
            dropChunk()
        }
        guard byteCount > max else { return }
        start = end - max
        while start < end, let byte = byte(at: start), UTF8Cut.isContinuation(byte) { start += 1 }
        while chunksDropped < chunks.endIndex, chunks[chunksDropped].end <= start { dropChunk() }
    }

    private mutating func dropChunk() {
        runBytes -= chunks[chunksDropped].runBytes
        start = Swift.max(start, chunks[chunksDropped].end)
        chunks[chunksDropped] = Chunk(base: start)
        chunksDropped += 1
        // Those that are left move once for as many that were dropped.
        guard chunksDropped > chunks.count / 2 else { return }
        chunks.removeFirst(chunksDropped)
        chunksDropped = 0
    }

    private func byte(at position: Int) -> UInt8? {
        let chunk = chunks[chunk(at: position)]
        let place = position - chunk.base
        return chunk.bytes.indices.contains(place) ? chunk.bytes[place] : nil
    }

    /// The place of the chunk that has a position.
    private func chunk(at position: Int) -> Int {
        chunksDropped + chunks[chunksDropped...].partition { $0.end > position }
    }

    /// The part of the limit that the streams may take before they are counted.
    private static let spareShare = 8
}

extension RandomAccessCollection where Index == Int {
    /// How many come before the first one for which something holds that holds for all after it.
    fileprivate func partition(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low - startIndex
    }
}

/// Where text can be cut so that no character is torn.
enum UTF8Cut {
    /// Whether a byte goes on with a character that began before it.
    static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// How much of a text fits, without a part of a character at the end; all of `max` where what is
    /// there is not UTF-8.
    static func length(of text: ArraySlice<UInt8>, max: Int) -> Int {
        guard text.count > max else { return text.count }
        let cut = text.startIndex + max
        for back in 0..<min(4, max) where !isContinuation(text[cut - back]) { return max - back }
        return max
    }

    /// How much of a text is whole characters, where more of it may follow.
    static func wholeLength(of text: ArraySlice<UInt8>) -> Int {
        for back in 1...3 where back <= text.count {
            let byte = text[text.endIndex - back]
            guard !isContinuation(byte) else { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? text.count - back : text.count
        }
        return text.count
    }
}

/// Cuts a stream of bytes into lines; a line that is too long to wait for its end is cut.
struct LineCutter: Sendable {
    /// The longest piece of a line, in bytes.
    static let lineMax = 16_384

    private var rest: [UInt8] = []

    /// Takes bytes in and gives what is complete: lines with their ends, or parts of a long one.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        rest.append(contentsOf: bytes)
        let newline = UInt8(ascii: "\n")
        var count = rest.lastIndex(of: newline).map { $0 + 1 } ?? 0
        if rest.count - count >= LineCutter.lineMax {
            count += UTF8Cut.wholeLength(of: rest[count...])
        }
        guard count > 0 else { return [] }
        defer { rest.removeFirst(count) }
        return Array(rest[..<count])
    }

    /// What is left without an end of line, when the stream has ended.
    mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return rest
    }

    /// Bytes in pieces of whole lines, none longer than a line may be.
    static func pieces(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while rest.count > lineMax {
            let head = rest.prefix(lineMax)
            let end = head.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? head.endIndex
            pieces.append(rest[..<end])
            rest = rest[end...]
        }
        if !rest.isEmpty { pieces.append(rest) }
        return pieces
    }
}
