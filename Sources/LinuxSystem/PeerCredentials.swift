internal import CLinux

/// Who is at the other end of a Unix socket, as the kernel saw them when they connected.
package struct PeerCredentials: Equatable, Sendable {
    package let user: UInt32
    package let group: UInt32
    /// May have ended since, and its number may be another's by now.
    package let processID: Int32
    /// The supplementary groups, in the kernel's order.
    package let groups: [UInt32]

    package init(user: UInt32, group: UInt32, processID: Int32, groups: [UInt32]) {
        self.user = user
        self.group = group
        self.processID = processID
        self.groups = groups
    }

    /// Asks SO_PEERCRED and SO_PEERGROUPS (unix(7)) of a connected socket.
    ///
    /// - Throws: ENOTSOCK, ENODATA and the like where `descriptor` has no peer.
    package init(of descriptor: Int32) throws(SystemError) {
        var processID: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
        try systemCall("getsockopt", "SO_PEERCRED") {
            clx_peer_credentials(descriptor, &processID, &user, &group)
        }
        self.user = user
        self.group = group
        self.processID = processID
        groups = try Self.groups(of: descriptor)
    }

    private static func groups(of descriptor: Int32) throws(SystemError) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: 32)
        while true {
            let room = groups.count
            let count = try systemCall("getsockopt", "SO_PEERGROUPS") {
                clx_peer_groups(descriptor, &groups, room)
            }
            if count <= room { return Array(groups.prefix(count)) }
            groups = [UInt32](repeating: 0, count: count)
        }
    }
}
