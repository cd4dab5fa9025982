public import JSON

/// Keeps what is written until the socket has taken it.
@usableFromInline
struct OutputBuffer: Sendable {
    @usableFromInline
    var writer = JSONWriter()
    @usableFromInline
    private(set) var head = 0

    /// Bytes that the socket has not taken.
    @inlinable
    var count: Int { writer.count &- head }

    /// Gives `body` all that is to be sent, in one piece.
    @inlinable
    func withPending<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try writer.withBytes(from: head, body)
    }

    /// Forgets bytes that the socket has taken.
    mutating func sent(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "more sent than there was")
        head &+= count
        if self.count == 0 {
            writer.removeAll(keepingAtMost: ConnectionLimits.storageKept)
            head = 0
        } else if head >= ConnectionLimits.storageKept, head >= self.count {
            writer.removeFirst(head)
            head = 0
        }
    }
}
