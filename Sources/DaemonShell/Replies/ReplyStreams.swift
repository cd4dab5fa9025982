internal import BudgetCore
internal import LinuxSystem
internal import Systemd
internal import TaskAPI
internal import Varlink

/// Makes the replies that no call asks for now: events that happen, listings, output that is followed.
///
/// An account after the other makes a piece, so that neither many connections of one nor large events hold up the
/// others. A reader that leaves too much unread is cut off.
package final class ReplyStreams {
    private let core: Core
    private let pool: ConnectionPool
    private let refusals: RefusalLog
    private let origins: OriginSearch
    private var rounds = ReplyRounds()
    /// Called where a stream has told its last event.
    private var ended: (Client, EventStream) -> Void = { _, _ in }
    /// Events that were written in a later turn than their own.
    private(set) var eventsWaitedCount = 0
    /// Connections closed for what they left unread.
    private(set) var slowReaderCount = 0

    package init(
        _ core: Core, _ pool: ConnectionPool, _ refusals: RefusalLog, _ origins: OriginSearch
    ) {
        self.core = core
        self.pool = pool
        self.refusals = refusals
        self.origins = origins
    }

    package func connect(ended: @escaping (Client, EventStream) -> Void) { self.ended = ended }

    // MARK: - Turns

    /// Whether nobody waits for a turn.
    var isEmpty: Bool { rounds.isEmpty }
    /// Whether an account is to take no calls until its events are fewer.
    var holdsSomebodyBack: Bool { rounds.holdsSomebodyBack }

    func holdsBack(_ account: OwnerID) -> Bool { rounds.holdsBack(account) }

    /// Lets a client wait for its turn, once.
    func enqueue(_ client: Client) { rounds.add(client) }

    /// Counts an event that waits for its readers, or for none any longer.
    func count(_ count: Int, bytes: Int, of account: OwnerID) {
        rounds.count(count, bytes: bytes, of: account)
    }

    /// Counts what a reply has cost, beside its bytes.
    func charge(_ cost: Int) { rounds.charge(cost) }

    func endTurn() { rounds.endTurn() }

    /// Makes replies for those who wait for their turn, as far as this turn goes.
    func makeReplies() {
        while let client = rounds.next() {
            guard !client.isClosed else { continue }
            if let pager = client.pager {
                pager.makePiece(for: client)
            } else if let stream = client.eventStream {
                writeNext(of: stream, for: client)
            }
        }
    }

    /// A client has taken what was made: its call goes on.
    func readerHasRoom(_ client: Client) {
        guard let pager = client.pager, !client.isClosed else { return }
        pager.readerHasRoom(client)
    }

    // MARK: - Events

    /// Writes an event for a reader, or lets it wait behind those that do.
    func deliver(_ entry: EventLine.Entry, to client: Client, of stream: EventStream) {
        guard !client.isClosed else { return }
        if !stream.isWaiting, rounds.isFree { return write(entry, for: client, of: stream) }
        stream.append(entry)
        eventsWaitedCount += 1
        rounds.count(1, bytes: entry.byteCount, of: client.ownerUse.owner)
        rounds.add(client)
        pool.account(client)
        cutOffIfSlow(client, stream)
    }

    /// Writes an event at once, as a reply that is the client's alone.
    func write<M: Message>(_ message: M, for client: Client, of stream: EventStream) {
        guard !isFrozenAndFull(client) else { return }
        client.reply(message, continues: true)
        written(for: client, stream)
    }

    private func writeNext(of stream: EventStream, for client: Client) {
        guard let entry = stream.popFirst() else { return }
        rounds.count(-1, bytes: -entry.byteCount, of: client.ownerUse.owner)
        write(entry, for: client, of: stream)
        pool.account(client)
        if !client.isClosed, stream.isWaiting { rounds.add(client) }
    }

    /// Writes an event; a reader that leaves too many unread is cut off.
    ///
    /// One whose application is suspended cannot read: what it has no room for is counted in the numbers of its
    /// events alone.
    private func write(_ entry: EventLine.Entry, for client: Client, of stream: EventStream) {
        // Several for one reader are sent together.
        let isSentAlone = !client.isIn(.dirty)
        rounds.charge(entry.byteCount + (isSentAlone ? ReplyRounds.replyCost : 0))
        switch entry {
        case .event(let message):
            let number = stream.told()
            guard !isFrozenAndFull(client) else { return }
            client.reply(message, number: number, continues: true)
            written(for: client, stream)
        case .last(let message):
            let number = stream.told()
            ended(client, stream)
            client.closeCall()
            client.reply(message, number: number, continues: false)
            pool.resume(client)
        case .missed(let count): stream.told(count)
        case .present(let key):
            guard let application = try? core.registry.application(key) else { return }
            let number = stream.told()
            guard !isFrozenAndFull(client) else { return }
            let event = Applications.Event(present: application, core.now, core.registry)
            client.reply(SharedMessage(event), number: number, continues: true)
            written(for: client, stream)
        }
    }

    private func written(for client: Client, _ stream: EventStream) {
        pool.markDirty(client)
        if client.connection.pendingOutputCount > ConnectionPool.pendingOutputMax { client.send() }
        pool.account(client)
        cutOffIfSlow(client, stream)
    }

    private func cutOffIfSlow(_ client: Client, _ stream: EventStream) {
        guard !client.isClosed, pool.isOverflowing(client, stream) else { return }
        client.endAbruptly()
        pool.markDirty(client)
        slowReaderCount += 1
        refusals.say(.slowReaderCutOff, client.credentials, "it left its events unread")
    }

    /// What a frozen reader may leave unread; what comes then is counted and not kept.
    private static let frozenReaderMax = 16_384

    /// Whether a reader has no room, and cannot help it: its application is suspended.
    private func isFrozenAndFull(_ client: Client) -> Bool {
        client.connection.pendingOutputCount > Self.frozenReaderMax && origins.isSuspended(client)
    }

    /// Forgets what a client that is closed was still to be written.
    func drop(_ client: Client, _ stream: EventStream) {
        guard stream.isWaiting else { return }
        rounds.count(
            -stream.waitingCount, bytes: -stream.waitingBytes, of: client.ownerUse.owner)
        stream.removeAll()
    }
}
