internal import Synchronization
internal import TaskAPI

/// What became of a submission.
public struct BackgroundTaskSubmission: Sendable {
    /// How it was taken.
    public struct Receipt: RawRepresentable, Hashable, Sendable {
        /// As a new task.
        public static let accepted = Receipt(rawValue: "accepted")
        /// As a new task that a rule of time holds back.
        public static let deferred = Receipt(rawValue: "deferred")
        /// As nothing new: a unique task of the same name is used instead.
        public static let coalesced = Receipt(rawValue: "coalesced")

        /// Its name in the interface.
        public let rawValue: String

        /// One by its name in the interface.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The task's number.
    public let id: Int
    /// How it was taken.
    public let receipt: Receipt
    /// How long it is held back at least, if that is known.
    public let notBefore: Duration?

    init(_ reply: SubmissionReply) {
        (id, receipt) = (reply.id, Receipt(rawValue: reply.receipt))
        notBefore = reply.notBeforeMs.map { .milliseconds($0) }
    }
}

/// A rule that holds a task back, limits it, or stopped it.
public struct BackgroundTaskExplanation: Sendable {
    /// Its name.
    public let rule: String
    /// What it says, for people.
    public let text: String
    /// Its number, in the rule's unit.
    public let value: Int?
    /// The earliest time at which that can change, from now.
    public let earliestChange: Duration?

    init(_ wire: Tasks.Explanation) {
        (rule, text, value) = (wire.rule, wire.text, wire.value)
        earliestChange = wire.earliestChangeMs.map { .milliseconds($0) }
    }
}

/// A piece of what a command printed.
public struct BackgroundTaskOutput: Sendable {
    /// `stdout` or `stderr`.
    public let stream: String
    /// What it printed.
    public let text: String
    /// How many bytes are missing before it.
    public let dropped: Int
    /// Where the next piece begins, in bytes.
    public let next: Int?

    init(_ wire: Tasks.Output.Output) {
        (stream, text) = (wire.stream, wire.text)
        (dropped, next) = (wire.dropped ?? 0, wire.next)
    }
}

/// What a watch tells.
public enum BackgroundTaskWatchEvent: Sendable {
    /// Something happened to a task.
    case task(BackgroundTaskEvent)
    /// So many events are missing here; they came too fast.
    case missed(Int)
    /// The daemon was away, and the watch goes on with it. What happened meanwhile is not told; of a single task its
    /// present state comes next.
    case reconnected
}

/// What happened to a task.
public struct BackgroundTaskEvent: Sendable {
    /// What it was.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// Nothing: it is the state at the beginning of a watch.
        public static let present = Kind(rawValue: "present")
        /// It was submitted.
        public static let queued = Kind(rawValue: "queued")
        /// It has started.
        public static let began = Kind(rawValue: "began")
        /// Its time is not counted any more, as its application is in front.
        public static let dormant = Kind(rawValue: "dormant")
        /// Its time is counted again.
        public static let resumed = Kind(rawValue: "resumed")
        /// Its budget began anew.
        public static let extended = Kind(rawValue: "extended")
        /// It is told that its time is nearly over.
        public static let expiring = Kind(rawValue: "expiring")
        /// An attempt is over, and there will be another one.
        public static let attempt = Kind(rawValue: "attempt")
        /// It printed something.
        public static let output = Kind(rawValue: "output")
        /// It has reported something of itself.
        public static let status = Kind(rawValue: "status")
        /// Something is wrong with it.
        public static let warning = Kind(rawValue: "warning")
        /// It has ended.
        public static let ended = Kind(rawValue: "ended")

        /// Its name in the interface.
        public let rawValue: String

        /// One by its name in the interface.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What it was.
    public let kind: Kind
    /// The task, as it was then.
    public let task: BackgroundTaskInfo
    /// More about it, for people.
    public let reason: String?
    /// Of output: what was printed.
    public let text: String?
    /// Of output: `stdout` or `stderr`.
    public let stream: String?

    init(_ reply: EventReply) {
        (kind, task) = (Kind(rawValue: reply.kind), BackgroundTaskInfo(reply.task))
        (reason, text, stream) = (reply.reason, reply.text, reply.stream)
    }
}

/// Counts the events of a stream, so that a gap is seen.
final class EventNumbers: Sendable {
    private let last = Mutex(0)

    /// A stream begins.
    func begin() { last.withLock { $0 = 0 } }

    /// How many events are missing before this one.
    func missing(before number: Int) -> Int {
        last.withLock { last in
            defer { last = number }
            return last > 0 && number > last ? number - last - 1 : 0
        }
    }
}
