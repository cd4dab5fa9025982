internal import CLinux
internal import Glibc

/// What a command prints comes from it: a pipe, or a socket of another user's processes. Non-blocking.
package final class OutputSource {
    /// Borrowed: valid as long as this is.
    package let descriptor: Int32
    private let pipe: OwnedDescriptor?
    private let socket: StrangersSocket?

    /// - Parameters:
    ///   - user: whose processes print.
    ///   - closer: closes a socket that has something.
    package init(
        _ source: consuming OwnedDescriptor, of user: UInt32, closer: any DescriptorCloser
    ) {
        descriptor = source.rawValue
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK {
            pipe = nil
            socket = StrangersSocket(output: source, of: user, closer: closer)
        } else {
            pipe = .some(consume source)
            socket = nil
        }
    }

    /// Reads what there is room for, without waiting.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> StrangersSocket.Receipt {
        if let socket { return socket.receive(into: buffer) }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .nothing }
            if errno != EINTR { return .failed(errno: errno) }
        }
    }

    /// Bytes that wait in it now (FIONREAD; pipe(7), unix(7)).
    package var waitingCount: Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }
}
