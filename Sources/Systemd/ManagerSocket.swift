internal import CSystemd
internal import Glibc

/// The way to the service manager's socket: one datagram each, which never waits.
///
/// sd_notify(3) waits for room in the socket's queue, and so for a manager that stands still.
final class ManagerSocket {
    /// How a datagram ended.
    enum Result {
        case sent
        /// There is no room in the queue; to be tried again.
        case full
    }

    private let descriptor: Int32
    private var address: sockaddr_un
    private let length: socklen_t

    /// - Parameter path: what NOTIFY_SOCKET has: an absolute path, or one behind an @ in the abstract
    ///   namespace (sd_notify(3)).
    /// - Throws: ``SystemdError``: EAFNOSUPPORT for anything else, else as of socket(2).
    init(path: String) throws(SystemdError) {
        let bytes = Array(path.utf8)
        var address = sockaddr_un()
        let isAbstract = bytes.first == UInt8(ascii: "@")
        guard isAbstract || bytes.first == UInt8(ascii: "/"),
            bytes.count < MemoryLayout.size(ofValue: address.sun_path)
        else { throw Self.error(EAFNOSUPPORT) }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { field in
            field.copyBytes(from: bytes)
            if isAbstract { field[0] = 0 }
        }
        self.address = address
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw Self.error(errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Sends one datagram.
    ///
    /// - Throws: ``SystemdError`` as of sendto(2): ENOENT or ECONNREFUSED where nobody listens.
    func send(_ text: String) throws(SystemdError) -> Result {
        let bytes = Array(text.utf8)
        while true {
            let count = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
                }
            }
            if count >= 0 { return .sent }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return .full
            default: throw Self.error(errno)
            }
        }
    }

    private static func error(_ number: Int32) -> SystemdError {
        SystemdError(operation: "sd_notify", errno: number)
    }
}
