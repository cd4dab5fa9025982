internal import Glibc

/// Owns a connected Unix stream socket and closes it at the end.
struct UnixSocket: ~Copyable {
    let descriptor: Int32

    /// The longest path of an address (`sun_path`, without its NUL; unix(7)).
    static let pathBytesMax = 107

    /// Takes over a connected socket.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Connects to a path, or to an abstract name after `@`.
    ///
    /// - Parameter timeout: how long a service is waited for whose queue of connections is full; without end where `nil`.
    static func connected(
        to path: String, timeout: Duration? = nil
    ) throws(ClientError) -> UnixSocket {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw .cannotConnect(path: path, errno: errno) }
        let unconnected = UnixSocket(adopting: descriptor)
        if let timeout { unconnected.limitConnecting(to: timeout) }
        try unconnected.connect(path: path)
        return unconnected
    }

    deinit { close(descriptor) }

    private func connect(path: String) throws(ClientError) {
        var address = sockaddr_un()
        let length = try UnixSocket.fill(&address, path: path)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, length)
            }
        }
        if result == 0 { return }
        // Its time is over: without a limit there is no such answer (unix(7), SO_SNDTIMEO).
        if errno == EAGAIN { throw .timedOut }
        guard errno == EINTR else { throw .cannotConnect(path: path, errno: errno) }
        try finishConnecting(path: path)
    }

    private func limitConnecting(to timeout: Duration) {
        let (seconds, attoseconds) = timeout.components
        var time = timeval(
            tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Waits for a connect that a signal interrupted: it goes on by itself (connect(2)).
    private func finishConnecting(path: String) throws(ClientError) {
        _ = try wait(for: Int16(POLLOUT), milliseconds: -1)
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
        guard error == 0 else { throw .cannotConnect(path: path, errno: error) }
    }

    /// Writes a path into an address.
    ///
    /// - Returns: the length of the address.
    static func fill(_ address: inout sockaddr_un, path: String) throws(ClientError) -> socklen_t {
        let name = Array(path.utf8)
        guard !name.isEmpty, name.count <= pathBytesMax, !name.contains(0) else {
            throw .badAddress(path)
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let before = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard name[0] == UInt8(ascii: "@") else { return socklen_t(before + name.count + 1) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0[0] = 0 }
        return socklen_t(before + name.count)
    }

    /// Reads what has come.
    ///
    /// - Returns: the number of bytes, 0 at the end of the stream; `nil` where nothing has come.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ClientError) -> Int? {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return nil
            case ECONNRESET: return 0
            default: throw .failed(operation: "read", errno: errno)
            }
        }
    }

    /// Writes what the socket takes; `nil` where it takes nothing now.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ClientError) -> Int? {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        while true {
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return nil
            case EPIPE, ECONNRESET: throw .disconnected
            default: throw .failed(operation: "write", errno: errno)
            }
        }
    }

    /// Waits until one of `events` is there, or the time is over; without end where that is
    /// negative.
    ///
    /// Returns what is there; 0 where the time is over or a signal came.
    func wait(for events: Int16, milliseconds: Int32) throws(ClientError) -> Int16 {
        var request = pollfd(fd: descriptor, events: events, revents: 0)
        let count = poll(&request, 1, milliseconds)
        guard count < 0 else { return request.revents }
        guard errno == EINTR else { throw .failed(operation: "poll", errno: errno) }
        return 0
    }
}

extension ClientError {
    /// The text of an error number, as strerror(3) has it.
    package static func text(_ errno: Int32) -> String {
        guard let text = strerror(errno) else { return "error \(errno)" }
        return String(cString: text)
    }
}
