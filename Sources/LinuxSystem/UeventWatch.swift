internal import CLinux
internal import Glibc

/// Hears from the kernel that devices of one subsystem have changed (NETLINK_KOBJECT_UEVENT).
package final class UeventWatch {
    private var socket: NetlinkSocket
    private let mark: [UInt8]

    /// What one call takes at most; the rest keeps the descriptor readable.
    private static let datagramsPerCall = 64
    /// The multicast group that the kernel speaks to; udevd speaks to another.
    private static let kernelGroup: UInt32 = 1

    /// - Parameter subsystem: as in /sys/class.
    /// - Throws: as of socket(2) and bind(2), and ENOTSUP where no uevents come: the kernel sends them only
    ///   to network namespaces of the initial user namespace.
    package init(subsystem: String) throws(SystemError) {
        let isReached = try systemCall("open", "/proc/self/ns/net") { clx_uevents_reach_us() }
        guard isReached == 1 else {
            throw SystemError(
                operation: "bind", errno: ENOTSUP, subject: "NETLINK_KOBJECT_UEVENT",
                detail: "the kernel sends no uevents into a user namespace")
        }
        socket = try NetlinkSocket(NETLINK_KOBJECT_UEVENT, groups: Self.kernelGroup)
        mark = Self.mark(subsystem)
    }

    /// Readable while there is something for ``read()``.
    package var descriptor: Int32 { socket.descriptor }

    /// Takes a bounded part of what has come, without waiting.
    ///
    /// - Returns: whether something of the subsystem may have changed.
    package func read() throws(SystemError) -> Bool {
        var hasChanged = false
        for _ in 0..<Self.datagramsPerCall {
            switch try socket.receive() {
            case .nothing: return hasChanged
            case .lost: hasChanged = true
            case .datagram(let bytes): if Self.has(mark, bytes) { hasChanged = true }
            }
        }
        return hasChanged
    }

    /// Whether a uevent, whose parts end with NUL, has this part.
    package static func has(_ mark: [UInt8], _ datagram: ArraySlice<UInt8>) -> Bool {
        datagram.split(separator: 0).contains { $0.elementsEqual(mark) }
    }

    package static func mark(_ subsystem: String) -> [UInt8] {
        Array("SUBSYSTEM=\(subsystem)".utf8)
    }
}
