internal import BudgetCore
internal import Containers
internal import Glibc
internal import LinuxSystem

/// Finds out for whom a command is registered: what confines the caller, and what their account is called.
final class Submitters {
    private let core: Core
    private let access: AccessControl
    private let users: UserCache
    private let replies: PendingReplies
    /// Whether others than the daemon's own user are served; in a daemon of one user names do not matter.
    private let servesEverybody: Bool
    private let readers: ProcessReaders
    private var standings = PeerStandings()
    /// Those whose processes are to be looked at, an account after the other; and how many are being looked at.
    private var waiting = FairQueue<OwnerID, (Look, PendingReplies.Ticket)>()
    private var lookCount = 0
    private var lookCounts: [OwnerID: Int] = [:]
    /// How many calls of an account wait whose caller is gone.
    private var orphans: [OwnerID: Int] = [:]

    init(
        _ core: Core, _ access: AccessControl, _ users: UserCache, _ replies: PendingReplies,
        _ readers: ProcessReaders, servesEverybody: Bool
    ) {
        self.readers = readers
        self.core = core
        self.access = access
        self.users = users
        self.replies = replies
        self.servesEverybody = servesEverybody
    }

    // MARK: - Looks at callers

    /// Carries a call out that has a command registered or started, for whom, their name aside. The call waits until it is known
    /// what confines the client's process.
    ///
    /// - Parameters:
    ///   - byteCount: of the call.
    ///   - body: called once; what it throws is answered.
    func withSubmitter(
        of client: Client, byteCount: Int,
        _ body: @escaping (Submitter) throws(CallFailure) -> Void
    ) throws(CallFailure) {
        do throws(SystemError) {
            if client.standing?.isValid(at: core.now, acceptedAt: client.acceptedAt) != true {
                let look = try Look(
                    client, beyond: access.measure(for: client.credentials), byteCount, body)
                guard isKnown(look) else { return wait(look) }
            }
        } catch {
            client.wasSeen(failure(error, client, at: core.now))
        }
        try body(submitter(client))
    }

    private func submitter(_ client: Client) throws(CallFailure) -> Submitter {
        let missing = SystemError(operation: "look at the caller", errno: EAGAIN)
        return try access.submitter(
            client.standing ?? failure(missing, client, at: core.now), client.credentials)
    }

    /// A client's process that is to be looked at, and what is done then.
    private final class Look {
        let client: Client
        let process: PeerProcess
        /// What it is measured against; `nil` where all that confines it is asked.
        let own: ProcessConfinement?
        let byteCount: Int
        /// `nil` where nobody wants it done any more.
        private var body: ((Submitter) throws(CallFailure) -> Void)?
        /// Whether the client is gone, so that nobody is to be answered.
        private(set) var isForNobody = false

        init(
            _ client: Client, beyond own: ProcessConfinement?, _ byteCount: Int,
            _ body: @escaping (Submitter) throws(CallFailure) -> Void
        ) throws(SystemError) {
            self.client = client
            process = try PeerProcess(
                of: client.descriptor, client.credentials, connectedBy: client.acceptedAt)
            self.own = own
            self.byteCount = byteCount
            self.body = body
        }

        var account: OwnerID { client.ownerUse.owner }
        var isDropped: Bool { body == nil }

        func clientIsGone() { isForNobody = true }
        func drop() { body = nil }

        func carryOut(_ submitter: () throws(CallFailure) -> Submitter) {
            do throws(CallFailure) {
                try body?(submitter())
            } catch {
                client.reply(error)
            }
            body = nil
        }
    }

    /// So many are looked at together, and of one account: one that holds up who looks holds up no others then.
    private static let (looksMax, looksOfAccountMax) = (8, 4)
    /// So many who look may be held up by processes of one account: more than are late at a time on a busy machine.
    private static let unreturnedMax = 24
    /// So many calls of an account, of this size at most, are carried out though their caller has not waited.
    private static let (orphansMax, orphanBytesMax) = (64, 65_536)
    /// How long in nanoseconds looks are begun, and calls carried out that waited for one, in a turn.
    private static let turnTime: Int64 = 500_000

    private func wait(_ look: Look) {
        let ticket = replies.newTicket()
        waiting.add((look, ticket), of: look.account)
        replies.open(look.client, ticket, dropped: { [unowned self] in callerIsGone(look) }) {
            [unowned self] client in
            look.carryOut { () throws(CallFailure) in try submitter(client) }
        }
    }

