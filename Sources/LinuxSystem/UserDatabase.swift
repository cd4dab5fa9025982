internal import CLinux
internal import Glibc

/// Looks users up on threads of its own, since the system's user database may be a server that
/// takes its time, or does not answer at all.
///
/// The descriptor tells when answers wait. A look-up that hangs holds up its own thread alone, until
/// as many hang as there may be threads; what is asked for then waits in a queue. It may outlive the
/// database: nobody hears its answer then.
package final class UserDatabase: Sendable {
    /// How a look-up ended.
    package enum Answer: Equatable, Sendable {
        case found(UserEntry)
        /// The database has no such user.
        case unknown
        /// It could not be asked.
        case failed(SystemError)
    }

    /// Look-ups at the same time.
    package static let threadsMax = 16

    private let work: LookUps

    /// - Parameter lookUp: what answers, on a thread that it may hold up; `nil`: the system's user
    ///   database.
    package init(lookUp: (@Sendable (UInt32) -> Answer)? = nil) throws(SystemError) {
        work = LookUps(lookUp ?? { UserEntry.lookUp($0) }, completion: try .event())
    }

    deinit {
        work.abandon()
    }

    /// Readable while answers wait.
    package var descriptor: Int32 { work.completion.rawValue }

    /// Asks for a user; the answer comes with `takeAnswers`. A user who is asked for again before
    /// that is looked up once, and answered once.
    ///
    /// - Throws: where no thread can be had; the user has not been asked for then.
    package func ask(_ user: UInt32) throws(SystemError) {
        try work.ask(user)
    }

    /// The answers since the last call, in the order in which they came.
    package func takeAnswers() -> [(user: UInt32, answer: Answer)] {
        work.takeAnswers()
    }
}

/// What the database and its threads share; lives until the last of them is done.
private final class LookUps: Sendable {
    /// The modules of nsswitch.conf(5) need some, and nobody says how much.
    private static let threadStackBytes = 512 * 1024

    private struct State {
        /// Asked for, and not taken yet.
        var pending: Set<UInt32> = []
        /// Of those: what no thread has begun.
        var queue: [UInt32] = []
        var answers: [(user: UInt32, answer: UserDatabase.Answer)] = []
        var threadCount = 0
    }

    private let lookUp: @Sendable (UInt32) -> UserDatabase.Answer
    let completion: OwnedDescriptor
    private let state = LockedState(State())

    init(
        _ lookUp: @escaping @Sendable (UInt32) -> UserDatabase.Answer,
        completion: consuming OwnedDescriptor
    ) {
        self.lookUp = lookUp
        self.completion = completion
    }

    func ask(_ user: UInt32) throws(SystemError) {
        let needsThread = state.withLock { state in
            guard state.pending.insert(user).inserted else { return false }
            state.queue.append(user)
            guard state.threadCount < UserDatabase.threadsMax else { return false }
            state.threadCount += 1
            return true
        }
        guard needsThread else { return }
        let error = startThread()
        if error != 0 { try threadIsMissing(for: user, error) }
    }

    /// The other threads do its work, where there are any.
    private func threadIsMissing(for user: UInt32, _ error: Int32) throws(SystemError) {
        let isLost = state.withLock { state in
            state.threadCount -= 1
            guard state.threadCount == 0, let index = state.queue.firstIndex(of: user) else {
                return false
            }
            state.queue.remove(at: index)
            state.pending.remove(user)
            return true
        }
        if isLost { throw SystemError(operation: "pthread_create", errno: error) }
    }

    func takeAnswers() -> [(user: UInt32, answer: UserDatabase.Answer)] {
        // Before the look at the answers: one that comes later makes it readable again.
        completion.takeEvents()
        return state.withLock { state in
            let answers = state.answers
            state.answers = []
            for (user, _) in answers { state.pending.remove(user) }
            return answers
        }
    }

    /// What no thread has begun is not looked up any more.
    func abandon() {
        state.withLock { $0.queue = [] }
    }

    private func startThread() -> Int32 {
        let retained = Unmanaged.passRetained(self)
        let error = clx_thread_start(
            Self.threadStackBytes,
            { argument in
                if let argument {
                    Unmanaged<LookUps>.fromOpaque(argument).takeRetainedValue().serve()
                }
                return nil
            },
            retained.toOpaque()
        )
        if error != 0 { retained.release() }
        return error
    }

    /// A thread ends when nothing waits.
    private func serve() {
        while let user = next() {
            let answer = lookUp(user)
            state.withLock { $0.answers.append((user, answer)) }
            completion.countEvent()
        }
    }

    private func next() -> UInt32? {
        state.withLock { state in
            if !state.queue.isEmpty { return state.queue.removeFirst() }
            state.threadCount -= 1
            return nil
        }
    }
}
