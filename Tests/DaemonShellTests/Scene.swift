import BudgetCore
import DaemonShell
import Glibc
import LinuxSystem
import Logging
import Settings
import Systemd
import TaskStore
import Testing
import Varlink

/// The daemon's parts without a daemon: a core whose clock the test sets, and connections whose other ends it has.
final class Scene {
    /// What the core's clock says, in seconds.
    final class Clock {
        var seconds: Int64 = 1
    }

    let clock = Clock()
    let core: Core
    let poll: DescriptorPoll
    let settings = CurrentSettings(LoadedSettings())
    let accounts: AccountSource
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let closers: Closers
    let pool: ConnectionPool
    let streams: ReplyStreams
    let subscriptions: Subscriptions
    let replies: PendingReplies
    let numbers = NumberSource()
    private let refusals: RefusalLog

    init() throws {
        let budget = try #require(Budget(duration: .seconds(100), grace: .seconds(10)))
        let registry = BackgroundTaskRegistry(
            limits: RegistryLimits(),
            profiles: [Profile(name: "default", budget: budget, lifetimeMax: nil)],
            identifiers: 1...1024)
        core = Core(
            registry,
            Core.Clocks(
                read: { [clock] in (clock.seconds * 1_000_000_000, 0) },
                timeOfDay: { WallTime(microseconds: 1_800_000_000_000_000) }))
        poll = try DescriptorPoll()
        accounts = try AccountSource(path: nil)
        closers = try Closers(poll, nil, accounts, log)
        refusals = RefusalLog(core, accounts, log)
        pool = ConnectionPool(core, poll, settings, accounts, refusals, log)
        let origins = OriginSearch(core, RunningApplications(), withAncestors: false)
        streams = ReplyStreams(core, pool, refusals, origins)
        subscriptions = Subscriptions(core, pool, streams)
        replies = PendingReplies(pool, numbers)
        streams.connect { [subscriptions] in subscriptions.remove($0, $1) }
    }

    var second: Int64 { core.now.nanoseconds / 1_000_000_000 }

    /// A connection with a call in progress.
    func caller(of user: UInt32 = 1000, more: Bool = false) throws -> Caller {
        var ends: [Int32] = [-1, -1]
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        #expect(socketpair(AF_UNIX, flags, 0, &ends) == 0)
        let account = OwnerID(rawValue: user)
        let client = Client(
            core, holder: HolderID(rawValue: numbers.next()),
            socket: StrangersSocket(connection: OwnedDescriptor(ends[0]), closer: closers),
            credentials: try PeerCredentials(of: ends[0]), isOperator: false, isServed: true,
            acceptedAt: 0, ownerUse: pool.use(of: account) ?? OwnerUse(account),
            limits: ConnectionLimits())
        try pool.add(client)
        let caller = Caller(client, peer: ends[1])
        try caller.call(more: more, through: poll)
        return caller
    }

    /// A client, and the other end of its connection.
    final class Caller {
        let client: Client
        private let peer: Int32

        init(_ client: Client, peer: Int32) {
            self.client = client
            self.peer = peer
        }

        deinit { close(peer) }

        /// Calls something, which is in progress then.
        func call(more: Bool = false, through poll: DescriptorPoll) throws {
            let text = #"{"method":"a.B"\#(more ? #","more":true"# : "")}"#
            let bytes = Array(text.utf8) + [0]
            #expect(write(peer, bytes, bytes.count) == bytes.count)
            #expect(try poll.poll())
            _ = try #require(try client.connection.nextCall())
        }

        /// The replies that have been made, each without its zero byte.
        func replies() -> [String] {
            client.send()
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(peer, &buffer, buffer.count)
            guard count > 0 else { return [] }
            return buffer[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
