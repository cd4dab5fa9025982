package import BudgetCore
internal import Glibc
package import LinuxSystem
internal import TaskAPI
package import Varlink

/// One connection of a client, and the call that it waits for.
package final class Client {
    /// A call that has not had its last reply.
    package enum OpenCall {
        /// One answer is owed, which waits for something to happen.
        case reply(PendingReplies.Ticket)
        /// Events are told as they happen.
        case events(EventStream)
        /// Replies are made as the reader takes them.
        case pages(any Pager)

        var heldBytes: Int {
            switch self {
            case .reply: 0
            case .events(let stream): stream.heldBytes
            case .pages(let pager): pager.heldBytes
            }
        }
    }

    /// What the epoll waits for while more may come.
    static let readInterest: Readiness = [.input, .peerClosed]
    /// What says that something came, or that nothing more will.
    static let readableEvents: Readiness = [.input, .peerClosed, .hangUp, .error]
    static let terminalEvents: Readiness = [.hangUp, .error]

    /// No other connection of this run has it.
    package var number: UInt64 { holder.rawValue }
    private let socket: StrangersSocket
    /// Of the connection, for who asks the kernel about its peer.
    var descriptor: Int32 { socket.rawValue }
    let credentials: PeerCredentials
    /// The process that has connected; 0 where the daemon cannot see it, from inside of a namespace.
    var process: ProcessID { ProcessID(rawValue: credentials.processID) }
    /// Whether it may reach the tasks of all owners.
    let isOperator: Bool
    /// Whether its calls are answered at all.
    let isServed: Bool
    /// When it had connected, on CLOCK_BOOTTIME in nanoseconds.
    let acceptedAt: Int64
    package let ownerUse: OwnerUse
    let caller: Caller
    let holder: HolderID
    package var connection: ServerConnection
    /// The call that waits for something, or goes on.
    package private(set) var openCall: OpenCall?
    /// The peer has sent all that it will.
    private(set) var isInputAtEnd = false
    private(set) var isClosed = false
    /// What keeps it in the poll; `nil` before and after.
    private var registration: DescriptorPoll.Registration?
    /// What the poll waits for.
    private var interest = Client.readInterest
    /// Whether it is counted for its account no longer.
    private var hasLeft = false
    /// In which queues it is, each of which has a flag here so as not to take it twice.
    private var queues: Queues = []
    /// What was last counted of its buffers for its owner.
    private(set) var accountedBytes = 0
    /// The application whose process has opened it; `nil` where it is of none.
    private(set) var origin: ConnectionOrigin?
    /// What confines its process; `nil` before it has had a command registered.
    private(set) var standing: PeerStanding?
    private var isDenialLogged = false
    private let core: Core

    /// The queues that a connection may be in.
    struct Queues: OptionSet {
        let rawValue: UInt8
        /// Those for whom something came or was made in this turn.
        static let dirty = Queues(rawValue: 1)
        /// Those that wait for their turn to have calls taken.
        static let calls = Queues(rawValue: 2)
        /// Those that wait for their turn to have replies made.
        static let replies = Queues(rawValue: 4)
        /// Those that are not read, because their owner's buffers are full.
        static let room = Queues(rawValue: 8)
        /// Those whose process is to be looked at again.
        static let origins = Queues(rawValue: 16)
    }

    package init(
        _ core: Core, holder: HolderID, socket: StrangersSocket, credentials: PeerCredentials,
        isOperator: Bool, isServed: Bool, acceptedAt: Int64, ownerUse: OwnerUse,
        limits: ConnectionLimits
    ) {
        self.core = core
        self.holder = holder
        self.socket = socket
        self.credentials = credentials
        self.isOperator = isOperator
        self.isServed = isServed
        self.acceptedAt = acceptedAt
        self.ownerUse = ownerUse
        caller = Caller(owner: OwnerID(rawValue: credentials.user))
        connection = ServerConnection(limits: limits, frequent: CallTable.frequentMethods)
    }

    // MARK: - What it may

    /// Who asks, with the reach that the call asks for.
    ///
    /// - Throws: `PermissionDenied` where `all` is not the caller's to say, whatever else the call names.
    func caller(all: Bool?) throws(CallFailure) -> Caller {
        guard all == true else { return caller }
        try requireOperator()
        return Caller(owner: caller.owner, seesAll: true)
    }

    /// Refuses what is about the daemon as a whole to those who only have tasks of their own.
    func requireOperator() throws(CallFailure) {
        guard isOperator else {
            throw .service(
                .permissionDenied, reason: "this is for root and the group of access.operators")
        }
    }

    /// Whether a call of it is denied for the first time, which is logged.
    func isDeniedFirst() -> Bool {
        defer { isDenialLogged = true }
        return !isDenialLogged
    }

    /// It was found out whose process it comes from.
    func comes(from origin: ConnectionOrigin?) { self.origin = origin }

    /// It was found out what confines its process.
    func wasSeen(_ standing: PeerStanding) { self.standing = standing }

    // MARK: - Where it is followed

    func follow(in poll: DescriptorPoll, _ handler: any DescriptorHandler) throws(SystemError) {
        registration = try poll.add(socket.rawValue, interest, handler)
    }

    /// Has the poll wait for something else.
    func follow(_ wanted: Readiness, in poll: DescriptorPoll) throws(SystemError) {
        guard wanted != interest, let registration else { return }
        try poll.modify(registration, wanted)
        interest = wanted
    }

    /// Ends it: the descriptor is closed with the client, and until then the poll must not name it.
    ///
    /// - Returns: whether it was followed.
    func unfollow(in poll: DescriptorPoll) -> Bool {
        guard let registration else { return false }
        poll.remove(registration)
        self.registration = nil
        return true
    }

    func isIn(_ queue: Queues) -> Bool { queues.contains(queue) }

    /// - Returns: whether it was not in that queue before.
    @discardableResult
    func enter(_ queue: Queues) -> Bool { queues.insert(queue).inserted }

    func leave(_ queue: Queues) { queues.remove(queue) }

    /// - Returns: whether it was counted for its account until now.
    func leavesAccount() -> Bool {
        defer { hasLeft = true }
        return !hasLeft
    }

    /// By how much it holds more than was last counted for its owner; counted from now on.
    func takeGrowth() -> Int {
        let growth = heldBytes - accountedBytes
        accountedBytes += growth
        return growth
    }

    // MARK: - Its state

    /// Whether nobody waits for anything on it.
    var isIdle: Bool {
        openCall == nil && connection.callsWaiting == 0 && connection.pendingOutputCount == 0
    }

    /// Whether all has been answered that its peer could still read an answer of.
    package var isDone: Bool {
        if isClosed { return true }
        guard isInputAtEnd else { return false }
        // A streaming call ends when the peer closes; other calls that came are still answered.
        if case .reply = openCall { return false }
        return connection.isCallInProgress
            || connection.callsWaiting == 0 && connection.pendingOutputCount == 0
    }

    /// Keeps the call in progress open.
    func open(_ call: OpenCall) { openCall = call }

    /// The open call has its last reply, or never will.
    @discardableResult
    func closeCall() -> OpenCall? {
        defer { openCall = nil }
        return openCall
    }

    /// The stream of events that it waits for.
    var eventStream: EventStream? { if case .events(let stream) = openCall { stream } else { nil } }

    /// What makes the replies of its call as it takes them.
    var pager: (any Pager)? { if case .pages(let pager) = openCall { pager } else { nil } }

    /// It is over: nothing is read or sent any more, and what its buffers hold is let go.
    package func endAbruptly() { isClosed = true }

    /// The peer has hung up: the calls that came before are still taken, if nothing is in their way.
    func hungUp() {
        isInputAtEnd = true
        isClosed = openCall != nil || connection.callsWaiting == 0
    }

    /// Lets go of all that it has in its buffers.
    func releaseBuffers() {
        pager?.release()
        connection = ServerConnection()
    }

    /// What it holds for its owner's account.
    var heldBytes: Int {
        connection.bufferedBytes + (openCall?.heldBytes ?? 0) + (isClosed ? 0 : groupBytes)
    }

    /// What the list of its groups takes, for as long as it is open: there may be 65,536 of them, and each
    /// connection has a list of its own.
    var groupBytes: Int { credentials.groups.count * MemoryLayout<UInt32>.size }

    /// Answers the call in progress.
    package func reply<M: Message>(_ message: M, continues: Bool = false) {
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

    /// Answers the call in progress with what was wrong with it.
    package func reply(_ failure: CallFailure) {
        switch failure {
        case .service(let error, let reason): settle(connection.reply(error, reason: reason))
        case .badSettings(let error): replyError(Manager.BadSettings.name, error)
        case .cannotContain(let processID, let reason):
            replyError(Applications.CannotContain(pid: Int(processID), reason: reason))
        case .confined(let reason): replyError(Tasks.Confined(reason: reason))
        case .outputGone(let id, let isLost):
            replyError(Tasks.OutputGone(id: id.number, lostWithDaemon: isLost))
        case .refused(let refusal): reply(refusal)
        }
    }

    private func reply(_ refusal: Refusal) {
        switch refusal {
        case .noSuchTask(let id): replyError(Tasks.NoSuchTask(id: id.number))
        case .noSuchProfile(let name):
            replyError(Tasks.NoSuchProfile(profile: Client.quoted(name)))
        case .noSuchGroup(let name):
            replyError(Tasks.NoSuchGroup(group: Client.quoted(name)))
        case .limitReached(let limit, let value):
            replyError(Tasks.LimitReached(limit: limit, value: value))
        case .tooLittleTime(let remaining, let needed):
            replyError(
                Tasks.TooLittleTime(
                    remainingMs: remaining.wholeMilliseconds, neededMs: needed.wholeMilliseconds))
        case .alreadyEnded(let id, let outcome):
            replyError(Tasks.AlreadyEnded(id: id.number, outcome: Tasks.Outcome(outcome)))
        case .notAccepting(let reason): replyError(Tasks.NotAccepting(reason: reason))
        case .invalidParameter(let name): reply(CallFailure.invalid(name))
        case .permissionDenied(let privilege):
            reply(CallFailure.service(.permissionDenied, reason: privilege.rule))
        case .noSuchApplication(let id):
            replyError(Applications.NoSuchApplication(id: Client.quoted(id)))
        case .notRegistered(let id): replyError(Applications.NotRegistered(id: Client.quoted(id)))
        case .wrongState(let id, let state):
            replyError(Applications.WrongState(id: Client.quoted(id), state: .init(state)))
        case .cannotStart(let id, let reason):
            replyError(Applications.CannotStart(id: Client.quoted(id), reason: reason))
        }
    }

    /// What is repeated of a peer's own text.
    private static func quoted(_ text: String) -> String {
        text.cut(toBytes: ServiceError.quotedBytesMax)
    }

    private func replyError<E: WireError>(_ error: E) {
        replyError(E.name, error)
    }

    /// The buffers of a client that is closed may be gone, and its call in progress with them.
    private func settle(_ result: ServerConnection.ReplyResult) {
        guard !isClosed, result != .queued, result != .suppressed else { return }
        core.fault("a reply that nobody waits for", state: "\(result)")
    }

    /// Reads what is there into the connection.
    ///
    /// - Throws: where the peer broke the protocol.
    func receive(using buffer: UnsafeMutableRawBufferPointer) throws(ProtocolViolation) {
        switch socket.receive(into: buffer) {
        case .bytes(let count):
            try connection.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        case .nothing: break
        case .end: isInputAtEnd = true
        case .failed:
            isInputAtEnd = true
            isClosed = true
        case .descriptor: throw .descriptor
        case .pollers: throw .pollers
        }
    }

    /// Whether so many poll the other end that nothing more is sent or read.
    var hasTooManyPollers: Bool { socket.hasTooManyPollers }

    /// Closes the connection, at the daemon's end.
    func hangUp() { socket.close() }

    /// Sends what the socket takes.
    package func send() {
        while connection.pendingOutputCount > 0 {
            let (count, fault) = connection.withPendingOutput { socket.send($0) }
            if count > 0 {
                connection.sent(count)
            } else if fault == EAGAIN {
                return
            } else if fault != EINTR {
                isClosed = true
                return
            }
        }
    }
}

extension Privilege {
    /// Who may, for a person.
    fileprivate var rule: String {
        let what =
            switch self {
            case .unlimitedTask: "a task without a limit"
            case .backgroundMode: "a background mode"
            }
        return "\(what) is for root and the users of access.unlimitedUsers"
    }
}
