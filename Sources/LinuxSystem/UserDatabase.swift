internal import CLinux
internal import Glibc

/// Looks users up on threads of its own, since the system's user database may be a server that
/// takes its time, or does not answer at all.
///
/// The descriptor is readable when answers wait. A look-up that hangs holds up only its own thread; when as many hang
/// as there may be threads, further requests wait in a queue. A look-up may outlive the database; its answer is
/// dropped then. One thread is started at once, so that users can be looked up even when no other can be had.
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
        try work.startResident()
    }

    deinit {
        work.abandon()
    }

    /// Readable while answers wait.
    package var descriptor: Int32 { work.completion.rawValue }

    /// Asks for a user; the answer comes with `takeAnswers`. A user who is asked for again before
    /// that is looked up once, and answered once.
    package func request(_ user: UInt32) {
        work.request(user)
    }

    /// The answers since the last call, in the order in which they came.
    package func takeAnswers() -> [(user: UInt32, answer: Answer)] {
        work.takeAnswers()
    }
}

/// What the database and its threads share; lives until the last of them is done.
///
/// `@unchecked Sendable`: `wakeUp` is a semaphore, which is for many threads (sem_overview(7)).
private final class LookUps: @unchecked Sendable {
    /// The modules of nsswitch.conf(5) need some stack, and none of them says how much.
    private static let threadStackBytes = 512 * 1024

    private let lookUp: @Sendable (UInt32) -> UserDatabase.Answer
    let completion: OwnedDescriptor
    private let state = LockedState(
        LookUpQueue(threadsMax: UserDatabase.threadsMax))
    /// Counts the orders to the thread that stays.
    private let wakeUp = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(
        _ lookUp: @escaping @Sendable (UInt32) -> UserDatabase.Answer,
        completion: consuming OwnedDescriptor
    ) {
        self.lookUp = lookUp
        self.completion = completion
        sem_init(wakeUp, 0, 0)
    }

    deinit {
        sem_destroy(wakeUp)
        wakeUp.deallocate()
    }

    /// Starts the thread that stays.
    func startResident() throws(SystemError) {
        let error = startThread { $0.stay() }
        if error != 0 { throw SystemError(operation: "pthread_create", errno: error) }
    }

    func request(_ user: UInt32) {
        switch state.withLock({ $0.request(user) }) {
        case .none: break
        case .resident: sem_post(wakeUp)
        case .another:
            guard startThread({ $0.serve() }) != 0 else { break }
            state.withLock { $0.didNotStart() }
        }
    }

    func takeAnswers() -> [(user: UInt32, answer: UserDatabase.Answer)] {
        // Before the look at the answers: one that comes later makes it readable again.
        completion.takeEvents()
        return state.withLock { $0.takeAnswers() }
    }

    func abandon() {
        state.withLock { $0.abandon() }
        sem_post(wakeUp)
    }

    private final class Job {
        let lookUps: LookUps
        let body: (LookUps) -> Void

        init(_ lookUps: LookUps, _ body: @escaping (LookUps) -> Void) {
            self.lookUps = lookUps
            self.body = body
        }
    }

    private func startThread(_ body: @escaping (LookUps) -> Void) -> Int32 {
        let retained = Unmanaged.passRetained(Job(self, body))
        let error = clx_thread_start(
            Self.threadStackBytes,
            { argument in
                if let argument {
                    let job = Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
                    job.body(job.lookUps)
                }
                return nil
            },
            retained.toOpaque()
        )
        if error != 0 { retained.release() }
        return error
    }

    /// Looks up what waits, and ends when nothing does.
    private func serve() {
        while let user = next(isResident: false) { lookUpNow(user) }
    }

    /// Looks up what waits whenever it is ordered to.
    private func stay() {
        while true {
            // Interrupted by a signal, it waits again.
            while sem_wait(wakeUp) != 0 {}
            if state.withLock({ $0.isAbandoned }) { return }
            while let user = next(isResident: true) { lookUpNow(user) }
        }
    }

    private func lookUpNow(_ user: UInt32) {
        let answer = lookUp(user)
        state.withLock { $0.keep(answer, about: user) }
        completion.countEvent()
    }

    private func next(isResident: Bool) -> UInt32? {
        state.withLock { $0.next(isResident: isResident) }
    }
}
