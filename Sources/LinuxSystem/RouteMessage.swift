internal import CLinux
internal import Glibc

/// A route as the kernel tells it, as far as it decides whether something can leave (rtnetlink(7)).
package struct RouteMessage {
    /// Whether it leads to everywhere: IPv4 or IPv6, of any routing table, and neither one that refuses
    /// (blackhole, unreachable, prohibit) nor one that looks on in another table (throw).
    package let isDefault: Bool
    /// One, or several that share the load.
    package let hops: [Hop]

    package struct Hop: Equatable {
        /// The number of the interface; `nil` where the kernel does not say it.
        let interface: Int32?
        /// Whether the kernel would use it: its interface is up and has a carrier.
        let isAlive: Bool

        package init(interface: Int32?, isAlive: Bool) {
            self.interface = interface
            self.isAlive = isAlive
        }
    }

    /// - Returns: `nil` for what is too short to be a route.
    package init?(_ payload: ArraySlice<UInt8>) {
        guard let route = payload.value(rtmsg.self) else { return nil }
        isDefault =
            [UInt8(AF_INET), UInt8(AF_INET6)].contains(route.rtm_family)
            && route.rtm_dst_len == 0 && Int(route.rtm_type) == Int(RTN_UNICAST)
            && route.rtm_flags & UInt32(RTM_F_CLONED) == 0
        var interface: Int32?
        var several: [Hop] = []
        for (type, value) in NetlinkAttributes(payload.dropFirst(MemoryLayout<rtmsg>.size)) {
            switch type {
            case RTA_OIF.rawValue: interface = value.value(Int32.self)
            case RTA_MULTIPATH.rawValue: several = Self.hops(value)
            default: break
            }
        }
        let one = Hop(interface: interface, isAlive: Self.isAlive(route.rtm_flags))
        hops = several.isEmpty ? [one] : several
    }

    private static func hops(_ bytes: ArraySlice<UInt8>) -> [Hop] {
        var rest = bytes
        var hops: [Hop] = []
        let headerSize = MemoryLayout<rtnexthop>.size
        while let header = rest.value(rtnexthop.self),
            rest.takeFirst(Int(header.rtnh_len), atLeast: headerSize) != nil
        {
            let isAlive = isAlive(UInt32(header.rtnh_flags))
            hops.append(Hop(interface: header.rtnh_ifindex, isAlive: isAlive))
        }
        return hops
    }

    private static func isAlive(_ flags: UInt32) -> Bool {
        flags & UInt32(RTNH_F_DEAD | RTNH_F_LINKDOWN) == 0
    }
}
