internal import CLinux
internal import Glibc

/// A socket to the kernel's netlink(7) that hears some multicast groups; non-blocking, close-on-exec.
struct NetlinkSocket: ~Copyable {
    private let socket: OwnedDescriptor
    /// Its address: the kernel's answers to this socket carry it.
    let port: UInt32
    /// The kernel makes no part of a dump larger than the reader's buffer.
    private var buffer = [UInt8](repeating: 0, count: 32_768)

    /// What came.
    enum Reception {
        case nothing
        /// Messages found no room, or did not fit: what they said has to be read anew. What comes after this is whole
        /// until it is told again.
        case lost
        /// Empty where it is not from the kernel.
        case datagram(ArraySlice<UInt8>)
    }

    /// - Parameters:
    ///   - family: of netlink, such as NETLINK_ROUTE.
    ///   - groups: a bit for each multicast group.
    /// - Throws: as of socket(2) and bind(2): EAFNOSUPPORT where a sandbox keeps netlink away.
    init(_ family: Int32, groups: UInt32) throws(SystemError) {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = try systemCall("socket", "AF_NETLINK") {
            Glibc.socket(AF_NETLINK, type, family)
        }
        let made = OwnedDescriptor(descriptor)
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = groups
        var length = Self.addressLength
        try systemCall("bind", "AF_NETLINK") {
            Self.withPointer(to: &address) { bind(descriptor, $0, length) }
        }
        try systemCall("getsockname", "AF_NETLINK") {
            Self.withPointer(to: &address) { getsockname(descriptor, $0, &length) }
        }
        socket = made
        port = address.nl_pid
    }

    var descriptor: Int32 { socket.rawValue }

    /// Sends a request, which is a plain C value, to the kernel.
    func send<Request: BitwiseCopyable>(_ request: Request) throws(SystemError) {
        let descriptor = descriptor
        var kernel = sockaddr_nl()
        kernel.nl_family = sa_family_t(AF_NETLINK)
        try systemCall("sendto", "AF_NETLINK") {
            withUnsafeBytes(of: request) { bytes in
                Self.withPointer(to: &kernel) {
                    sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, Self.addressLength)
                }
            }
        }
    }

    /// Takes one datagram, without waiting for one; all that is there where something is lost.
    mutating func receive() throws(SystemError) -> Reception {
        do throws(SystemError) {
            return try receiveNext()
        } catch {
            guard error.errno == ENOBUFS else { throw error }
        }
        // From the moment that it says so until all is taken, the kernel drops whatever else comes, without a word
        // (NETLINK_S_CONGESTED in net/netlink/af_netlink.c).
        while true {
            do throws(SystemError) {
                if case .nothing = try receiveNext() { return .lost }
            } catch {
                guard error.errno == ENOBUFS else { throw error }
            }
        }
    }

    /// - Throws: ENOBUFS where messages found no room.
    private mutating func receiveNext() throws(SystemError) -> Reception {
        let descriptor = descriptor
        var sender = sockaddr_nl()
        var length = Self.addressLength
        let count: Int
        do throws(SystemError) {
            count = try systemCall("recvfrom", "AF_NETLINK") {
                buffer.withUnsafeMutableBytes { bytes in
                    Self.withPointer(to: &sender) {
                        recvfrom(
                            descriptor, bytes.baseAddress, bytes.count, Int32(MSG_TRUNC),
                            $0, &length)
                    }
                }
            }
        } catch {
            guard error.errno == EAGAIN else { throw error }
            return .nothing
        }
        guard sender.nl_pid == 0 else { return .datagram([]) }
        return count > buffer.count ? .lost : .datagram(buffer.prefix(count))
    }

    private static let addressLength = socklen_t(MemoryLayout<sockaddr_nl>.size)

    private static func withPointer<Result>(
        to address: inout sockaddr_nl, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
