internal import CLinux
internal import Glibc

/// Has what /proc tells of the processes of strangers read by processes of their own (`clinux_reader.h`), without waiting for them.
package final class ProcessReaders: WatchOwner {
    /// What is asked of them, because of which user.
    private struct Question {
        enum Completion {
            case view((Result<ProcessView?, SystemError>) -> Void)
            case look((Result<[ProcessLook], SystemError>) -> Void)
        }

        let user: UInt32
        let completion: Completion
    }

    private let pool: ReaderPool
    private var readers: UnsafeMutablePointer<clx_readers> { pool.readers }
    private let timer: OwnedDescriptor
    private var questions: [UInt64: Question] = [:]
    /// Of questions that are answered: how many have not come back from them, and because of which user.
    private var unreturned: [UInt64: (user: UInt32, count: Int)] = [:]
    /// When the timer expires; `nil` where it does not.
    private var expiresAt: Int64?
    /// Makes a process as a closer.
    private var makeProcess: () throws(SystemError) -> OwnedDescriptor = {
        () throws(SystemError) in throw SystemError(operation: "fork", errno: EAGAIN)
    }

    init(watches: WatchList) throws(SystemError) {
        timer = try .timer()
        pool = try ReaderPool()
        _ = try watches.add(timer.rawValue, .input, owner: self, role: Self.roleOfTimer)
        _ = try watches.add(
            readers.pointee.questions.0, .input, owner: self, role: Self.roleOfAnswers)
    }

    private static let (roleOfTimer, roleOfAnswers) = (0, 1)

    /// - Parameter makeProcess: makes a process as a closer (``CloserProcess/Maker/makeProcess()``).
    package func connect(
        _ makeProcess: @escaping () throws(SystemError) -> OwnedDescriptor
    ) {
        self.makeProcess = makeProcess
    }

    /// Asks what a process reaches, and what keeps it from more.
    ///
    /// - Parameters:
    ///   - user: because of whom; see ``unreturnedCount(of:)``.
    ///   - own: of whose user namespace it is; of one in another that alone is told.
    ///   - completion: called in a later turn, with `nil` where it is gone.
    /// - Throws: EAGAIN where too much is asked already.
    package func view(
        _ process: Int32, because user: UInt32, beyond own: ProcessConfinement?,
        _ completion: @escaping (Result<ProcessView?, SystemError>) -> Void
    ) throws(SystemError) {
        var question = clx_question()
        question.kind = CLX_ASKS_VIEW
        question.count = 1
        question.pids.0 = process
        if let name = own?.namespaces[.user] {
            withUnsafeMutableBytes(of: &question.user_namespace) {
                $0.copyBytes(from: name.utf8.prefix($0.count - 1))
            }
        }
        try ask(question, user, .view(completion))
    }

    /// How many of those who read have not come back from what was asked because of a user, and was answered by others.
    package func unreturnedCount(of user: UInt32) -> Int {
        unreturned.values.reduce(0) { $0 + ($1.user == user ? $1.count : 0) }
    }

    /// So many can be looked at at once.
    package static let looksMax = Int(CLX_LOOK_MAX)

    /// Looks at processes.
    ///
    /// - Parameters:
    ///   - user: because of whom.
    ///   - completion: called in a later turn, with those that are there.
    /// - Throws: EAGAIN where too much is asked already.
    func look(
        at processes: some Collection<Int32>, because user: UInt32,
        _ completion: @escaping (Result<[ProcessLook], SystemError>) -> Void
    ) throws(SystemError) {
        try ask(.looks(at: processes), user, .look(completion))
    }

    private func ask(
        _ question: clx_question, _ user: UInt32, _ completion: Question.Completion
    ) throws(SystemError) {
        var question = question
        let number = clx_readers_ask(readers, &question, UInt64(MonotonicClock.now()))
        guard number != 0 else { throw SystemError(operation: "send", errno: EAGAIN) }
        questions[number] = Question(user: user, completion: completion)
        if readers.pointee.count == 0 { employ() }
        arm()
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        if role == Self.roleOfTimer {
            timer.takeEvents()
            expiresAt = nil
            employ()
        }
        hear()
        if role == Self.roleOfTimer { arm() }
    }

    /// Has another process answer, where one is lacking. Where none can be had it is tried again, until that is the answer.
    private func employ() {
        guard clx_readers_lack_process(readers, UInt64(MonotonicClock.now())),
            let process = try? makeProcess()
        else { return }
        _ = clx_readers_employ(readers, process.take())
    }

    private func hear() {
        var answer = clx_answer()
        while clx_readers_hear(readers, &answer) {
            guard let question = questions.removeValue(forKey: answer.number) else {
                if !answer.is_first { hasReturned(from: answer.number) }
                continue
            }
            if answer.others > 0 {
                unreturned[answer.number] = (question.user, Int(answer.others))
            }
            let error = SystemError(operation: "read", errno: answer.error, subject: "/proc")
            switch question.completion {
            case .view(let completion):
                completion(answer.error != 0 ? .failure(error) : .success(ProcessView(answer.view)))
            case .look(let completion):
                completion(answer.error != 0 ? .failure(error) : .success(answer.looks))
            }
        }
    }

    /// One more has come back from a question that was answered before.
    private func hasReturned(from number: UInt64) {
        guard let entry = unreturned.removeValue(forKey: number), entry.count > 1 else { return }
        unreturned[number] = (entry.user, entry.count - 1)
    }

    /// One that expires before stays as it is: it must come, however often others are asked.
    private func arm() {
        let milliseconds = Int64(clx_readers_next_look(readers))
        let due = MonotonicClock.now() + milliseconds * 1_000_000
        guard milliseconds >= 0, due < expiresAt ?? .max else { return }
        expiresAt = due
        timer.arm(nanoseconds: Int(milliseconds) * 1_000_000)
    }
}
