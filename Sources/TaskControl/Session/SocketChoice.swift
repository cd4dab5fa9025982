internal import Glibc
internal import TaskAPI

/// Which daemon a verb speaks to: without a word about it the system's where there is one, else the user's own.
package struct SocketChoice: Equatable, Sendable {
    package let path: String
    let origin: Origin
    private let isService: Bool

    /// Where the path comes from; it decides how the daemon is started there.
    enum Origin: Sendable {
        case system, user, given
    }

    /// What the command line and the surroundings say about the socket.
    package struct Wish {
        var socket: String?
        var user = false
        var system = false
        var isRoot = false
        /// `$BGTASK_SOCKET`.
        var environmentSocket: String?
        /// `$XDG_RUNTIME_DIR`.
        var runtimeDirectory: String?
        /// Whether systemd has the daemon's units.
        var isService = false
        /// Whether there is the socket of the system's daemon.
        var hasSystemSocket = false

        package init(
            socket: String? = nil, user: Bool = false, system: Bool = false, isRoot: Bool = false,
            environmentSocket: String? = nil, runtimeDirectory: String? = nil,
            isService: Bool = false, hasSystemSocket: Bool = false
        ) {
            self.socket = socket
            self.user = user
            self.system = system
            self.isRoot = isRoot
            self.environmentSocket = environmentSocket
            self.runtimeDirectory = runtimeDirectory
            self.isService = isService
            self.hasSystemSocket = hasSystemSocket
        }
    }

    package static let systemPath = DaemonSocketPath.system

    /// - Throws: where a user's socket is wanted and nothing says where it is.
    package init(_ wish: Wish) throws(Failure) {
        isService = wish.isService
        if let socket = wish.socket {
            (path, origin) = (socket, .given)
        } else if wish.system {
            (path, origin) = (Self.systemPath, .system)
        } else if !wish.user, let socket = wish.environmentSocket, !socket.isEmpty {
            (path, origin) = (socket, .given)
        } else if !wish.user, wish.isRoot || wish.hasSystemSocket {
            (path, origin) = (Self.systemPath, .system)
        } else {
            guard let directory = wish.runtimeDirectory, !directory.isEmpty else {
                let system = wish.user ? "" : "the system's daemon has no socket, and "
                throw Failure(
                    system + "XDG_RUNTIME_DIR is not set, so your own daemon's socket is not "
                        + "known; give --socket PATH")
            }
            (path, origin) = (DaemonSocketPath.user(directory), .user)
        }
    }

    /// Chooses by what the command line says, and by the surroundings of this process.
    static func here(socket: String?, user: Bool, system: Bool) throws(Failure) -> SocketChoice {
        try SocketChoice(
            Wish(
                socket: socket, user: user, system: system, isRoot: geteuid() == 0,
                environmentSocket: Surroundings.value("BGTASK_SOCKET"),
                runtimeDirectory: Surroundings.value("XDG_RUNTIME_DIR"),
                isService: Surroundings.hasUnits, hasSystemSocket: Surroundings.hasSystemSocket))
    }

    /// How a daemon is started that would listen here.
    var startCommand: String {
        switch origin {
        case .system: isService ? "systemctl start bgtaskd.socket" : "bgtaskd --system"
        case .user: isService ? "systemctl --user start bgtaskd.socket" : "bgtaskd --user"
        case .given: "bgtaskd --socket \(VisibleText.oneLine(path))"
        }
    }
}
