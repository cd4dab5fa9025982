internal import BudgetCore
internal import Varlink

/// The events that an open call tells as they happen, one after the other.
final class EventStream {
    /// What the events are about.
    enum Subject {
        /// The task that the call has begun.
        case begun(TaskID)
        /// One task, or all that the caller may see.
        case tasks(TaskID?, withOutput: Bool, by: Caller)
        /// One application of the caller's, or all that the caller may see.
        case applications(String?, by: Caller)
    }

    let subject: Subject
    /// Events told so far, those included that are in the numbers alone.
    private(set) var count = 0
    private var waiting = EventLine()

    /// - Parameter count: events that were told before.
    init(_ subject: Subject, count: Int = 0) {
        self.subject = subject
        self.count = count
    }

    /// Whether it tells what a task prints, too.
    var tellsOutput: Bool {
        if case .tasks(_, withOutput: true, by: _) = subject { true } else { false }
    }

    /// Counts events that are told now.
    ///
    /// - Returns: the number of the last of them.
    @discardableResult
    func told(_ number: Int = 1) -> Int {
        count += number
        return count
    }

    // MARK: - Those that are still to be written

    var isWaiting: Bool { !waiting.isEmpty }
    var waitingCount: Int { waiting.count }
    /// Bytes of the events that wait.
    var waitingBytes: Int { waiting.byteCount }
    /// What they take in memory, the events themselves left out, which others have too.
    var heldBytes: Int { waiting.heldBytes }

    func append(_ entry: EventLine.Entry) { waiting.append(entry) }
    func popFirst() -> EventLine.Entry? { waiting.popFirst() }
    func removeAll() { waiting.removeAll() }
}

/// A call whose replies are made as its reader takes them.
protocol Pager: AnyObject {
    /// What it holds in memory for the replies to come.
    var heldBytes: Int { get }

    /// The reader has taken what was made: goes on, or lets the client wait for its turn.
    func readerHasRoom(_ client: Client)

    /// Makes the next piece, at the client's turn.
    func makePiece(for client: Client)

    /// The client is being closed: what it holds is let go.
    func release()

    /// The client is gone, or the call has its last reply: nobody tells it anything any more.
    func ended(for client: Client)
}
