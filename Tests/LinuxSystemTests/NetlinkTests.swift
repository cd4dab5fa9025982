import CLinux
import Glibc
import LinuxSystem
import TestKit
import Testing

extension LinuxTests {
    /// What the kernel tells by netlink(7), as bytes.
    @Suite struct NetlinkTests {
        /// The bytes of a plain C value.
        private func bytes<Value: BitwiseCopyable>(_ value: Value) -> [UInt8] {
            withUnsafeBytes(of: value) { Array($0) }
        }

        private func attribute(_ type: UInt32, _ payload: [UInt8]) -> [UInt8] {
            let header = rtattr(
                rta_len: UInt16(payload.count + 4), rta_type: UInt16(truncatingIfNeeded: type))
            return bytes(header) + payload + [UInt8](repeating: 0, count: -payload.count & 3)
        }

        private func hop(_ interface: Int32, flags: Int32 = 0, _ attributes: [UInt8] = [])
            -> [UInt8]
        {
            bytes(
                rtnexthop(
                    rtnh_len: UInt16(8 + attributes.count), rtnh_flags: UInt8(flags), rtnh_hops: 0,
                    rtnh_ifindex: interface)) + attributes
        }

        private func route(
            family: Int32 = AF_INET, prefix: UInt8 = 0, type: Int = Int(RTN_UNICAST),
            flags: Int32 = 0, _ attributes: [UInt8]
        ) throws -> RouteMessage {
            var route = rtmsg()
            route.rtm_family = UInt8(family)
            route.rtm_dst_len = prefix
            route.rtm_type = UInt8(type)
            route.rtm_flags = UInt32(flags)
            return try #require(RouteMessage((bytes(route) + attributes)[...]))
        }

        private var toThree: [UInt8] { attribute(RTA_OIF.rawValue, bytes(Int32(3))) }

        @Test("a default route is one to everywhere that takes packets, of either family")
        func defaultRoutes() throws {
            #expect(try route(toThree).isDefault)
            #expect(try route(family: AF_INET6, toThree).isDefault)
            #expect(try !route(prefix: 24, toThree).isDefault)
            #expect(try !route(family: 128, toThree).isDefault)
            let refusing = [RTN_BLACKHOLE, RTN_UNREACHABLE, RTN_PROHIBIT, RTN_THROW, RTN_LOCAL]
            for type in refusing { #expect(try !route(type: Int(type), toThree).isDefault) }
            #expect(try !route(flags: RTM_F_CLONED, toThree).isDefault)
        }

        @Test("a route's hops are its interface, or those that share it, each alive or not")
        func hops() throws {
            let gateway = attribute(RTA_GATEWAY.rawValue, [10, 0, 0, 1])
            #expect(try route(gateway + toThree).hops == [.init(interface: 3, isAlive: true)])
            #expect(try route(gateway).hops == [.init(interface: nil, isAlive: true)])
            #expect(
                try route(flags: RTNH_F_LINKDOWN, toThree).hops
                    == [.init(interface: 3, isAlive: false)])
            let several = attribute(
                RTA_MULTIPATH.rawValue, hop(5, flags: RTNH_F_DEAD, gateway) + hop(6))
            #expect(
                try route(several).hops == [
                    .init(interface: 5, isAlive: false), .init(interface: 6, isAlive: true),
                ])
        }

        @Test("a datagram is taken apart up to what is cut short, at every byte")
        func cuts() {
            var datagram: [UInt8] = []
            for number: UInt32 in 1...3 {
                var header = nlmsghdr()
                header.nlmsg_len = 16 + number
                header.nlmsg_seq = number
                datagram += bytes(header) + [UInt8](repeating: 7, count: Int(number)) + [0, 0, 0]
                datagram.removeLast(Int(number - 1))
            }
            for count in 0...datagram.count {
                let messages = Array(NetlinkMessages(datagram.prefix(count)))
                #expect(
                    messages.map(\.header.nlmsg_seq)
                        == [1, 2, 3].prefix(messages.count).map(\.self))
                #expect(messages.allSatisfy { $0.payload.count == Int($0.header.nlmsg_seq) })
                #expect(messages.count >= count / 20)
            }
        }

        @Test("lengths that lie end the message", arguments: [0, 1, 3, 15, 17, 65_535, UInt32.max])
        func lies(length: UInt32) {
            var header = nlmsghdr()
            header.nlmsg_len = length
            #expect(Array(NetlinkMessages(bytes(header)[...])).isEmpty)
            let short = rtattr(rta_len: UInt16(truncatingIfNeeded: length & 3), rta_type: 1)
            #expect(Array(NetlinkAttributes(bytes(short)[...])).isEmpty)
            let lying = rtnexthop(
                rtnh_len: UInt16(truncatingIfNeeded: length), rtnh_flags: 0, rtnh_hops: 0,
                rtnh_ifindex: 1)
            let many = attribute(RTA_MULTIPATH.rawValue, bytes(lying))
            #expect((try? route(many).hops.count) == 1)
        }

        @Test("random bytes make no trap", arguments: 0..<Effort.choose(20))
        func fuzz(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            for _ in 0..<2000 {
                let count = Int.random(in: 0..<200, using: &random)
                // Small numbers, so that lengths are often nearly right.
                let most: UInt8 = Bool.random(using: &random) ? 40 : 255
                let datagram = (0..<count).map { _ in UInt8.random(in: 0...most, using: &random) }
                for message in NetlinkMessages(datagram[...]) { _ = RouteMessage(message.payload) }
                _ = RouteMessage(datagram[...])
                _ = UeventWatch.has(UeventWatch.mark("power_supply"), datagram[...])
            }
        }

        @Test("a uevent is one of the subsystem that it names as a whole")
        func uevents() {
            let mark = UeventWatch.mark("power_supply")
            func event(_ subsystem: String) -> ArraySlice<UInt8> {
                let text = "change@/devices/x\0ACTION=change\0SUBSYSTEM=\(subsystem)\0SEQNUM=1\0"
                return Array(text.utf8)[...]
            }
            #expect(UeventWatch.has(mark, event("power_supply")))
            #expect(!UeventWatch.has(mark, event("power_supply2")))
            #expect(!UeventWatch.has(mark, event("net")))
            #expect(!UeventWatch.has(mark, []))
        }
    }
}
