internal import BudgetCore
internal import LinuxSystem

/// What the user database says of the submitters, for as long as it may be trusted to be so still.
struct Users {
    private static let validity = Duration.seconds(60)
    private static let countMax = 4096

    private var known: [OwnerID: (user: UserEntry, until: Instant)] = [:]
    /// Tasks that wait for the answer about their submitter.
    private var waiting: [OwnerID: [TaskID]] = [:]

    func user(_ owner: OwnerID, at now: Instant) -> UserEntry? {
        guard let (user, until) = known[owner], now < until else { return nil }
        return user
    }

    /// Notes a task that waits.
    ///
    /// - Returns: whether it is the first that does, for whom the question is still to be asked.
    mutating func wait(_ id: TaskID, for owner: OwnerID) -> Bool {
        waiting[owner, default: []].append(id)
        return waiting[owner]?.count == 1
    }

    /// Keeps an answer.
    mutating func keep(_ user: UserEntry, of owner: OwnerID, at now: Instant) {
        if known.count >= Users.countMax { known.removeAll() }
        known[owner] = (user, now + Users.validity)
    }

    /// Takes out the tasks that waited for an answer.
    mutating func takeWaiting(for owner: OwnerID) -> [TaskID] {
        waiting.removeValue(forKey: owner) ?? []
    }
}

extension Daemon {
    /// The user database has answered.
    func usersReady() {
        let now = now
        for (user, answer) in userDatabase.takeAnswers() {
            let owner = OwnerID(rawValue: user)
            let tasks = users.takeWaiting(for: owner)
            switch answer {
            case .found(let entry): go(on: tasks, as: entry, of: owner, at: now)
            case .unknown: go(on: tasks, as: UserEntry(withoutName: user), of: owner, at: now)
            case .failed(let error): refuse(tasks, "\(error)", at: now)
            }
        }
        endTurn(at: now)
    }

    /// Asks who the submitter of a task is, and starts it once that is known.
    func askUser(for id: TaskID, of owner: OwnerID, at now: Instant) {
        guard users.wait(id, for: owner) else { return }
        do {
            try userDatabase.ask(owner.rawValue)
        } catch {
            refuse(users.takeWaiting(for: owner), "\(error)", at: now)
        }
    }

    private func go(on tasks: [TaskID], as user: UserEntry, of owner: OwnerID, at now: Instant) {
        users.keep(user, of: owner, at: now)
        for id in tasks { startMain(of: id, as: user, at: now) }
    }

    private func refuse(_ tasks: [TaskID], _ reason: String, at now: Instant) {
        let reason = "its user cannot be looked up: \(reason)"
        for id in tasks where running[id] != nil {
            if let application = applications[id] {
                notStarted(application, reason, at: now)
                continue
            }
            forgetProcesses(of: id)
            registry.startFailed(id, reason, at: now, &actions)
        }
    }
}

extension UserEntry {
    /// A user whom the database does not know by name.
    init(withoutName user: UInt32) {
        self.init(name: String(user), home: "/", shell: "/bin/sh")
    }
}
