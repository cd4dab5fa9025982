internal import CLinux
internal import Glibc

/// A datagram socket at a path, at which one user's processes speak to the daemon (sd_notify(3)).
package struct NotifySocket: ~Copyable {
    private let socket: StrangersSocket
    package let path: String
    private let closer: any DescriptorCloser
    /// Whether its path stays when it is closed, for who has another descriptor of it.
    private var isLeft = false

    /// What `receive` found.
    package enum Receipt: Equatable, Sendable {
        /// A message of so many bytes, and the user who sent it.
        case message(count: Int, sender: UInt32)
        /// A message for which there is no room; its beginning is of no use.
        case tooLong(sender: UInt32)
        /// A message with descriptors, which is left where it is: to be taken by a ``CloserProcess``.
        case descriptor
        /// Nothing waits.
        case nothing
    }

    /// Binds a socket that its user, root and nobody else can send to.
    ///
    /// Others are kept out by the file's mode, since who could send would fill the queue of the socket and have
    /// the user's own processes wait.
    ///
    /// - Parameters:
    ///   - path: of 107 bytes at most, in a folder that the caller alone may change.
    ///   - user: another than the daemon's own for root alone.
    ///   - closer: who closes it with what is left in it, and removes it.
    /// - Throws: EADDRINUSE where something is there.
    package init(
        path: String, user: UInt32, closer: any DescriptorCloser
    ) throws(SystemError) {
        let address = try UnixAddress(path: path)
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = OwnedDescriptor(
            try systemCall("socket") { Glibc.socket(AF_UNIX, type, 0) })
        let descriptor = socket.rawValue
        try systemCall("setsockopt", "SO_PASSCRED") { clx_pass_credentials(descriptor) }
        // The file is born with the socket's own mode.
        try systemCall("chmod", path) { fchmod(descriptor, 0o600) }
        try systemCall("bind", path) { address.withPointer { bind(descriptor, $0, $1) } }
        do throws(SystemError) {
            if user != geteuid() {
                try systemCall("chown", path) { lchown(path, user, gid_t.max) }
            }
        } catch {
            closer.remove(path)
            throw error
        }
        self.socket = StrangersSocket(datagrams: socket, user: user, closer: closer)
        self.path = path
        self.closer = closer
    }

    /// Takes over a socket that an earlier process has made in this way, with what waits in it.
    ///
    /// - Throws: EINVAL where it is another kind of socket, or bound to no path.
    package init(
        bound socket: consuming OwnedDescriptor, user: UInt32, closer: any DescriptorCloser
    ) throws(SystemError) {
        let descriptor = socket.rawValue
        var type: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        try systemCall("getsockopt", "SO_TYPE") {
            getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size)
        }
        guard type == Int32(SOCK_DGRAM.rawValue), let path = try UnixAddress.path(of: descriptor)
        else { throw SystemError(operation: "getsockname", errno: EINVAL, subject: "a socket") }
        try systemCall("setsockopt", "SO_PASSCRED") { clx_pass_credentials(descriptor) }
        try socket.setCloseOnExec()
        try socket.setNonBlocking()
        self.socket = StrangersSocket(datagrams: socket, user: user, closer: closer)
        self.path = path
        self.closer = closer
    }

    deinit {
        if isLeft {
            socket.leave()
        } else {
            closer.remove(path)
            socket.close()
        }
    }

    /// Leaves the path where it is when the socket is closed.
    package mutating func leavePath() { isLeft = true }

    /// Readable while a message waits.
    package var descriptor: Int32 { socket.rawValue }

    /// Whether a message waits.
    package var hasMessage: Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, 0) > 0
    }

    /// Takes one message, without waiting for one.
    package func receive(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Receipt {
        try socket.receiveDatagram(into: buffer, path)
    }
}

/// The folder of such sockets, which nobody else can change and everybody can pass through.
package struct NotifyFolder: Sendable {
    private let path: String

    /// Sockets have numbers of so many digits at most.
    private static let digitsMax = 9

    /// Makes the folder, or takes it over and has the sockets removed that nobody serves any more.
    ///
    /// - Throws: `SystemError`; ENAMETOOLONG where sockets in it would have too long a path. `UnsafePath` where
    ///   somebody else could put something else there.
    package init(path: String, user: UInt32, closer: any DescriptorCloser) throws {
        _ = try UnixAddress(path: path + "/" + String(repeating: "0", count: Self.digitsMax))
        self.path = path
        try makeFolders(path, mode: 0o711)
        try PathTrust(user: user).check(privateFolder: path)
        // Whatever the umask.
        try systemCall("chmod", path) { chmod(path, 0o711) }
        try removeStale(closer)
    }

    /// Where the socket with a number is.
    package func path(ofNumber number: Int) -> String { "\(path)/\(number)" }

    /// Has the folder removed, with the sockets in it.
    package func remove(_ closer: any DescriptorCloser) { closer.remove(path) }

    private func removeStale(_ closer: any DescriptorCloser) throws(SystemError) {
        for name in try names(inFolder: path) {
            let file = "\(path)/\(name)"
            if NameRemover.isAside(name) {
                closer.remove(file)
            } else if Int(name) != nil, try UnixListener.presence(atPath: file) == .stale {
                closer.remove(file)
            }
        }
    }
}
