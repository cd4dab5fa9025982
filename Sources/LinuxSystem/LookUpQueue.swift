/// The users to be looked up, and the threads that do it: one that stays, and others that end when the queue is empty.
package struct LookUpQueue: Sendable {
    /// Which thread has to be woken or started for a request.
    package enum Help: Sendable { case none, resident, another }

    /// Wake the thread that stays.
    private let threadsMax: Int
    /// Asked for, and not taken yet.
    private var pending: Set<UInt32> = []
    /// Of those: what no thread has begun.
    private var queue: [UInt32] = []
    private var answers: [(user: UInt32, answer: UserDatabase.Answer)] = []
    /// How many threads look up, or have been told to.
    private var threadCount = 0
    /// Whether the thread that stays has nothing to do; it may not have begun yet.
    private var isResidentIdle = true
    private(set) var isAbandoned = false

    package init(threadsMax: Int) {
        self.threadsMax = threadsMax
    }

    package mutating func request(_ user: UInt32) -> Help {
        guard pending.insert(user).inserted else { return .none }
        queue.append(user)
        guard threadCount < threadsMax else { return .none }
        threadCount += 1
        guard isResidentIdle else { return .another }
        isResidentIdle = false
        return .resident
    }

    /// No further thread could be started: those that run do its work.
    package mutating func didNotStart() {
        threadCount -= 1
    }

    /// The next user for a thread; `nil`: there is none, and the thread is done.
    package mutating func next(isResident: Bool) -> UInt32? {
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

    /// Drops what no thread has begun.
    mutating func abandon() {
        queue = []
        isAbandoned = true
    }
}
