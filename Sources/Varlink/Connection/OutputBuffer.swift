/// Keeps what is written until the socket has taken it.
@usableFromInline
struct OutputBuffer: Sendable {
    @usableFromInline
    var writer = JSONWriter()
    @usableFromInline
    private(set) var head = 0

    /// Bytes that the socket has not taken.
    @inlinable
    var count: Int { writer.bytes.count &- head }

    /// Ends a message.
    mutating func endFrame() { writer.bytes.append(0) }

    /// Gives `body` all that is to be sent, in one piece.
    @inlinable
    func withPending<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try writer.bytes.withUnsafeBufferPointer { whole throws(E) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: whole[head...])))
        }
    }

    /// Forgets bytes that the socket has taken.
    mutating func sent(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "more sent than there was")
        head &+= count
        if self.count == 0 {
            let kept = writer.bytes.capacity <= ConnectionLimits.storageKept
            writer.bytes.removeAll(keepingCapacity: kept)
            head = 0
        } else if head >= ConnectionLimits.storageKept, head >= self.count {
            writer.bytes.removeSubrange(..<head)
            head = 0
        }
    }
}
