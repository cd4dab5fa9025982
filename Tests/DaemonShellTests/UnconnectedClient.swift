import BudgetCore
import DaemonShell
import Glibc
import LinuxSystem
import Testing
import Varlink

/// For connections on which nothing comes.
private final class ClosesHere: DescriptorCloser {
    func close(_ descriptor: consuming OwnedDescriptor, of user: UInt32) {}
    func remove(_ path: String) {}
}

extension Client {
    /// Makes a client that counts for an account, at nobody's end.
    static func unconnected(countedFor account: UInt32, number: UInt64 = 1) throws -> Client {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        close(ends[1])
        let credentials = try PeerCredentials(of: ends[0])
        let core = Core(
            BackgroundTaskRegistry(limits: RegistryLimits(), profiles: [], identifiers: 1...2))
        let socket = StrangersSocket(
            connection: OwnedDescriptor(ends[0]), closer: ClosesHere())
        return Client(
            core, holder: HolderID(rawValue: number), socket: socket, credentials: credentials,
            isOperator: false, isServed: true, acceptedAt: 0,
            ownerUse: OwnerUse(OwnerID(rawValue: account)), limits: ConnectionLimits())
    }
}
