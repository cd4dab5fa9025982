/// Which daemon a verb speaks to.
struct SocketChoice: Equatable, Sendable {
    let path: String
    let origin: Origin

    /// Where the path comes from; it decides how the daemon is started there.
    enum Origin: Sendable {
        case system, user, given
    }

    /// What the command line and the surroundings say about the socket.
    struct Wish {
        var socket: String?
        var user = false
        var system = false
        var isRoot = false
        /// `$BGTASK_SOCKET`.
        var environmentSocket: String?
        /// `$XDG_RUNTIME_DIR`.
        var runtimeDirectory: String?
    }

    static let systemPath = "/run/bgtaskd/org.bgtaskd"

    /// - Throws: where a user's socket is wanted and nothing says where it is.
    init(_ wish: Wish) throws(Failure) {
        if let socket = wish.socket {
            self.init(path: socket, origin: .given)
        } else if wish.system {
            self.init(path: Self.systemPath, origin: .system)
        } else if !wish.user, let socket = wish.environmentSocket, !socket.isEmpty {
            self.init(path: socket, origin: .given)
        } else if !wish.user, wish.isRoot {
            self.init(path: Self.systemPath, origin: .system)
        } else {
            guard let directory = wish.runtimeDirectory, !directory.isEmpty else {
                throw Failure(
                    "XDG_RUNTIME_DIR is not set, so your daemon's socket is not known; "
                        + "give --socket PATH or --system")
            }
            self.init(path: directory + "/bgtaskd/org.bgtaskd", origin: .user)
        }
    }

    private init(path: String, origin: Origin) {
        self.path = path
        self.origin = origin
    }

    /// How a daemon is started that would listen here.
    var startCommand: String {
        switch origin {
        case .system: "bgtaskd --system"
        case .user: "bgtaskd --user"
        case .given: "bgtaskd --socket \(VisibleText.oneLine(path))"
        }
    }
}
