internal import Glibc

/// Looks at processes that are to be adopted, on a thread of its own, because that reads every process there is.
///
/// It takes one adoption at a time; the caller decides which is next. The thread ends when there is nothing to do. It
/// may outlive its owner; its answer is dropped then.
package final class AdoptionThread: Sendable {
    package typealias Answer = Result<Adoption, AdoptionRefusal>

    private struct Question {
        let processIDs: [Int32]
        let user: UInt32
        /// Of whoever takes the question.
        let maker: Int32
    }

    private struct Shared {
        var question: Question?
        var isRunning = false
        var answer: Answer?
        /// Of the last look, where some of those who read have not come back from it: there is a bound for those.
        var readers: WaitingReaders?
    }

    private let shared = LockedState(Shared())
    private let answer: OwnedDescriptor

    package init() throws(SystemError) {
        answer = try .event()
    }

    /// Readable when an answer waits.
    package var descriptor: Int32 { answer.rawValue }

    /// Asks whether processes may be adopted by a user. Another is asked when this one is answered.
    ///
    /// - Parameter maker: makes those that read what /proc says of them (``CloserProcess/Maker/duplicate()``).
    /// - Throws: where no thread can be had; nothing has been asked then.
    package func request(
        _ processIDs: [Int32], user: UInt32, _ maker: consuming OwnedDescriptor
    ) throws(SystemError) {
        let question = Question(processIDs: processIDs, user: user, maker: maker.take())
        let isRunning = shared.withLock { state in
            state.question = question
            defer { state.isRunning = true }
            return state.isRunning
        }
        if isRunning { return }
        do throws(SystemError) {
            try startThread { [self] in serve() }
        } catch {
            shared.withLock { ($0.question, $0.isRunning) = (nil, false) }
            close(question.maker)
            throw error
        }
    }

    /// The answer, once.
    package func takeAnswer() -> Answer? {
        answer.takeEvents()
        return shared.withLock { state in
            defer { state.answer = nil }
            return state.answer
        }
    }

    private func serve() {
        while let question = next() {
            let found = Result { () throws(AdoptionRefusal) in try look(question) }
            shared.withLock { $0.answer = found }
            answer.countEvent()
        }
    }

    private func look(_ question: Question) throws(AdoptionRefusal) -> Adoption {
        let maker = OwnedDescriptor(question.maker)
        let readers: WaitingReaders
        do throws(SystemError) {
            let kept = shared.withLock { $0.readers }
            readers = if let kept { kept } else { try WaitingReaders() }
        } catch {
            throw AdoptionRefusal(processID: nil, reason: "\(error)")
        }
        readers.have(maker)
        defer { shared.withLock { $0.readers = readers.areHeldUp ? readers : nil } }
        return try Adoption(processIDs: question.processIDs, user: question.user, by: readers)
    }

    private func next() -> Question? {
        shared.withLock { state in
            defer { state.question = nil }
            if state.question == nil { state.isRunning = false }
            return state.question
        }
    }
}
