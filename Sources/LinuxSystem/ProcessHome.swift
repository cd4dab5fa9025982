internal import Glibc

/// Where processes that belong together live. It tells whether a process is one of them without a look at them all.
package enum ProcessHome: Hashable, Sendable {
    /// A control group with all below it, as /proc/PID/cgroup shows it.
    case group(String)
    /// What descends from a supervisor.
    case supervisor(Int32)
}

/// Where the process at the other end of a Unix socket lives: its control group and its ancestors, as one look at
/// it shows them.
package struct ProcessOrigin: Equatable, Sendable {
    /// Its group and those above it, the innermost first.
    package let groups: [String]
    /// Itself and its ancestors, the nearest first.
    package let ancestors: [Int32]

    /// Processes that are nested deeper than this are not found.
    private static let depthMax = 64

    /// Looks at the process that connected.
    ///
    /// - Parameters:
    ///   - socket: connected, and ours.
    ///   - withAncestors: whether they are looked for too, each with a read of its own.
    /// - Returns: `nil` where the process is gone, so that its number may be another's by now.
    package init?(peerOf socket: Int32, _ peer: PeerCredentials, withAncestors: Bool) {
        guard peer.processID > 0 else { return nil }
        let process: OwnedDescriptor?
        do throws(SystemError) {
            process = try Self.peerProcess(of: socket)
        } catch {
            return nil
        }
        self.init(of: peer.processID, withAncestors: withAncestors)
        // The number is still the peer's, so what was read is about the peer.
        if let process, process.waitReadable(milliseconds: 0) { return nil }
    }

    package init(of processID: Int32, withAncestors: Bool) {
        groups = Self.nested((try? cgroupName(of: processID)) ?? "")
        ancestors = withAncestors ? Self.ancestors(of: processID) : [processID]
    }

    /// The first of the homes that the process lives in.
    package func first<Value>(_ value: (ProcessHome) -> Value?) -> Value? {
        for group in groups {
            if let found = value(.group(group)) { return found }
        }
        for ancestor in ancestors {
            if let found = value(.supervisor(ancestor)) { return found }
        }
        return nil
    }

    /// A group and those above it, without the root.
    package static func nested(_ group: String) -> [String] {
        var groups: [String] = []
        var rest = group[...]
        while let slash = rest.lastIndex(ofByte: "/"), rest != "/", groups.count < depthMax {
            groups.append(String(rest))
            rest = rest[..<slash]
        }
        return groups
    }

    private static func ancestors(of processID: Int32) -> [Int32] {
        var all = [processID]
        while all.count < depthMax, let last = all.last, let stat = try? ProcessStat(of: last),
            stat.parent > 1
        {
            all.append(stat.parent)
        }
        return all
    }

    /// The process that connected (SO_PEERPIDFD, Linux 6.5); `nil` where the kernel cannot tell.
    ///
    /// - Throws: where it is gone.
    private static func peerProcess(of socket: Int32) throws(SystemError) -> OwnedDescriptor? {
        let option: Int32 = 77
        var descriptor: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, option, &descriptor, &length) != 0 else {
            return OwnedDescriptor(descriptor)
        }
        if errno == ENOPROTOOPT { return nil }
        throw SystemError(operation: "getsockopt", errno: errno, subject: "SO_PEERPIDFD")
    }
}

/// The control group of a process, as /proc/PID/cgroup shows it.
package func cgroupName(of processID: Int32) throws(SystemError) -> String {
    let path = "/proc/\(processID)/cgroup"
    guard let name = unifiedGroup(in: try readText(path)) else {
        throw SystemError(
            operation: "read", errno: ENOENT, subject: path, detail: "no cgroup v2 group in it")
    }
    return String(name)
}

/// The cgroup v2 group that a text of /proc/PID/cgroup names; `nil` where it names none.
package func unifiedGroup(in text: String) -> Substring? {
    text.lines.lazy.compactMap { $0.rest(behind: "0::") }.first {
        $0.utf8.first == UInt8(ascii: "/")
    }
}
