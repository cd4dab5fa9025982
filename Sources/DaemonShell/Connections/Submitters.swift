internal import BudgetCore
internal import Containers
internal import Glibc
internal import LinuxSystem
internal import Varlink

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

    /// Who a client has a command registered for, their name aside; its process has been looked at.
    func submitter(_ client: Client) throws(CallFailure) -> Submitter {
        let missing = SystemError(operation: "look at the caller", errno: EAGAIN)
        let standing =
            client.standing
            ?? PeerStanding(.failure(missing), at: core.now, seenAt: client.acceptedAt)
        return try access.submitter(standing, client.credentials)
    }

    // MARK: - Looks at callers

    /// Whether it is known what confines a client's process. If not, it is looked at, and the call carried out again then.
    func know(
        _ client: Client, orRepeat call: Call, _ handler: @escaping CallTable.Handler
    ) -> Bool {
        if client.standing?.isValid(at: core.now, acceptedAt: client.acceptedAt) == true {
            return true
        }
        do throws(SystemError) {
            let process = try PeerProcess(
                of: client.descriptor, client.credentials, connectedBy: client.acceptedAt)
            let look = Look(
                client, process, beyond: access.measure(for: client.credentials), call, handler)
            if isKnown(look) { return true }
            wait(look)
            return false
        } catch {
            client.wasSeen(failure(error, client))
            return true
        }
    }

    /// A client's process that is to be looked at, and what is done then.
    private final class Look {
        let client: Client
        let process: PeerProcess
        /// What it is measured against; `nil` where all that confines it is asked.
        let own: ProcessConfinement?
        private let call: Call
        private let handler: CallTable.Handler
        /// Whether the client is gone, so that nobody is to be answered.
        private(set) var isForNobody = false

        init(
            _ client: Client, _ process: PeerProcess, beyond own: ProcessConfinement?,
            _ call: Call, _ handler: @escaping CallTable.Handler
        ) {
            self.client = client
            self.process = process
            self.own = own
            self.call = call
            self.handler = handler
        }

        var account: OwnerID { client.ownerUse.owner }
        var byteCount: Int { call.byteCount }

        func clientIsGone() { isForNobody = true }

        func repeatCall() {
            do throws(CallFailure) {
                try handler(client, call)
            } catch {
                client.reply(error)
            }
        }
    }

    /// So many are looked at together; one that holds up who looks holds up no others then.
    private static let looksMax = 8
    /// So many who look may be held up by processes of one account.
    private static let unreturnedMax = 8
    /// So many calls of an account, of this size at most, are carried out though their caller has not waited.
    private static let (orphansMax, orphanBytesMax) = (64, 65_536)

    private func wait(_ look: Look) {
        let ticket = replies.newTicket()
        waiting.add((look, ticket), of: look.account)
        replies.open(look.client, ticket, dropped: { [unowned self] in callerIsGone(look) }) { _ in
            look.repeatCall()
        }
        lookAtNext()
    }

    /// Who gives an order and goes has it carried out all the same, as far as that goes.
    private func callerIsGone(_ look: Look) {
        guard look.byteCount <= Self.orphanBytesMax,
            orphans[look.account, default: 0] < Self.orphansMax
        else { return }
        orphans[look.account, default: 0] += 1
        look.clientIsGone()
    }

    private func lookAtNext() {
        while lookCount < Self.looksMax, let (look, ticket) = waiting.next() {
            // Another connection of the same process may have been waited for.
            if isKnown(look) {
                end(look, ticket)
            } else if look.isForNobody || !look.client.isClosed {
                start(look, ticket)
            }
        }
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
        let askedAt = BootTimeClock.now()
        do throws(SystemError) {
            let number = look.process.processID
            guard readers.unreturnedCount(of: look.account.rawValue) < Self.unreturnedMax else {
                throw SystemError(
                    operation: "look at process \(number)", errno: EBUSY,
                    detail: "those who look at processes of this user do not come back")
            }
            try readers.view(number, because: look.account.rawValue, beyond: look.own) {
                [unowned self] result in
                lookCount -= 1
                take(result, of: look, askedAt)
                end(look, ticket)
                lookAtNext()
            }
            lookCount += 1
        } catch {
            look.client.wasSeen(failure(error, look.client))
            end(look, ticket)
        }
    }

    private func end(_ look: Look, _ ticket: PendingReplies.Ticket) {
        guard look.isForNobody else { return replies.resolve(ticket) }
        let left = (orphans[look.account] ?? 1) - 1
        orphans[look.account] = left > 0 ? left : nil
        look.repeatCall()
    }

    private func take(
        _ result: Result<ProcessView?, SystemError>, of look: Look, _ askedAt: Int64
    ) {
        var startedAt: Int64?
        let confinement = Result { () throws(SystemError) in
            let view = try result.get()
            startedAt = view?.startedAt
            return try look.process.confinement(view, beyond: look.own)
        }
        let standing = PeerStanding(confinement, at: core.now, seenAt: askedAt)
        look.client.wasSeen(standing)
        guard let startedAt, look.process.isOne(startedAt: startedAt) else { return }
        standings.learn(
            standing, of: look.process.processID, isWhole: look.own == nil,
            startedAt: startedAt, at: core.now)
    }

    private func failure(_ error: SystemError, _ client: Client) -> PeerStanding {
        PeerStanding(.failure(error), at: core.now, seenAt: client.acceptedAt)
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
