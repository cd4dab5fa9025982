internal import BudgetCore
internal import Containers
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
///
/// It is asked on threads of its own: nobody knows when it answers.
final class UserCache {
    /// Takes the answer; a failure says why the database could not be asked.
    typealias Completion = (Result<KnownUser, SystemError>) -> Void

    /// A question that is not answered yet.
    struct Question {
        fileprivate let owner: OwnerID
        fileprivate let number: UInt64
    }

    /// How long a group that was taken away, or an account that was closed, still has its commands started.
    private static let validity = Duration.seconds(5)
    private static let countMax = 4096

    private let core: Core
    private let database: UserDatabase
    private var known: [OwnerID: (user: KnownUser, until: Instant)] = [:]
    private var waiting: [OwnerID: KeyedQueue<UInt64, Completion>] = [:]
    private var numberLast: UInt64 = 0

    init(_ core: Core) throws(SystemError) {
        self.core = core
        database = try UserDatabase()
    }

    /// Readable when the database has answered.
    var descriptor: Int32 { database.descriptor }

    /// Who an owner is, if that is known.
    func user(_ owner: OwnerID) -> KnownUser? {
        guard let (user, until) = known[owner], core.now < until else { return nil }
        return user
    }

    /// Finds out who an owner is.
    @discardableResult
    func ask(_ owner: OwnerID, completion: @escaping Completion) -> Question {
        numberLast += 1
        let isFirst = waiting[owner] == nil
        waiting[owner, default: KeyedQueue()].append(completion, as: numberLast)
        if isFirst { database.request(owner.rawValue) }
        return Question(owner: owner, number: numberLast)
    }

    /// Nobody waits for an answer any more; lets go of what came with the question.
    func forget(_ question: Question) { waiting[question.owner]?.remove(question.number) }

    /// Takes the answers that have come.
    func takeAnswers() {
        for (user, answer) in database.takeAnswers() {
            let owner = OwnerID(rawValue: user)
            let result: Result<KnownUser, SystemError>
            switch answer {
            case .found(let entry): result = .success(KnownUser(entry))
            case .unknown: result = .success(KnownUser(withoutName: user))
            case .failed(let error): result = .failure(error)
            }
            if case .success(let known) = result { keep(known, of: owner) }
            guard let completions = waiting.removeValue(forKey: owner) else { continue }
            for completion in completions.all {
                completion(result)
                core.perform()
            }
        }
    }

    private func keep(_ user: KnownUser, of owner: OwnerID) {
        if known.count >= Self.countMax { known.removeAll() }
        known[owner] = (user, core.now + Self.validity)
    }
}
