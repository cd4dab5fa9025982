/// Looks at processes that are to be adopted, on a thread of its own, because that reads every process there is.
///
/// It takes one adoption at a time; the caller decides which is next. The thread ends when there is nothing to do. It
/// may outlive its owner; its answer is dropped then.
package final class AdoptionThread: Sendable {
    package typealias Answer = Result<Adoption, AdoptionRefusal>

    private struct Shared {
        var question: (processIDs: [Int32], user: UInt32)?
        var isRunning = false
        var answer: Answer?
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
    /// - Throws: where no thread can be had; nothing has been asked then.
    package func request(_ processIDs: [Int32], user: UInt32) throws(SystemError) {
        let isRunning = shared.withLock { state in
            state.question = (processIDs, user)
            defer { state.isRunning = true }
            return state.isRunning
        }
        if isRunning { return }
        do throws(SystemError) {
            try startThread { [self] in serve() }
        } catch {
            shared.withLock { ($0.question, $0.isRunning) = (nil, false) }
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
        while let (processIDs, user) = next() {
            let found: Answer
            do throws(AdoptionRefusal) {
                found = .success(try Adoption(processIDs: processIDs, user: user))
            } catch {
                found = .failure(error)
            }
            shared.withLock { $0.answer = found }
            answer.countEvent()
        }
    }

    private func next() -> (processIDs: [Int32], user: UInt32)? {
        shared.withLock { state in
            defer { state.question = nil }
            if state.question == nil { state.isRunning = false }
            return state.question
        }
    }
}
