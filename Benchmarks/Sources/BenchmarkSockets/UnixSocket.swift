internal import Glibc

/// Stream sockets that never block, by the path of a file.
public enum UnixSocket {
    /// Connects to a server; waits until it has room for one more.
    public static func connect(to path: String) throws -> Int32 {
        let descriptor = try make()
        try withAddress(path) { address, length in
            guard Glibc.connect(descriptor, address, length) == 0 else {
                throw SocketError(failed: "connect to \(path)")
            }
        }
        try stopBlocking(descriptor)
        return descriptor
    }

    /// Listens on a path where nothing is yet.
    public static func listen(on path: String) throws -> Int32 {
        let descriptor = try make()
        try withAddress(path) { address, length in
            guard bind(descriptor, address, length) == 0 else {
                throw SocketError(failed: "bind to \(path)")
            }
        }
        guard Glibc.listen(descriptor, 4096) == 0 else {
            throw SocketError(failed: "listen on \(path)")
        }
        try stopBlocking(descriptor)
        return descriptor
    }

    /// Takes the next connection; `nil` where none waits.
    public static func accept(from listener: Int32) throws -> Int32? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else {
            if errno == EAGAIN || errno == ECONNABORTED { return nil }
            throw SocketError(failed: "accept")
        }
        try stopBlocking(descriptor)
        return descriptor
    }

    private static func make() throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw SocketError(failed: "socket") }
        return descriptor
    }

    private static func stopBlocking(_ descriptor: Int32) throws {
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            throw SocketError(failed: "fcntl")
        }
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // One byte stays 0, for the end of the path.
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SocketError("\(path) is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try withUnsafeBytes(of: &address) {
            guard let base = $0.baseAddress else { return }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            try body(base.assumingMemoryBound(to: sockaddr.self), size)
        }
    }
}
