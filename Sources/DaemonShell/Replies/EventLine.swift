internal import BudgetCore
internal import Containers
internal import Varlink

/// What one reader of events is still to be written, in order.
struct EventLine {
    /// What is written at its turn.
    enum Entry {
        case event(SharedMessage)
        /// The last reply of its call.
        case last(SharedMessage)
        /// The state of an application as it is then.
        case present(ApplicationKey)
        /// Events that are in the numbers alone.
        case missed(Int)
    }

    /// What an entry takes besides the event, which is the same for all its readers, about.
    private static let overhead = 64

    private var entries = Deque<Entry>()
    /// Bytes of the events that wait.
    private(set) var byteCount = 0

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    /// What it takes in memory, the events themselves left out.
    var heldBytes: Int { count * EventLine.overhead }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        byteCount += entry.byteCount
    }

    mutating func popFirst() -> Entry? {
        let entry = entries.popFirst()
        byteCount -= entry?.byteCount ?? 0
        return entry
    }

    mutating func removeAll() {
        entries = Deque()
        byteCount = 0
    }
}

extension EventLine.Entry {
    /// Bytes of the event; what one of an application takes, about, where it is not written yet.
    var byteCount: Int {
        switch self {
        case .event(let message), .last(let message): message.byteCount
        case .present: 256
        case .missed: 0
        }
    }
}
