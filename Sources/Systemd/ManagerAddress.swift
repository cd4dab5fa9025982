package import CSystemd
internal import Glibc

/// Where a service manager is spoken to, and who must be there.
///
/// The manager's own socket (as systemctl uses it) and not a bus: dbus-daemon lets nobody but the user
/// into a user's bus, not even root; and a bus may itself run in a unit that is frozen.
package struct ManagerAddress {
    /// The Unix socket.
    package let path: String
    /// Whether a bus listens there, and not the manager itself.
    let isBus: Bool
    /// Who must have made the socket; `nil` where anybody may.
    let owner: uid_t?
    /// Connects in the place of this process, and gives the socket away; `nil`: it connects itself.
    package typealias Connector = (_ path: String, _ owner: uid_t) throws(SystemdError) -> Int32
    private var connector: Connector?

    package init(path: String, isBus: Bool = false, owner: uid_t? = nil) {
        self.path = path
        self.isBus = isBus
        self.owner = owner
    }

    /// That of another user, for root: who may send descriptors with each answer, which must not be this process's to
    /// close. Its answers deserve no more trust than the user does: read from the kernel what matters.
    ///
    /// - Parameter connector: has a process with the user's rights connect, which passes on bytes alone.
    package init(ofUser user: uid_t, _ connector: @escaping Connector) {
        // The user's folder is the user's to write to: with a link there, root would give its
        // orders to another manager. So whoever listens must be that user.
        self.init(path: "/run/user/\(user)/systemd/private", owner: user)
        self.connector = connector
    }

    package init(of manager: UnitManager.Manager) {
        switch manager {
        case .system where geteuid() == 0:
            self.init(path: "/run/systemd/private", owner: 0)
        case .system:
            // The manager's own socket is for root. Over the bus its policy and polkit decide.
            self.init(path: "/run/dbus/system_bus_socket", isBus: true)
        case .user:
            let folder = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
            self.init(
                path: (folder ?? "/run/user/\(geteuid())") + "/systemd/private", owner: geteuid())
        }
    }

    /// Connects, and has all else of the conversation's beginning done by ``BusConnection/process()``.
    ///
    /// - Throws: ``SystemdError``: as of connect(2), such as ENOENT and ECONNREFUSED where no manager
    ///   runs, EAGAIN where it takes no more; EPERM where another than ``owner`` listens.
    package func connect() throws(SystemdError) -> BusConnection {
        let descriptor =
            if let connector, let owner { try connector(path, owner) } else {
                try connectedSocket()
            }
        var pointer: OpaquePointer?
        let made = sd_bus_new(&pointer)
        guard made >= 0, let pointer else {
            close(descriptor)
            throw SystemdError(operation: "sd_bus_new", errno: made < 0 ? -made : ENOMEM)
        }
        let connection = BusConnection(pointer)
        let given = sd_bus_set_fd(pointer, descriptor, descriptor)
        guard given >= 0 else {
            close(descriptor)
            throw SystemdError(operation: "sd_bus_set_fd", errno: -given)
        }
        try SystemdError.check(
            sd_bus_set_bus_client(pointer, isBus ? 1 : 0), "sd_bus_set_bus_client")
        try SystemdError.check(sd_bus_start(pointer), "sd_bus_start", subject: path)
        return connection
    }

    private func connectedSocket() throws(SystemdError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0),
            bytes.count < MemoryLayout.size(ofValue: address.sun_path)
        else { throw error("connect", EINVAL) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw error("socket", errno) }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                // Unix sockets connect at once or not at all.
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else {
            let number = errno
            close(descriptor)
            throw error("connect", number)
        }
        do throws(SystemdError) {
            try checkOwner(of: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private func checkOwner(of descriptor: Int32) throws(SystemdError) {
        guard let owner else { return }
        // struct ucred of unix(7), which Swift's Glibc does not have.
        var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 else {
            throw error("getsockopt", errno)
        }
        guard peer.user == owner else {
            throw SystemdError(
                operation: "connect", errno: EPERM,
                subject: "\(path) belongs to user \(peer.user) and not to user \(owner)")
        }
    }

    private func error(_ operation: String, _ number: Int32) -> SystemdError {
        SystemdError(operation: operation, errno: number, subject: path)
    }
}
