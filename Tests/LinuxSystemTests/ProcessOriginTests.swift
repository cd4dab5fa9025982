import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// Whose process is at the other end of a socket.
    @Suite struct ProcessOriginTests {
        @Test("a process is found by its group and those above, and by its ancestors")
        func own() throws {
            let origin = ProcessOrigin(of: getpid(), withAncestors: true)
            #expect(origin.ancestors.prefix(2) == [getpid(), getppid()][...] || getppid() <= 1)
            let group = try cgroupName(of: getpid())
            #expect(origin.groups.first == (group == "/" ? nil : group))
            #expect(origin.groups.allSatisfy { group.hasPrefix($0) })
            #expect(origin.first { $0 == .supervisor(getpid()) ? 1 : nil } == 1)
            #expect(origin.first { $0 == .group("/nowhere") ? 1 : nil } == nil)
            #expect(ProcessOrigin(of: getpid(), withAncestors: false).ancestors == [getpid()])
        }

        @Test("one that has ended is nobody")
        func gone() {
            let origin = ProcessOrigin(of: .max, withAncestors: true)
            #expect(origin.groups.isEmpty)
            #expect(origin.ancestors == [.max])
        }

        @Test("the peer of a socket is found while it is there")
        func peer() throws {
            var ends: [Int32] = [-1, -1]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            defer { for end in ends { close(end) } }
            let credentials = try PeerCredentials(of: ends[0])
            let origin = ProcessOrigin(peerOf: ends[0], credentials, withAncestors: true)
            #expect(origin == ProcessOrigin(of: getpid(), withAncestors: true))
        }
    }
}
