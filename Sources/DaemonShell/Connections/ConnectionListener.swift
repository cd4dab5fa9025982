internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Settings
internal import Systemd
internal import Varlink

/// The listening sockets: who comes is let in, or sent away.
final class ConnectionListener {
    /// Connections accepted in one turn.
    private static let acceptsPerTurn = 64
    /// Connections beyond clientsMax for those who are to put things right.
    private static let operatorsReserve = 16
    private static let retryInterval = Duration.seconds(1)

    /// What the listener needs of the others.
    struct Parts {
        let core: Core
        let poll: DescriptorPoll
        let pool: ConnectionPool
        let settings: CurrentSettings
        let configuration: Configuration
        let access: AccessControl
        let accounts: AccountSource
        let origins: OriginSearch
        let refusals: RefusalLog
        let numbers: NumberSource
        let closers: Closers
        let log: Logger
    }

    private let parts: Parts
    private var sockets: [ListeningSocket] = []
    private var isAccepting = true
    /// Whether nobody is let in any more.
    private var isClosed = false
    /// When connections are tried again, where there were no descriptors for them.
    private(set) var acceptAgainAt: Instant?
    /// Connections let in.
    private(set) var connectionCount = 0

    init(_ parts: Parts) {
        self.parts = parts
    }

    /// Serves a listening socket from now on.
    func listen(_ listener: consuming UnixListener) throws(SystemError) {
        let socket = ListeningSocket(listener)
        socket.listener = self
        socket.registration = try parts.poll.add(socket.descriptor, .input, socket)
        sockets.append(socket)
    }

    /// Lets nobody in any more: who comes is the next daemon's.
    func close() { isClosed = true }

    /// Lets go of the sockets; the daemon's own files go with them.
    func removeAll() {
        for socket in sockets {
            if let registration = socket.registration { parts.poll.remove(registration) }
            socket.sendAway(parts.closers)
        }
        sockets = []
    }

    fileprivate func accept(on socket: ListeningSocket) {
        guard !isClosed else { return }
        for _ in 0..<Self.acceptsPerTurn {
            do {
                switch try socket.accept() {
                case .connection(let descriptor):
                    admit(StrangersSocket(connection: descriptor, closer: parts.closers))
                case .none: return
                case .exhausted(let errno): return stopAccepting(errorText(errno))
                }
            } catch {
                return parts.log.say(.acceptFailed, [.reason: "\(error)"])
            }
        }
    }

    private static let costly =
        "so many poll this user's connections that calls have cost too much of late"

    private func admit(_ socket: StrangersSocket) {
        do {
            let credentials = try PeerCredentials(of: socket.rawValue)
            // To tell it why would be one more call that may cost too much.
            guard !socket.isOfCostly else {
                return parts.refusals.say(.connectionRefused, credentials, Self.costly)
            }
            guard let use = admission(of: credentials) else { return }
            var limits = ConnectionLimits()
            limits.frameBytesMax = parts.settings.limits.frameBytesMax
            let isOperator = parts.configuration.isOperator(credentials)
            let client = Client(
                parts.core, holder: HolderID(rawValue: parts.numbers.next()),
                socket: socket, credentials: credentials, isOperator: isOperator,
                isServed: parts.access.serves(credentials, isOperator: isOperator),
                acceptedAt: BootTimeClock.now(), ownerUse: use, limits: limits)
            try parts.pool.add(client)
            connectionCount += 1
            parts.origins.find(of: client)
        } catch {
            parts.log.say(.connectionNotServed, [.reason: "\(error)"])
        }
    }

    /// The account that a connection counts for; `nil` where it is not let in.
    private func admission(of peer: PeerCredentials) -> OwnerUse? {
        let owner = OwnerID(rawValue: peer.user)
        let account = parts.accounts.accounts.account(of: owner)
        if account == owner, parts.pool.use(of: owner) == nil {
            parts.accounts.stranger(at: parts.core.now)
        }
        let limits = parts.settings.limits
        let admission = Admission(
            countMax: limits.clientsMax, countPerAccountMax: limits.clientsPerOwnerMax)
        let reserve = parts.configuration.isOperator(peer) ? Self.operatorsReserve : 0
        let decision = admission.decide(
            connections: parts.pool.clients.count,
            ofAccount: parts.pool.use(of: account)?.members.count ?? 0, reserve: reserve
        ) { parts.pool.accountOfMost }
        switch decision {
        case .admitted: break
        case .inPlaceOfOne(let other): parts.pool.giveUpOne(of: other, for: owner)
        case .refused(let limit, let value):
            parts.refusals.say(.connectionRefused, peer, "\(limit) (\(value))")
            return nil
        }
        return parts.pool.use(of: account) ?? OwnerUse(account)
    }

    // MARK: - Descriptors are used up

    /// Connections wait until one is closed, or for a second, since it may be others who have the descriptors.
    private func stopAccepting(_ reason: String) {
        guard isAccepting else { return }
        isAccepting = false
        acceptAgainAt = parts.core.now + Self.retryInterval
        parts.refusals.say(.connectionsNotAccepted, nil, reason)
        setInterest([])
    }

    /// There may be descriptors again.
    func startAccepting() {
        guard !isAccepting else { return }
        isAccepting = true
        acceptAgainAt = nil
        setInterest(.input)
    }

    private func setInterest(_ readiness: Readiness) {
        for socket in sockets {
            guard let registration = socket.registration else { continue }
            do {
                try parts.poll.modify(registration, readiness)
            } catch {
                parts.log.say(.socketNotWatched, [.reason: "\(error)"])
            }
        }
    }
}

/// A listening socket among the descriptors of the loop.
private final class ListeningSocket: DescriptorHandler {
    private let socket: UnixListener
    unowned var listener: ConnectionListener?
    var registration: DescriptorPoll.Registration?

    init(_ socket: consuming UnixListener) {
        self.socket = socket
    }

    var descriptor: Int32 { socket.descriptor }

    func accept() throws(SystemError) -> UnixListener.Acceptance { try socket.accept() }

    /// Nobody waits there any more, unless somebody else has the socket.
    func sendAway(_ closers: Closers) {
        if !socket.isInherited { socket.sendAway(closers) }
    }

    func ready(_ readiness: Readiness) { listener?.accept(on: self) }
}
