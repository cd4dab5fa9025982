internal import CLinux
internal import Glibc

/// A listening Unix stream socket, non-blocking.
package struct UnixListener: ~Copyable {
    private let socket: OwnedDescriptor
    /// The file we made, to be removed again; `nil` for a socket that was inherited.
    private let file: (path: String, identity: FileIdentity?)?

    /// What `accept` found.
    package enum Acceptance: ~Copyable {
        /// A connection, non-blocking and close-on-exec.
        case connection(OwnedDescriptor)
        /// Nobody is waiting.
        case none
        /// Somebody is waiting, but descriptors or memory are used up (EMFILE, ENFILE, ENOBUFS,
        /// ENOMEM). The listener stays readable: stop watching it until something is closed.
        case exhausted(errno: Int32)
    }

    /// Binds and listens at `path`.
    ///
    /// A socket file that nobody serves any more is replaced; whoever starts two daemons on one
    /// path at the same instant needs a `StateLock` before.
    ///
    /// - Parameters:
    ///   - path: of 107 bytes at most.
    ///   - mode: permission bits of the socket file, whatever the umask.
    ///   - folderMode: of the folders above that are missing.
    ///   - closer: who removes a stale one; `nil`: this process, which nobody is served by.
    ///   - backlog: connections that may wait to be accepted; the kernel cuts it to somaxconn.
    /// - Throws: ENAMETOOLONG over 107 bytes; EADDRINUSE where somebody serves the path; EEXIST
    ///   where something that is no socket is there (it is never removed).
    package init(
        path: String,
        mode: UInt32,
        folderMode: UInt32 = 0o755,
        closer: (any DescriptorCloser)? = nil,
        backlog: Int32 = UnixListener.backlogMax
    ) throws(SystemError) {
        let address = try UnixAddress(path: path)
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try makeFolders(String(path[..<slash]), mode: folderMode)
        }
        try Self.clearStale(path, address, closer)
        let socket = try Self.makeSocket()
        let descriptor = socket.rawValue
        // The file is born with the socket's own mode, less the umask: never too open.
        try systemCall("chmod", path) { fchmod(descriptor, mode) }
        try systemCall("bind", path) { address.withPointer { bind(descriptor, $0, $1) } }
        do {
            try systemCall("chmod", path) { chmod(path, mode) }
            _ = clx_refuse_descriptors(descriptor)
            try systemCall("listen", path) { listen(descriptor, backlog) }
            file = (path, try FileIdentity(path: path))
        } catch {
            unlink(path)
            throw error
        }
        self.socket = socket
    }

    /// Wraps a socket that listens already, such as one handed over by systemd. Its file is left
    /// alone at the end.
    ///
    /// - Throws: EINVAL where it does not listen.
    package init(inherited: consuming OwnedDescriptor) throws(SystemError) {
        let descriptor = inherited.rawValue
        var listens: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        try systemCall("getsockopt", "SO_ACCEPTCONN") {
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length)
        }
        guard listens != 0 else {
            throw SystemError(
                operation: "listen",
                errno: EINVAL,
                subject: "\(descriptor)",
                detail: "the inherited socket does not listen"
            )
        }
        // Who has connected before may have sent some: each connection is looked at.
        _ = clx_refuse_descriptors(descriptor)
        try inherited.setNonBlocking()
        try inherited.setCloseOnExec()
        socket = inherited
        file = nil
    }

    deinit {
        if let ownPath { unlink(ownPath) }
    }

    /// The file, where it is there and ours.
    private var ownPath: String? {
        guard let (path, identity) = file, let identity,
            let found = try? FileIdentity(path: path), found.isSameFile(as: identity)
        else { return nil }
        return path
    }

    /// Readable while a connection waits.
    package var descriptor: Int32 { socket.rawValue }

    /// Takes one waiting connection, without waiting for one.
    package func accept() throws(SystemError) -> Acceptance {
        while true {
            let connection = clx_accept(socket.rawValue)
            if connection >= 0 { return .connection(OwnedDescriptor(connection)) }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return .none
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted(errno: errno)
            default:
                throw SystemError(operation: "accept", errno: errno, subject: file?.path ?? "")
            }
        }
    }

    /// Closes the connections of those who wait here, with what they have sent. Where nobody else has the socket, nobody
    /// connects any more, and its file is removed.
    package func sendAway(_ closer: any DescriptorCloser) {
        if let ownPath { closer.remove(ownPath) }
        if !isInherited { shutdown(socket.rawValue, Int32(SHUT_RDWR)) }
        // No more than can wait: others may go on connecting to one that is inherited.
        for _ in 0...UnixListener.backlogMax {
            guard case .connection(let descriptor)? = try? accept() else { return }
            StrangersSocket(connection: descriptor, closer: closer).close()
        }
    }

    package static let backlogMax: Int32 = 4096

    /// Whether somebody else has the socket, and may go on with who waits there.
    package var isInherited: Bool { file == nil }

    private static func makeSocket() throws(SystemError) -> OwnedDescriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return OwnedDescriptor(try systemCall("socket") { Glibc.socket(AF_UNIX, type, 0) })
    }

    /// What is at a path where a socket is wanted.
    package enum Presence: Sendable {
        case nothing
        /// A socket that nobody serves any more.
        case stale
        case served
    }

    /// Looks what is at a path, and changes nothing.
    ///
    /// - Throws: ENAMETOOLONG over 107 bytes; EEXIST where something that is no socket is there.
    package static func presence(atPath path: String) throws(SystemError) -> Presence {
        try presence(path, UnixAddress(path: path))
    }

    private static func clearStale(
        _ path: String, _ address: UnixAddress, _ closer: (any DescriptorCloser)?
    ) throws(SystemError) {
        switch try presence(path, address) {
        case .nothing: return
        case .stale:
            if let closer { return closer.remove(path) }
            try systemCall("unlink", path) { unlink(path) }
        case .served:
            throw SystemError(
                operation: "bind",
                errno: EADDRINUSE,
                subject: path,
                detail: "already served"
            )
        }
    }

    private static func presence(
        _ path: String, _ address: UnixAddress
    ) throws(SystemError) -> Presence {
        guard let found = try FileIdentity(path: path) else { return .nothing }
        guard found.isSocket else {
            throw SystemError(
                operation: "bind",
                errno: EEXIST,
                subject: path,
                detail: "something that is not a socket is there"
            )
        }
        let probe = try makeSocket()
        let descriptor = probe.rawValue
        let answer = address.withPointer { connect(descriptor, $0, $1) } == 0 ? 0 : errno
        switch answer {
        case ECONNREFUSED: return .stale
        case ENOENT: return .nothing
        // EAGAIN: served, with a full backlog. EPROTOTYPE: served, by a socket of another kind.
        case 0, EAGAIN, EINPROGRESS, EPROTOTYPE: return .served
        default: throw SystemError(operation: "connect", errno: answer, subject: path)
        }
    }
}
