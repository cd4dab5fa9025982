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
    private var waiting = FairQueue<OwnerID, (Client, PendingReplies.Ticket)>()
    private var lookCount = 0

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

    /// Whether it is known what confines a client's process.
    func knows(_ client: Client) -> Bool {
        if client.standing?.isValid(at: core.now, acceptedAt: client.acceptedAt) == true {
            return true
        }
        do throws(SystemError) {
            let process = try process(of: client)
            let isWhole = access.measure(for: client.credentials) == nil
            guard
                let standing = standings.standing(
                    of: process, isWhole: isWhole, acceptedAt: client.acceptedAt, at: core.now)
            else { return false }
            client.wasSeen(standing)
        } catch {
            client.wasSeen(failure(error, client))
        }
        return true
    }

    /// Has a client's process looked at, before a call goes on.
    func look(at client: Client, then body: @escaping (Client) -> Void) {
        let ticket = replies.newTicket()
        replies.open(client, ticket, completion: body)
        waiting.add((client, ticket), of: client.ownerUse.owner)
        lookAtNext()
    }

    /// So many are looked at together; one that holds up who looks holds up no others then.
    private static let looksMax = 8

    private func lookAtNext() {
        while lookCount < Self.looksMax, let (client, ticket) = waiting.next() {
            guard !client.isClosed else { continue }
            // Another connection of the same process may have been waited for.
            if knows(client) {
                replies.resolve(ticket)
            } else {
                look(at: client, ticket)
            }
        }
    }

    private func look(at client: Client, _ ticket: PendingReplies.Ticket) {
        let own = access.measure(for: client.credentials)
        let askedAt = BootTimeClock.now()
        do throws(SystemError) {
            let process = try process(of: client)
            try readers.view(process.processID, beyond: own) { [unowned self] result in
                lookCount -= 1
                take(result, of: process, beyond: own, askedAt, client)
                replies.resolve(ticket)
                lookAtNext()
            }
            lookCount += 1
        } catch {
            client.wasSeen(failure(error, client))
            replies.resolve(ticket)
        }
    }

    private func take(
        _ result: Result<ProcessView?, SystemError>, of process: PeerProcess,
        beyond own: ProcessConfinement?, _ askedAt: Int64, _ client: Client
    ) {
        var startedAt: Int64?
        let confinement = Result { () throws(SystemError) in
            let view = try result.get()
            startedAt = view?.startedAt
            return try process.confinement(view, beyond: own)
        }
        let standing = PeerStanding(confinement, at: core.now, seenAt: askedAt)
        client.wasSeen(standing)
        guard let startedAt, process.isOne(startedAt: startedAt) else { return }
        standings.learn(
            standing, of: process.processID, isWhole: own == nil, startedAt: startedAt,
            at: core.now)
    }

    private func process(of client: Client) throws(SystemError) -> PeerProcess {
        try PeerProcess(
            of: client.descriptor, client.credentials, connectedBy: client.acceptedAt)
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
