internal import BudgetCore
internal import LinuxSystem
internal import TaskStore

/// Answers questions about ended tasks that are on disk alone, on a thread of its own.
final class HistoryThread: Sendable {
    enum Question: Sendable {
        case task(TaskID, of: OwnerID?)
        /// A task of an owner, with what it was submitted with.
        case submission(TaskID, of: OwnerID)
        /// Which of some are tasks of an owner that have ended.
        case ended([TaskID], of: OwnerID?)
        case page(HistoryFilter, after: HistoryCursor?, countMax: Int)
        /// Spans of applications that have ended, up to the one of this number.
        case spans(SpanFilter, through: UInt64, after: SpanCursor?, countMax: Int)
        /// The output of a task that has ended, from a position on.
        case output(TaskID, of: OwnerID?, from: Int, since: WallTime?)
    }

    enum Answer: Sendable {
        case task(StoredTask?)
        case submission(EndedSubmission?)
        case ended(Set<TaskID>)
        case page(HistoryPage)
        case spans(SpanPage)
        /// The task, where there is one, and some of its output, where that is kept.
        case output(StoredTask?, StoredOutput?)
        case failed(StoreError)
    }

    private struct Shared {
        var questions: [(number: UInt64, question: Question)] = []
        var answers: [(number: UInt64, answer: Answer)] = []
        var isClosing = false
    }

    private let reader: HistoryReader
    /// Where outputs are kept; `nil`: nowhere.
    private let outputPath: String?
    private let shared = LockedState(Shared())
    private let request: OwnedDescriptor
    private let answer: OwnedDescriptor
    private let ended: OwnedDescriptor

    /// Readable when answers wait.
    var descriptor: Int32 { answer.rawValue }

    /// Starts the thread.
    init(_ reader: HistoryReader, outputPath: String?) throws(SystemError) {
        self.reader = reader
        self.outputPath = outputPath
        request = try .event()
        answer = try .event()
        ended = try .event()
        try request.setBlocking()
        try startThread { [self] in serve() }
    }

    /// Asks; the answer comes with the number that was given.
    func ask(_ question: Question, number: UInt64) {
        shared.withLock { $0.questions.append((number, question)) }
        request.countEvent()
    }

    /// The answers since the last call.
    func takeAnswers() -> [(number: UInt64, answer: Answer)] {
        answer.takeEvents()
        return shared.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// Ends the thread and its connection to the store.
    ///
    /// - Returns: whether it ended in time.
    func close() -> Bool {
        shared.withLock { $0.isClosing = true }
        request.countEvent()
        return ended.waitReadable(milliseconds: StoreThread.closeMilliseconds)
    }

    private func serve() {
        var outputs: StoredOutputReader?
        while true {
            request.takeEvents()
            while let (number, question) = next() {
                let found = find(question, &outputs)
                shared.withLock { $0.answers.append((number, found)) }
                answer.countEvent()
            }
            guard shared.withLock({ $0.isClosing }) else { continue }
            // A connection that only reads loses nothing.
            try? outputs?.close()
            try? reader.close()
            return ended.countEvent()
        }
    }

    private func next() -> (number: UInt64, question: Question)? {
        shared.withLock { state in
            state.isClosing || state.questions.isEmpty ? nil : state.questions.removeFirst()
        }
    }

    /// - Parameter outputs: opened with the first question about output.
    private func find(_ question: Question, _ outputs: inout StoredOutputReader?) -> Answer {
        do throws(StoreError) {
            switch question {
            case .task(let id, let owner): return .task(try reader.task(id, of: owner))
            case .submission(let id, let owner):
                return .submission(try reader.submission(id, of: owner))
            case .ended(let ids, let owner):
                return .ended(try reader.ended(of: ids, owner: owner))
            case .page(let filter, let cursor, let countMax):
                return .page(try reader.history(filter, after: cursor, countMax: countMax))
            case .spans(let filter, let last, let cursor, let countMax):
                return .spans(
                    try reader.spans(filter, through: last, after: cursor, countMax: countMax))
            case .output(let id, let owner, let position, let time):
                guard let task = try reader.task(id, of: owner) else { return .output(nil, nil) }
                guard let outputPath else { return .output(task, nil) }
                if outputs == nil { outputs = try StoredOutputReader(path: outputPath) }
                return .output(
                    task,
                    try outputs?.output(of: id, owner: task.owner, from: position, since: time))
            }
        } catch {
            return .failed(error)
        }
    }
}
