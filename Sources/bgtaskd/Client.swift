internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

/// One connection of a client, and the call that it waits for.
final class Client {
    /// What a call that is still open is for.
    enum OpenCall {
        case begin(TaskID)
        case watch(TaskID?, output: Bool, by: Caller)
        case wait(TaskID, until: Instant)
        case output(TaskID, position: Int, follow: Bool)
        case list(ListCursor)
        /// A submission or a cancel that is answered when the disk has it.
        case order(TaskID, Order)
        /// An order about a group, which is answered then too.
        case groupOrder(String)
        /// A question about a task that only the disk knows.
        case lookUp(TaskID, LookUp, by: Caller)
        case history(HistoryListing)
        case applicationWatch(String?, by: Caller)
        case applicationList(ApplicationListCursor)
        /// A call about an application, by its number.
        case application(UInt64)
        /// Processes whose units are being looked at.
        case adoption(ApplicationKey)
        /// A command that is registered when the user database has answered.
        case account
    }

    /// What an order is that waits for the disk.
    enum Order {
        case submission
        /// A submission for which another one stands.
        case coalesced
        case cancel
    }

    /// What the epoll waits for while more may come.
    static let whatComes: Readiness = [.input, .peerClosed]
    /// What says that something came, or that nothing more will.
    static let whatIsRead: Readiness = [.input, .peerClosed, .hangUp, .error]
    static let whatEnds: Readiness = [.hangUp, .error]

    /// What the epoll has of it.
    var token: UInt64 = 0
    let descriptor: OwnedDescriptor
    let credentials: PeerCredentials
    /// Whether it may reach the tasks of all owners.
    let isOperator: Bool
    /// Whether its calls are answered at all.
    let isServed: Bool
    /// When it had connected, on CLOCK_BOOTTIME in nanoseconds.
    let acceptedAt: Int64
    let ownerUse: Daemon.OwnerUse
    let caller: Caller
    let holder: HolderID
    var connection: ServerConnection
    var openCall: OpenCall? {
        didSet { hasOpenCall = openCall != nil }
    }
    /// Whether a call is open, which is asked for all the time and so without looking at the whole of it.
    private(set) var hasOpenCall = false
    /// Events of the open call so far.
    var eventCount = 0
    /// The peer has sent all that it will.
    var isInputAtEnd = false
    var isClosed = false
    /// Whether it is counted for its account no longer.
    var hasLeft = false
    /// Whether it is among those for whom something came or was made in this turn.
    var isPending = false
    /// Whether it waits for its turn to have calls taken.
    var isReady = false
    /// Whether it waits for its turn to have replies made.
    var isInRounds = false
    /// Events that are still to be written for it.
    var events = EventLine()
    /// Whether a listing of the history goes on when the reader has taken what was made.
    var wantsPage = false
    /// What the epoll waits for.
    var watchedFor = Client.whatComes
    /// Whether it is not read, because its owner's buffers are full.
    var waitsForRoom = false
    /// What was last counted of its buffers for its owner.
    var bufferedBytes = 0
    /// What a listing holds until its answer is made.
    var listedBytes = 0
    /// The application whose process has opened it; `nil` where it is of none.
    var origin: ConnectionOrigin?
    /// Whether that is to be looked for again.
    var awaitsOrigin = false
    /// What confines its process; `nil` before it has had a command registered.
    var standing: PeerStanding?
    var isDenialLogged = false

    init(
        holder: HolderID, descriptor: consuming OwnedDescriptor, credentials: PeerCredentials,
        isOperator: Bool, isServed: Bool, acceptedAt: Int64, ownerUse: Daemon.OwnerUse,
        limits: ConnectionLimits
    ) {
        self.holder = holder
        self.descriptor = descriptor
        self.credentials = credentials
        self.isOperator = isOperator
        self.isServed = isServed
        self.acceptedAt = acceptedAt
        self.ownerUse = ownerUse
        caller = Caller(owner: OwnerID(rawValue: credentials.user))
        connection = ServerConnection(limits: limits, frequent: Daemon.frequentMethods)
    }

    /// Whether nobody waits for anything on it.
    var isIdle: Bool {
        !hasOpenCall && connection.callsWaiting == 0 && connection.pendingOutputCount == 0
    }

    /// What it holds for its owner's account.
    var heldBytes: Int {
        connection.bufferedBytes + listedBytes + events.heldBytes + (isClosed ? 0 : groupBytes)
    }

    /// What the list of its groups takes, for as long as it is open: there may be 65,536 of them, and each
    /// connection has a list of its own.
    var groupBytes: Int { credentials.groups.count * MemoryLayout<UInt32>.size }

    /// Answers the call in progress.
    func reply<M: Message>(_ message: M, continues: Bool = false) {
        settle(connection.reply(message, continues: continues))
    }

    /// Answers the call in progress with what others get too.
    func reply(_ message: SharedMessage, number: Int = 0, continues: Bool) {
        settle(connection.reply(message, number: number, continues: continues))
    }

    func reply(_ error: ServiceError) {
        settle(connection.reply(error))
    }

    func replyError<M: Message>(_ name: String, _ parameters: M) {
        settle(connection.replyError(name, parameters))
    }

    /// The buffers of a client that is closed may be gone, and its call in progress with them.
    private func settle(_ result: ServerConnection.ReplyResult) {
        assert(
            isClosed || result == .queued || result == .suppressed, "a reply that nobody waits for")
    }

    /// Reads what is there into the connection.
    ///
    /// - Throws: where the peer broke the protocol.
    func receive(using buffer: UnsafeMutableRawBufferPointer) throws(ProtocolViolation) {
        while true {
            let count = recv(descriptor.rawValue, buffer.baseAddress, buffer.count, 0)
            if count > 0 {
                return try connection.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            isInputAtEnd = true
            if count < 0 { isClosed = true }
            return
        }
    }

    /// Sends what the socket takes.
    func send() {
        while connection.pendingOutputCount > 0 {
            let socket = descriptor.rawValue
            let count = connection.withPendingOutput { bytes in
                Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                connection.sent(count)
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                isClosed = true
                return
            }
        }
    }
}
