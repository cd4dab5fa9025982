internal import BudgetCore
internal import TaskAPI

/// Which of its two streams a task wrote to.
enum OutputStream: String, Sendable {
    case stdout, stderr
}

/// What a task has printed, oldest first: the newest bytes up to a limit.
///
/// Positions count the bytes since the task's start, so that a reader sees what it has missed. All
/// bytes are in one array and the streams beside them, so that a task that writes a byte at a time
/// to both in turn costs no more than another.
struct OutputLog: Sendable {
    /// Bytes of one stream that follow each other, up to a position.
    private struct Run: Sendable {
        let stream: OutputStream
        var end: Int
    }

    /// What a reader gets at once, in bytes.
    static let pieceMax = 16_384

    private var bytes: [UInt8] = []
    private var runs: [Run] = []
    /// How many at the front of `runs` are dropped and not yet removed.
    private var runsDropped = 0
    /// The position of the first byte in `bytes`, which may be dropped already.
    private var base = 0
    /// Where the first kept byte is.
    private(set) var start = 0
    private(set) var end = 0

    var byteCount: Int { end - start }

    /// Keeps bytes that end a line, or are a line's part that was too long to wait for its end.
    mutating func append(_ new: ArraySlice<UInt8>, of stream: OutputStream, max: Int) {
        guard !new.isEmpty else { return }
        end += new.count
        bytes.append(contentsOf: new)
        if let last = runs.indices.last, runs[last].stream == stream {
            runs[last].end = end
        } else {
            runs.append(Run(stream: stream, end: end))
        }
        trim(to: max)
    }

    /// The piece at a position, or the first one that is kept after it.
    ///
    /// - Returns: the stream, its bytes, how many bytes are missing before them, and where the next
    ///   piece is; `nil` at the end.
    func piece(
        at position: Int
    ) -> (stream: OutputStream, bytes: ArraySlice<UInt8>, dropped: Int, next: Int)? {
        let from = max(position, start)
        guard from < end else { return nil }
        let run = runs[firstRun { $0.end > from }]
        let rest = bytes[(from - base)..<(run.end - base)]
        let count = UTF8Cut.length(of: rest, max: OutputLog.pieceMax)
        return (run.stream, rest.prefix(count), from - position, from + count)
    }

    /// Drops everything; readers still learn how much they miss.
    mutating func forget() {
        bytes = []
        runs = []
        runsDropped = 0
        base = end
        start = end
    }

    /// Drops the oldest, up to the start of a character.
    private mutating func trim(to max: Int) {
        guard byteCount > max else { return }
        start = end - max
        while start < end, UTF8Cut.isContinuation(bytes[start - base]) { start += 1 }
        runsDropped = start == end ? runs.count : firstRun { $0.end > start }
        // What is dropped is removed in bulk, so that each byte moves once.
        guard start - base > byteCount + OutputLog.pieceMax else { return }
        bytes.removeFirst(start - base)
        base = start
        runs.removeFirst(runsDropped)
        runsDropped = 0
    }

    /// The first kept run for which something holds that holds for all after it.
    private func firstRun(_ holds: (Run) -> Bool) -> Int {
        var (low, high) = (runsDropped, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if holds(runs[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
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
