internal import Glibc

/// Bytes on their way from or to a socket, in memory that is taken once.
public struct ByteBuffer {
    /// Where the bytes are; the first `count` of them count.
    public let bytes: UnsafeMutablePointer<UInt8>
    /// How many there are.
    public private(set) var count = 0
    private let capacity: Int

    /// Memory for so many bytes, which is kept until the program ends.
    public init(capacity: Int) {
        self.capacity = capacity
        bytes = .allocate(capacity: capacity)
        bytes.initialize(repeating: 0, count: capacity)
    }

    /// Whether so many more have room.
    public func hasRoom(for more: Int) -> Bool { capacity - count >= more }

    /// Adds bytes, which must have room.
    public mutating func append(_ more: FixedBytes) {
        append(more.start, count: more.count)
    }

    /// Adds bytes, which must have room.
    public mutating func append(_ more: UnsafePointer<UInt8>, count length: Int) {
        precondition(hasRoom(for: length), "no room for the bytes")
        memcpy(bytes + count, more, length)
        count += length
    }

    /// Forgets the first bytes, and moves the others to the front.
    public mutating func drop(first dropped: Int) {
        count -= dropped
        if count > 0 { memmove(bytes, bytes + dropped, count) }
    }

    /// Reads what a socket has, and tells whether it is still open.
    public mutating func fill(from descriptor: Int32) throws -> Bool {
        let length = read(descriptor, bytes + count, capacity - count)
        if length > 0 {
            count += length
            return true
        }
        if length == 0 || errno == ECONNRESET { return false }
        if errno == EAGAIN || errno == EINTR { return true }
        throw SocketError(failed: "read")
    }

    /// Writes what there is; what the socket does not take now stays. That the peer has gone is for the
    /// next reading to tell.
    public mutating func drain(to descriptor: Int32) throws {
        guard count > 0 else { return }
        let length = send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        if length >= 0 {
            drop(first: length)
        } else if errno == EPIPE || errno == ECONNRESET {
            count = 0
        } else if errno != EAGAIN && errno != EINTR {
            throw SocketError(failed: "write")
        }
    }
}
