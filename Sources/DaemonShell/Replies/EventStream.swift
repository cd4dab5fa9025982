package import BudgetCore
internal import Varlink

/// The events that an open call tells as they happen, one after the other.
package final class EventStream {
    /// What the events are about.
    package enum Subject {
        /// The task that the call has begun.
        case begun(TaskID)
        case task(TaskID, withOutput: Bool, by: Caller)
        /// All that the caller may see, or some of them.
        case tasks(TaskChoice, withOutput: Bool, by: Caller)
        /// One application of the caller's, or all that the caller may see.
        case applications(String?, by: Caller)
    }

    /// Which tasks of all that the caller may see are meant.
    package struct TaskChoice: Equatable {
        /// Those of this application alone.
        var application: String?
        /// Those alone that this process holds.
        var holder: ProcessID?

        package static let all = TaskChoice()

        func includes(_ task: BackgroundTask) -> Bool {
            if let application, task.application != application { return false }
            guard let holder else { return true }
            return task.kind == .held && task.holderProcess == holder
        }
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
        switch subject {
        case .task(_, let withOutput, _), .tasks(_, let withOutput, _): withOutput
        case .begun, .applications: false
        }
    }

    /// Whether it is about a task that its client may see.
    func includes(_ task: BackgroundTask) -> Bool {
        if case .tasks(let choice, _, _) = subject { choice.includes(task) } else { true }
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
package protocol Pager: AnyObject {
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
