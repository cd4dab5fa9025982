internal import BudgetCore
internal import LinuxSystem
internal import Varlink

/// A submitter as the user database has them.
struct KnownUser {
    let entry: UserEntry
    /// `nil` where the database has none.
    let account: Account?

    init(_ entry: UserEntry) {
        self.entry = entry
        account = Account(
            name: entry.name, group: entry.group, groups: Set(entry.groups),
            expiryDay: entry.expiryDay)
    }

    /// A user whom the database does not know by name.
    init(withoutName user: UInt32) {
        entry = UserEntry(name: String(user), home: "/", shell: "/bin/sh")
        account = nil
    }

    /// Empty where they have none.
    var accountName: String { account?.name ?? "" }
}

/// What the user database says of the submitters, for as long as it may be trusted to be so still.
struct Users {
    /// How long a group that was taken away, or an account that was closed, still has its commands started.
    private static let validity = Duration.seconds(5)
    private static let countMax = 4096

    /// What waits for the answer about an owner.
    struct Waiting {
        /// Tasks that are to be started.
        var tasks: [TaskID] = []
        /// Commands that are to be registered with the name of their submitter.
        var calls = KeyedQueue<ObjectIdentifier, WaitingCall>()

        /// Whether the question is asked.
        var isAsked = false

        /// - Returns: whether it is still to be asked.
        mutating func ask() -> Bool {
            defer { isAsked = true }
            return !isAsked
        }
    }

    private var known: [OwnerID: (user: KnownUser, until: Instant)] = [:]
    private var waiting: [OwnerID: Waiting] = [:]

    func user(_ owner: OwnerID, at now: Instant) -> KnownUser? {
        guard let (user, until) = known[owner], now < until else { return nil }
        return user
    }

    /// Notes a task that waits.
    ///
    /// - Returns: whether it is the first that does, for whom the question is still to be asked.
    mutating func wait(_ id: TaskID, for owner: OwnerID) -> Bool {
        waiting[owner, default: Waiting()].tasks.append(id)
        return waiting[owner, default: Waiting()].ask()
    }

    /// The same for a call.
    mutating func wait(_ call: WaitingCall, for owner: OwnerID) -> Bool {
        waiting[owner, default: Waiting()].calls.append(call, as: ObjectIdentifier(call.client))
        return waiting[owner, default: Waiting()].ask()
    }

    /// Lets go of the call of a client who is gone, and of all that came with it.
    mutating func forgetCall(of client: Client) {
        waiting[client.caller.owner]?.calls.remove(ObjectIdentifier(client))
    }

    /// Keeps an answer.
    mutating func keep(_ user: KnownUser, of owner: OwnerID, at now: Instant) {
        if known.count >= Users.countMax { known.removeAll() }
        known[owner] = (user, now + Users.validity)
    }

    /// Takes out what waited for an answer.
    mutating func takeWaiting(for owner: OwnerID) -> Waiting {
        waiting.removeValue(forKey: owner) ?? Waiting()
    }
}

/// A call that registers a command, once it is known who its submitter is.
struct WaitingCall {
    /// - Parameter name: of the account; `nil` where the database could not be asked.
    typealias Body = (Daemon, _ name: String?, Instant) throws(CallFailure) -> Void

    let client: Client
    let body: Body
}

extension Daemon {
    /// The user database has answered.
    func usersReady() {
        let now = now
        for (user, answer) in userDatabase.takeAnswers() {
            let owner = OwnerID(rawValue: user)
            let waiting = users.takeWaiting(for: owner)
            switch answer {
            case .found(let entry): go(on: waiting, as: KnownUser(entry), of: owner, at: now)
            case .unknown: go(on: waiting, as: KnownUser(withoutName: user), of: owner, at: now)
            case .failed(let error): postpone(waiting, error, at: now)
            }
        }
        endTurn(at: now)
    }

    /// Asks who the submitter of a task is, and starts it once that is known.
    func askUser(for id: TaskID, of owner: OwnerID, at now: Instant) {
        if users.wait(id, for: owner) { userDatabase.ask(owner.rawValue) }
    }

    /// Carries a call of a client out that registers a command, with the name of the client's account as it is
    /// now; the call waits until that is known. In a daemon of one user it does not matter.
    func withAccountName(
        of client: Client, at now: Instant, _ body: @escaping WaitingCall.Body
    ) throws(CallFailure) {
        let owner = client.caller.owner
        guard configuration.servesEverybody else { return try body(self, nil, now) }
        if let user = users.user(owner, at: now) { return try body(self, user.accountName, now) }
        client.openCall = .account
        if users.wait(WaitingCall(client: client, body: body), for: owner) {
            userDatabase.ask(owner.rawValue)
        }
    }

    private func go(
        on waiting: Users.Waiting, as user: KnownUser, of owner: OwnerID, at now: Instant
    ) {
        users.keep(user, of: owner, at: now)
        for id in waiting.tasks { startMain(of: id, as: user, at: now) }
        for call in waiting.calls.all { carryOut(call, user.accountName, at: now) }
    }

    /// The database could not be asked: an answer another time may let the tasks start. What is to be registered
    /// is taken: it may be known who it is by the time that it is started.
    private func postpone(_ waiting: Users.Waiting, _ error: SystemError, at now: Instant) {
        for call in waiting.calls.all { carryOut(call, nil, at: now) }
        let reason = "its user cannot be looked up: \(error)"
        for id in waiting.tasks where running[id] != nil {
            if let application = applications[id] {
                notStarted(application, reason + "; try again", at: now)
            } else {
                postpone(id, reason, error.isShortage ? .machine : .command, at: now)
            }
        }
    }

    private func carryOut(_ call: WaitingCall, _ name: String?, at now: Instant) {
        let client = call.client
        guard !client.isClosed else { return }
        client.openCall = nil
        do throws(CallFailure) {
            try call.body(self, name, now)
        } catch {
            client.reply(error)
        }
        perform(at: now)
        resume(client)
    }
}
