internal import CLinux
internal import Glibc

/// Follows whether the network namespace has a default route, as the kernel tells it (rtnetlink(7)).
///
/// A default route counts where the kernel would use it, and its interface is up and not the loopback one;
/// where the kernel names no interface, it counts. Whether anything answers at its other end is not known.
///
/// The kernel does not announce every route that it drops together with an interface, with the address that the route
/// sends from (before Linux 6.7), or with a nexthop object. So all routes are read anew after a change of a default route,
/// of any interface or of a nexthop, and after the end of an address. However many changes come during a reading, one
/// more reading follows it.
///
/// Not for a loop: many kernels (before Linux 6.8 or so) block whoever reads the routes, even on a non-blocking socket,
/// while the set-up of any network namespace is being changed.
package final class RouteWatch {
    /// What is known of the default routes.
    package enum State: Equatable, Sendable {
        /// They have not been read yet.
        case unknown
        case none
        /// The interface that one of them leaves by; `nil` where the kernel does not say it.
        case through(String?)
    }

    package private(set) var state = State.unknown

    private var socket: NetlinkSocket
    /// The number of the reading that is under way or was last.
    private var sequence: UInt32 = 0
    private var reading: Reading?
    private var isStale = true

    /// The routes being read.
    private struct Reading {
        var found = State.none
        /// The routes changed meanwhile, so that some may have been passed over.
        var isInterrupted = false
    }

    /// What one call takes at most; the rest keeps the descriptor readable.
    private static let datagramsPerCall = 16
    /// There is no older name for it; kernels before 5.3 pass over it.
    private static let nexthopGroup: UInt32 = 1 << (RTNLGRP_NEXTHOP.rawValue - 1)

    /// Asks for the routes, and may wait; the answer comes with ``read()``.
    ///
    /// - Throws: as of socket(2), bind(2) and sendto(2): EAFNOSUPPORT where a sandbox keeps netlink away.
    package init() throws(SystemError) {
        let groups = RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_IFADDR
        socket = try NetlinkSocket(NETLINK_ROUTE, groups: UInt32(groups) | Self.nexthopGroup)
        try ask()
    }

    /// Readable while there is something for ``read()``.
    package var descriptor: Int32 { socket.descriptor }

    /// Takes what the kernel has told, a bounded part of it, into ``state``.
    ///
    /// - Throws: what the kernel refuses; the watch is of no use then.
    package func read() throws(SystemError) {
        for _ in 0..<Self.datagramsPerCall {
            switch try socket.receive() {
            case .nothing: if try !ask() { return }
            // The end of a reading may be among what is lost.
            case .lost: askAgain()
            case .datagram(let bytes): try take(bytes)
            }
        }
        // The socket may be empty by now, so that nothing else would wake the reader.
        try ask()
    }

    /// Asks for all routes where they may have changed, and are not being read.
    ///
    /// - Returns: whether it did, so that an answer is there.
    @discardableResult
    private func ask() throws(SystemError) -> Bool {
        guard isStale, reading == nil else { return false }
        sequence &+= 1
        var request = clx_route_request()
        request.header.nlmsg_len = UInt32(MemoryLayout<clx_route_request>.size)
        request.header.nlmsg_type = UInt16(RTM_GETROUTE)
        request.header.nlmsg_flags = UInt16(NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH)
        request.header.nlmsg_seq = sequence
        request.route.rtm_family = UInt8(AF_UNSPEC)
        try socket.send(request)
        isStale = false
        reading = Reading()
        return true
    }

    private func take(_ datagram: ArraySlice<UInt8>) throws(SystemError) {
        for message in NetlinkMessages(datagram) {
            let header = message.header
            if header.nlmsg_pid == socket.port, header.nlmsg_seq == sequence {
                try takeAnswer(message)
            } else {
                takeNotice(message)
            }
        }
    }

    private func takeNotice(_ message: NetlinkMessage) {
        switch Int(message.header.nlmsg_type) {
        case Int(RTM_NEWLINK), Int(RTM_DELLINK), Int(RTM_DELADDR), Int(RTM_NEWNEXTHOP),
            Int(RTM_DELNEXTHOP):
            isStale = true
        case Int(RTM_NEWROUTE), Int(RTM_DELROUTE):
            // On a router others change all the time.
            if RouteMessage(message.payload)?.isDefault == true { isStale = true }
        default: break
        }
    }

    private func takeAnswer(_ message: NetlinkMessage) throws(SystemError) {
        guard var reading else { return }
        if message.header.nlmsg_flags & UInt16(NLM_F_DUMP_INTR) != 0 {
            reading.isInterrupted = true
        }
        switch Int(message.header.nlmsg_type) {
        case Int(NLMSG_ERROR), Int(NLMSG_DONE):
            let code = message.payload.value(Int32.self) ?? 0
            switch 0 &- code {
            // The socket was full of notices, or of the reading before.
            case ENOBUFS, EBUSY: return askAgain()
            case ...0: return finish(reading)
            case let errno: throw SystemError(operation: "RTM_GETROUTE", errno: errno)
            }
        case Int(RTM_NEWROUTE):
            if reading.found == .none, let route = RouteMessage(message.payload), route.isDefault {
                reading.found = way(out: route)
            }
        default: break
        }
        self.reading = reading
    }

    /// Nothing more is expected of the reading under way.
    private func askAgain() {
        reading = nil
        isStale = true
    }

    private func finish(_ ended: Reading) {
        reading = nil
        if ended.isInterrupted { isStale = true }
        // A route that was passed over is not one that is gone.
        if ended.found != .none || !ended.isInterrupted { state = ended.found }
    }

    private func way(out route: RouteMessage) -> State {
        for hop in route.hops where hop.isAlive {
            guard let number = hop.interface else { return .through(nil) }
            var interface = clx_interface()
            // Fails where it has gone since, which is announced.
            guard clx_interface(socket.descriptor, number, &interface) == 0, interface.is_up,
                !interface.is_loopback
            else { continue }
            let name = withUnsafeBytes(of: interface.name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            return .through(name)
        }
        return .none
    }
}
