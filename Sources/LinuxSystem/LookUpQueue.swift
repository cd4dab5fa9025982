/// Who is to be looked up, and by how many threads at once: one that stays, and others that end with the work.
struct LookUpQueue: Sendable {
    /// What is needed for a user who was asked for.
    enum Help: Sendable { case none, resident, another }

    /// The thread that stays among them.
    private let threadsMax: Int
    /// Asked for, and not taken yet.
    private var pending: Set<UInt32> = []
    /// Of those: what no thread has begun.
    private var queue: [UInt32] = []
    private var answers: [(user: UInt32, answer: UserDatabase.Answer)] = []
    /// Those that look up, or have been ordered to.
    private var threadCount = 0
    /// Whether the thread that stays has nothing to do; it may not have begun yet.
    private var isResidentIdle = true
    private(set) var isAbandoned = false

    init(threadsMax: Int) {
        self.threadsMax = threadsMax
    }

    mutating func request(_ user: UInt32) -> Help {
        guard pending.insert(user).inserted else { return .none }
        queue.append(user)
        guard threadCount < threadsMax else { return .none }
        threadCount += 1
        guard isResidentIdle else { return .another }
        isResidentIdle = false
        return .resident
    }

    /// There is no room for another thread: those that look up do its work, the one that stays among them.
    mutating func didNotStart() {
        threadCount -= 1
    }

    /// Whom a thread is to look up; `nil`: it is counted no longer.
    mutating func next(isResident: Bool) -> UInt32? {
        if !queue.isEmpty { return queue.removeFirst() }
        threadCount -= 1
        if isResident { isResidentIdle = true }
        return nil
    }

    mutating func keep(_ answer: UserDatabase.Answer, about user: UInt32) {
        answers.append((user, answer))
    }

    mutating func takeAnswers() -> [(user: UInt32, answer: UserDatabase.Answer)] {
        defer { answers = [] }
        for (user, _) in answers { pending.remove(user) }
        return answers
    }

    /// What no thread has begun is not looked up any more.
    mutating func abandon() {
        queue = []
        isAbandoned = true
    }
}
