internal import BudgetCore
internal import Containers
internal import LinuxSystem
internal import Varlink

/// Takes the calls of all clients in a fair order, and has their replies made and sent.
final class CallScheduler {
    /// Calls taken of one client in a turn, so that one pipeline does not hold up the others.
    private static let callsPerTurn = 64
    /// What all calls that came together may take in nanoseconds, beyond a single one.
    private static let callsTime: Int64 = 500_000

    private let core: Core
    private let pool: ConnectionPool
    private let streams: ReplyStreams
    private let calls: CallTable
    /// Clients with calls to take, an account after the other.
    private var runQueue = FairQueue<OwnerID, Client>()

    init(_ core: Core, _ pool: ConnectionPool, _ streams: ReplyStreams, _ calls: CallTable) {
        self.core = core
        self.pool = pool
        self.streams = streams
        self.calls = calls
    }

    /// Clients whose calls wait for a turn.
    var waitingCount: Int { runQueue.count }

    /// Takes calls in their order, each after the one before has been answered.
    ///
    /// A client gets no more calls taken while it leaves its replies unread. Those for whom no time is left in this
    /// turn come first in the next.
    func takeCalls() {
        pool.withDirty(enqueue)
        let until = MonotonicClock.now() + Self.callsTime
        var isInTime = true
        while isInTime, let client = nextClient() {
            client.leave(.calls)
            guard !client.isClosed else { continue }
            isInTime = takeCalls(of: client, until)
            pool.markDirty(client)
            enqueue(client)
        }
    }

    /// The next whose calls are taken; of an account whose events wait, nobody's.
    private func nextClient() -> Client? {
        guard streams.holdsSomebodyBack else { return runQueue.next() }
        return runQueue.next { streams.holdsBack($0) }
    }

    /// Lets a client that has calls to take wait for its turn.
    private func enqueue(_ client: Client) {
        guard !client.isIn(.calls), client.connection.callsWaiting > 0, mayTakeCall(of: client)
        else { return }
        client.enter(.calls)
        runQueue.add(client, of: client.ownerUse.owner)
    }

    /// - Returns: whether there is time for others.
    private func takeCalls(of client: Client, _ until: Int64) -> Bool {
        var count = 0
        while client.connection.callsWaiting > 0, mayTakeCall(of: client),
            count < Self.callsPerTurn, !streams.holdsBack(client.ownerUse.owner),
            takeCall(of: client)
        {
            count += 1
            guard MonotonicClock.now() < until else { return false }
        }
        // One that was refused took its time too.
        return !client.isClosed || MonotonicClock.now() < until
    }

    private func mayTakeCall(of client: Client) -> Bool {
        !client.isClosed && !client.connection.isCallInProgress && pool.mayMakeMore(for: client)
    }

    private func takeCall(of client: Client) -> Bool {
        do throws(ProtocolViolation) {
            guard let call = try pool.nextCall(of: client) else { return false }
            calls.answer(call, of: client)
            core.perform()
            if client.connection.pendingOutputCount >= ConnectionPool.outputShare {
                pool.account(client)
            }
            return true
        } catch {
            pool.refuse(client, error)
            return false
        }
    }

    /// Sends what the turn's calls and events left for each client, and closes what is at its end.
    func flush() {
        repeat {
            while let client = pool.nextDirty() {
                pool.send(client)
                streams.readerHasRoom(client)
                client.leave(.dirty)
                enqueue(client)
                pool.settle(client)
            }
            streams.makeReplies()
        } while pool.hasDirty
        pool.endTurn()
        streams.endTurn()
        if runQueue.count > 0 || !streams.isEmpty { core.continueLater() }
    }
}
