/// Which of its two streams a task wrote to.
enum OutputStream: String, Sendable {
    case stdout, stderr
}

/// What a task has printed, oldest first: the newest bytes up to a limit.
///
/// Positions count the bytes since the task's start, so that a reader sees what it has missed.
struct OutputLog: Sendable {
    /// A run of bytes of one stream.
    private struct Segment: Sendable {
        let stream: OutputStream
        var bytes: [UInt8]
    }

    /// What a reader gets at once, in bytes.
    static let pieceMax = 16_384

    private var segments: [Segment] = []
    /// Where the first kept byte is.
    private(set) var start = 0
    private(set) var end = 0

    var byteCount: Int { end - start }

    /// Keeps bytes that end a line, or are a line's part that was too long to wait for its end.
    mutating func append(_ bytes: ArraySlice<UInt8>, of stream: OutputStream, max: Int) {
        end += bytes.count
        if let last = segments.indices.last, segments[last].stream == stream,
            segments[last].bytes.count + bytes.count <= OutputLog.pieceMax
        {
            segments[last].bytes.append(contentsOf: bytes)
        } else {
            segments.append(Segment(stream: stream, bytes: Array(bytes)))
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
        var offset = start
        for segment in segments {
            let segmentEnd = offset + segment.bytes.count
            defer { offset = segmentEnd }
            guard position < segmentEnd else { continue }
            let from = max(position, offset)
            let bytes = segment.bytes[(from - offset)...].prefix(OutputLog.pieceMax)
            return (segment.stream, bytes, from - position, from + bytes.count)
        }
        return nil
    }

    private mutating func trim(to max: Int) {
        var dropped = 0
        while byteCount > max, dropped < segments.count {
            let excess = byteCount - max
            if segments[dropped].bytes.count <= excess {
                start += segments[dropped].bytes.count
                dropped += 1
            } else {
                segments[dropped].bytes.removeFirst(excess)
                start += excess
            }
        }
        if dropped > 0 { segments.removeFirst(dropped) }
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
        guard let last = rest.lastIndex(of: newline) else {
            return rest.count >= LineCutter.lineMax ? takeRest() : []
        }
        let complete = Array(rest[...last])
        rest.removeFirst(complete.count)
        if rest.count >= LineCutter.lineMax { return complete + takeRest() }
        return complete
    }

    /// What is left without an end of line, when the stream has ended.
    mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return rest
    }
}
