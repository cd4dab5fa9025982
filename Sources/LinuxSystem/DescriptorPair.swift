internal import CLinux
internal import Glibc

/// Two descriptors that were made together: the ends of a pipe or of a socket pair.
package struct DescriptorPair: ~Copyable {
    private var first: OwnedDescriptor?
    private var second: OwnedDescriptor?

    init(_ first: consuming OwnedDescriptor, _ second: consuming OwnedDescriptor) {
        self.first = consume first
        self.second = consume second
    }

    private init(_ first: Int32, _ second: Int32) {
        self.first = OwnedDescriptor(first)
        self.second = OwnedDescriptor(second)
    }

    /// A pipe(2): the first end reads, the second writes. Close-on-exec.
    ///
    /// The reading end is non-blocking where `readsWithoutWaiting` says so. The writing end always
    /// blocks, which is what a command expects of its output.
    package static func pipe(
        readsWithoutWaiting: Bool = true
    ) throws(SystemError) -> DescriptorPair {
        var ends: (Int32, Int32) = (-1, -1)
        try systemCall("pipe") {
            withUnsafeMutableBytes(of: &ends) { bytes in
                clx_pipe(bytes.bindMemory(to: Int32.self).baseAddress)
            }
        }
        let pair = DescriptorPair(ends.0, ends.1)
        if readsWithoutWaiting {
            try systemCall("fcntl") { fcntl(ends.0, F_SETFL, O_NONBLOCK) }
        }
        return pair
    }

    /// The kind of a socket pair, as in socket(2).
    package enum SocketKind: Sendable {
        case stream
        /// Keeps the bounds of messages.
        case sequencedPacket
    }

    /// A socketpair(2) of Unix sockets: equal ends, close-on-exec, both non-blocking or neither.
    package static func sockets(
        _ kind: SocketKind,
        nonBlocking: Bool
    ) throws(SystemError) -> DescriptorPair {
        let type = kind == .stream ? SOCK_STREAM : SOCK_SEQPACKET
        let flags = SOCK_CLOEXEC.rawValue | (nonBlocking ? SOCK_NONBLOCK.rawValue : 0)
        var ends: (Int32, Int32) = (-1, -1)
        try systemCall("socketpair") {
            withUnsafeMutableBytes(of: &ends) { bytes in
                socketpair(
                    AF_UNIX,
                    Int32(type.rawValue | flags),
                    0,
                    bytes.bindMemory(to: Int32.self).baseAddress
                )
            }
        }
        return DescriptorPair(ends.0, ends.1)
    }

    /// Moves the first end out; once.
    package mutating func takeFirst() -> OwnedDescriptor {
        Self.take(&first)
    }

    /// Moves the second end out; once.
    package mutating func takeSecond() -> OwnedDescriptor {
        Self.take(&second)
    }

    private static func take(_ end: inout OwnedDescriptor?) -> OwnedDescriptor {
        let taken = end.take() ?? OwnedDescriptor(-1)
        precondition(taken.rawValue >= 0, "an end is taken once")
        return taken
    }
}