    /// Who gives an order and goes has it carried out all the same, as far as that goes.
    private func callerIsGone(_ look: Look) {
        guard look.byteCount <= Self.orphanBytesMax,
            orphans[look.account, default: 0] < Self.orphansMax
        else { return look.drop() }
        orphans[look.account, default: 0] += 1
        look.clientIsGone()
    }

    /// Looks at those who wait for that, as far as a turn goes.
    func lookMore() {
        guard waiting.count > 0 else { return }
        let until = MonotonicClock.now() + Self.turnTime
        while lookCount < Self.looksMax, let (look, ticket) = waiting.next(unless: isBusy) {
            if look.isDropped { continue }
            // Another connection of the same process may have been waited for.
            if isKnown(look) {
                end(look, ticket)
            } else {
                start(look, ticket)
            }
            guard MonotonicClock.now() < until else { return core.continueLater() }
        }
    }

    private func isBusy(_ account: OwnerID) -> Bool {
        lookCounts[account, default: 0] >= Self.looksOfAccountMax
    }

    private func isKnown(_ look: Look) -> Bool {
        guard
            let standing = standings.standing(
                of: look.process, isWhole: look.own == nil, acceptedAt: look.client.acceptedAt,
                at: core.now)
        else { return false }
        look.client.wasSeen(standing)
        return true
    }

    private func start(_ look: Look, _ ticket: PendingReplies.Ticket) {
        let (askedAt, seenAt) = (core.now, BootTimeClock.now())
        do throws(SystemError) {
            let number = look.process.processID
            guard readers.unreturnedCount(of: look.account.rawValue) < Self.unreturnedMax else {
                throw SystemError(
                    operation: "look at process \(number)", errno: EBUSY,
                    detail: "those who look at processes of this user do not come back")
            }
            try readers.view(number, because: look.account.rawValue, beyond: look.own) {
                [unowned self] result in
                count(-1, of: look.account)
                take(result, of: look, at: askedAt, seenAt: seenAt)
                end(look, ticket)
            }
            count(1, of: look.account)
        } catch {
            look.client.wasSeen(failure(error, look.client, at: askedAt))
            end(look, ticket)
        }
    }

    private func count(_ more: Int, of account: OwnerID) {
        lookCount += more
        let count = lookCounts[account, default: 0] + more
        lookCounts[account] = count > 0 ? count : nil
    }

    private func end(_ look: Look, _ ticket: PendingReplies.Ticket) {
        if look.isForNobody {
            let left = (orphans[look.account] ?? 1) - 1
            orphans[look.account] = left > 0 ? left : nil
            look.carryOut { () throws(CallFailure) in try submitter(look.client) }
        } else {
            replies.resolve(ticket)
        }
        core.perform()
    }

    private func take(
        _ result: Result<ProcessView?, SystemError>, of look: Look, at askedAt: Instant,
        seenAt: Int64
    ) {
        var startedAt: Int64?
        let confinement = Result { () throws(SystemError) in
            let view = try result.get()
            startedAt = view?.startedAt
            return try look.process.confinement(view, beyond: look.own)
        }
        let standing = PeerStanding(confinement, at: askedAt, seenAt: seenAt)
        look.client.wasSeen(standing)
        guard let startedAt, look.process.isOne(startedAt: startedAt) else { return }
        standings.learn(
            standing, of: look.process.processID, isWhole: look.own == nil,
            startedAt: startedAt, at: core.now)
    }

    private func failure(
        _ error: SystemError, _ client: Client, at now: Instant
    ) -> PeerStanding {
        PeerStanding(.failure(error), at: now, seenAt: client.acceptedAt)
    }

    // MARK: - Names

    /// Carries a call out that registers a command, with the name of the client's account as it is now; the call waits
    /// until that is known.
    ///
    /// - Parameter body: takes the name; `nil` where the database could not be asked: it may be known who it is by the
    ///   time that the command is started.
    func withAccountName(
        of client: Client, _ body: @escaping (String?) throws(CallFailure) -> Void
    ) throws(CallFailure) {
        guard servesEverybody else { return try body(nil) }
        let owner = client.caller.owner
        if let user = users.user(owner) { return try body(user.accountName) }
        let ticket = replies.newTicket()
        var name: String?
        let question = users.ask(owner) { [replies] result in
            if case .success(let user) = result { name = user.accountName }
            replies.resolve(ticket)
        }
        replies.open(client, ticket, dropped: { [users] in users.forget(question) }) { client in
            do throws(CallFailure) {
                try body(name)
            } catch {
                client.reply(error)
            }
        }
    }
}
