package import BudgetCore
package import LinuxSystem
package import Logging
internal import Settings
internal import Systemd
internal import Varlink

/// All connections: read, counted by account, sent to, closed.
///
/// While what came is gone through, and while calls are taken, no connection is closed: it is marked, and goes when the
/// turn's replies are sent.
package final class ConnectionPool {
    /// What a connection may send, however full the buffers of its owner's others are.
    private static let bufferShare = 4096
    /// What it may leave unread, however full they are.
    static let outputShare = 16_384
    /// Bytes of a listing or of output that are made before the reader has taken some.
    static let pendingOutputMax = 262_144
    private static let dirtyKept = 1024

    private let core: Core
    private let poll: DescriptorPoll
    private let settings: CurrentSettings
    private let accounts: AccountSource
    private let refusals: RefusalLog
    private let log: Logger

    private(set) var clients = ClientList()
    /// By account: subordinate uids count as their user.
    private var owners: [OwnerID: OwnerUse] = [:]
    /// Those for whom something came or was made in this turn, or since.
    private var dirty: [Client] = []
    private var dirtyNext = 0
    /// Accounts with connections that wait for room in their buffers, to be looked at in this turn.
    private var crowded: [OwnerUse] = []
    /// Called where a connection has been closed; what it held and waited for is let go.
    private var closed: (Client) -> Void = { _ in }
    /// Calls taken.
    private(set) var callCount = 0
    /// Connections closed for what they sent.
    private(set) var violationCount = 0

    package init(
        _ core: Core, _ poll: DescriptorPoll, _ settings: CurrentSettings,
        _ accounts: AccountSource,
        _ refusals: RefusalLog, _ log: Logger
    ) {
        self.core = core
        self.poll = poll
        self.settings = settings
        self.accounts = accounts
        self.refusals = refusals
        self.log = log
    }

    func connect(closed: @escaping (Client) -> Void) { self.closed = closed }

    // MARK: - Who is connected

    /// What an account has; `nil` where it has no connection.
    package func use(of account: OwnerID) -> OwnerUse? { owners[account] }

    /// What the account of an owner has; `nil` where it has no connection.
    func use(ofOwner owner: OwnerID) -> OwnerUse? { owners[accounts.accounts.account(of: owner)] }

    /// The account that has most connections, and how many.
    var accountOfMost: (OwnerID, Int)? {
        owners.max { ($0.value.members.count, $0.key) < ($1.value.members.count, $1.key) }
            .map { ($0.key, $0.value.members.count) }
    }

    /// Serves a connection from now on.
    package func add(_ client: Client) throws(SystemError) {
        try client.follow(in: poll, ClientHandler(client, of: self))
        clients.add(client)
        client.ownerUse.join(client)
        owners[client.ownerUse.owner] = client.ownerUse
        account(client)
    }

    /// Closes a connection of an account for another one's: the newest of those that do nothing, else the newest.
    func giveUpOne(of account: OwnerID, for owner: OwnerID) {
        guard let use = owners[account] else { return }
        let candidates = use.members.all.filter { !$0.isClosed }
        let chosen = candidates.max {
            ($0.isIdle ? 1 : 0, $0.number) < ($1.isIdle ? 1 : 0, $1.number)
        }
        guard let client = chosen else { return }
        refusals.say(
            .noRoomForConnection, client.credentials,
            "clientsMax (\(settings.limits.clientsMax)), and user \(owner) had none")
        leave(client)
        drop(client)
    }

    /// Counts a connection no longer for its account.
    private func leave(_ client: Client) {
        guard client.leavesAccount() else { return }
        let use = client.ownerUse
        if use.leave(client), owners[use.owner] === use { owners[use.owner] = nil }
    }

    // MARK: - What comes

    /// Takes what a connection has sent, or that it has hung up.
    fileprivate func ready(_ client: Client, _ readiness: Readiness) {
        markDirty(client)
        guard client.connection.wantsInput, !client.isInputAtEnd,
            !readiness.isDisjoint(with: Client.readableEvents)
        else {
            if !readiness.isDisjoint(with: Client.terminalEvents) { client.hungUp() }
            return
        }
        do throws(ProtocolViolation) {
            try receive(of: client)
        } catch {
            refuse(client, error)
        }
    }

    /// Reads what a client has sent, as far as there is room for it.
    private func receive(of client: Client) throws(ProtocolViolation) {
        let count = min(max(room(for: client), 0), poll.buffer.count)
        guard count > 0 else { return }
        defer { account(client) }
        try client.receive(using: UnsafeMutableRawBufferPointer(rebasing: poll.buffer[..<count]))
    }

    /// Takes the next call of a client; `nil` where there is none.
    func nextCall(of client: Client) throws(ProtocolViolation) -> Call? {
        guard let call = try client.connection.nextCall() else { return nil }
        callCount += 1
        return call
    }

    /// Ends a connection whose peer broke the protocol; the calls before it are answered.
    func refuse(_ client: Client, _ violation: ProtocolViolation) {
        violationCount += 1
        client.send()
        client.endAbruptly()
        refusals.say(.clientBrokeProtocol, client.credentials, "\(violation)")
    }

    // MARK: - What goes

    /// Has a client's part of this turn done: what is for it sent, and what it waits for arranged.
    func markDirty(_ client: Client) {
        guard client.enter(.dirty) else { return }
        dirty.append(client)
    }

    /// Marks a connection for its end, and lets go of its buffers at once.
    func drop(_ client: Client) {
        client.endAbruptly()
        releaseBuffers(of: client)
        markDirty(client)
    }

    /// A client's open call has had its last reply: those that wait behind it are taken next.
    func resume(_ client: Client) {
        account(client)
        markDirty(client)
        if client.connection.callsWaiting > 0 { core.continueLater() }
    }

    /// The next client whose part of the turn is to be done; `nil` when all have had theirs.
    ///
    /// What a client that closes meanwhile has for it is sent in this turn too.
    func nextDirty() -> Client? {
        relieveCrowded()
        guard dirtyNext < dirty.count else { return nil }
        defer { dirtyNext += 1 }
        return dirty[dirtyNext]
    }

    /// All clients with a part in this turn, for their calls to be taken.
    func withDirty(_ body: (Client) -> Void) {
        var index = dirtyNext
        while index < dirty.count {
            body(dirty[index])
            index += 1
        }
    }

    /// Whether clients are left with something to be done for them in this turn.
    var hasDirty: Bool { !crowded.isEmpty || dirtyNext < dirty.count }

    func endTurn() {
        dirty.removeAll(keepingCapacity: dirty.count <= Self.dirtyKept)
        dirtyNext = 0
    }

    /// Sends what is there for a client; then others may mark it again.
    func send(_ client: Client) {
        guard !client.isClosed else { return }
        client.send()
        if client.hasTooManyPollers { refuse(client, .pollers) }
    }

    /// A client's part of the turn is done: it waits for what it can do next, or is closed.
    func settle(_ client: Client) {
        if client.isDone { close(client) } else { updateInterest(client) }
    }

    private func updateInterest(_ client: Client) {
        account(client)
        guard !client.isClosed else { return }
        var wanted = Readiness()
        if client.connection.wantsInput, !client.isInputAtEnd {
            if hasRoom(client) {
                wanted = Client.readInterest
            } else {
                client.ownerUse.waitForRoom(client)
                relieveLater(client.ownerUse)
            }
        }
        if client.connection.pendingOutputCount > 0 { wanted.insert(.output) }
        do {
            try client.follow(wanted, in: poll)
        } catch {
            log.say(.clientNotWatched, [.reason: "\(error)"])
            close(client)
        }
    }

    /// Ends a connection: what it held is abandoned.
    private func close(_ client: Client) {
        guard client.unfollow(in: poll) else { return }
        clients.remove(client)
        client.endAbruptly()
        leave(client)
        closed(client)
        client.closeCall()
        releaseBuffers(of: client)
        client.ownerUse.forget(client)
        core.perform()
    }

    /// Sends what is left, and hangs up, at the very end.
    func sendLast() {
        for client in clients.all {
            if client.connection.pendingOutputCount > 0 { client.send() }
            _ = client.unfollow(in: poll)
            client.hangUp()
        }
    }

    // MARK: - Buffers

    /// Counts a client's buffers for its account.
    func account(_ client: Client) {
        let growth = client.ownerUse.account(client)
        guard growth != 0 else { return }
        if growth > 0 { closeIfExcessive(client) }
        relieveLater(client.ownerUse)
    }

    /// Closes a client with which its account's buffers have come to twice what they may hold: each connection
    /// may always have a little, and an answer that was begun is made to its end, but not without a limit.
    private func closeIfExcessive(_ client: Client) {
        let limit = settings.limits.bufferBytesPerOwnerMax
        guard client.ownerUse.bufferedBytes > 2 * limit, !client.isClosed else { return }
        refusals.say(
            .noRoomForConnection, client.credentials, "twice bufferBytesPerOwnerMax (\(limit))")
        drop(client)
    }

    private func releaseBuffers(of client: Client) {
        client.releaseBuffers()
        account(client)
    }

    /// Whether a client may send more, as far as its account's buffers go. One with little in its own always may, so
    /// that connections that are stuck do not shut out the others.
    private func hasRoom(_ client: Client) -> Bool { room(for: client) > 0 }

    /// How many bytes of a client may be read now.
    private func room(for client: Client) -> Int {
        max(
            settings.limits.bufferBytesPerOwnerMax - client.ownerUse.bufferedBytes,
            Self.bufferShare - client.connection.bufferedBytes)
    }

    /// Whether more may be made for a client to read: it has left little unread, or it is not much yet and its
    /// account's buffers have room.
    func mayMakeMore(for client: Client) -> Bool {
        let pending = client.connection.pendingOutputCount
        guard pending >= Self.outputShare else { return !client.isClosed }
        account(client)
        guard !client.isClosed else { return false }
        return pending < Self.pendingOutputMax
            && client.ownerUse.bufferedBytes < settings.limits.bufferBytesPerOwnerMax
    }

    /// Whether an event would be more than a slow reader may leave unread.
    func isOverflowing(_ client: Client, _ stream: EventStream) -> Bool {
        let unread = client.connection.pendingOutputCount
        return unread > 4 << 20 || stream.waitingBytes > 32 << 20
            || client.ownerUse.bufferedBytes > settings.limits.bufferBytesPerOwnerMax
                && unread + stream.heldBytes > Self.outputShare
    }

    /// Has those who wait for an account's buffers looked at before the turn is over.
    private func relieveLater(_ use: OwnerUse) {
        if use.startsRelief() { crowded.append(use) }
    }

    /// Goes on with accounts whose buffers were full: as many of their clients are read again as there is room for,
    /// and where none ever would be, one is refused.
    private func relieveCrowded() {
        guard !crowded.isEmpty else { return }
        var index = 0
        while index < crowded.count {
            let use = crowded[index]
            index += 1
            use.reliefBegins()
            resumeReading(of: use)
        }
        crowded.removeAll(keepingCapacity: true)
    }

    private func resumeReading(of use: OwnerUse) {
        let limit = settings.limits.bufferBytesPerOwnerMax
        var room = limit - use.bufferedBytes
        while room > 0, let client = use.nextUnread() {
            guard !client.isClosed else { continue }
            updateInterest(client)
            room -= poll.buffer.count
        }
        guard room <= 0, let last = use.lastUnread, isDeadlocked(use) else { return }
        refusals.say(
            .noRoomForConnection, last.credentials, "bufferBytesPerOwnerMax (\(limit))")
        close(last)
    }

    /// Whether all who fill an account's buffers wait for each other for ever: each has a part of a message, which
    /// becomes no less by itself, and is not read.
    private func isDeadlocked(_ use: OwnerUse) -> Bool {
        use.members.all.allSatisfy { client in
            client.accountedBytes - client.groupBytes < Self.bufferShare
                || client.isIn(.room) && !canDrain(client)
        }
    }

    /// Whether what a client has in its buffers can become less by itself: calls to take, replies to send.
    private func canDrain(_ client: Client) -> Bool {
        client.connection.callsWaiting > 0 || client.connection.isCallInProgress
            || client.connection.pendingOutputCount > 0
    }
}

/// Tells the pool that a connection has something.
private final class ClientHandler: DescriptorHandler {
    private let client: Client
    private unowned let pool: ConnectionPool

    init(_ client: Client, of pool: ConnectionPool) {
        self.client = client
        self.pool = pool
    }

    func ready(_ readiness: Readiness) { pool.ready(client, readiness) }
}
