internal import BudgetCore
internal import LinuxSystem

/// Finds out for whom a command is registered: what confines the caller, and what their account is called.
final class Submitters {
    private let core: Core
    private let access: AccessControl
    private let users: UserCache
    private let replies: PendingReplies
    /// Whether others than the daemon's own user are served; in a daemon of one user names do not matter.
    private let servesEverybody: Bool
    private var standings = PeerStandings()

    init(
        _ core: Core, _ access: AccessControl, _ users: UserCache, _ replies: PendingReplies,
        servesEverybody: Bool
    ) {
        self.core = core
        self.access = access
        self.users = users
        self.replies = replies
        self.servesEverybody = servesEverybody
    }

    /// Who a client has a command registered for, their name aside.
    func submitter(_ client: Client) throws(CallFailure) -> Submitter {
        let standing: PeerStanding
        if let known = client.standing,
            known.isValid(at: core.now, acceptedAt: client.acceptedAt)
        {
            standing = known
        } else {
            standing = standings.standing(
                of: client, beyond: access.measure(for: client.credentials), at: core.now)
            client.wasSeen(standing)
        }
        return try access.submitter(standing, client.credentials)
    }

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
