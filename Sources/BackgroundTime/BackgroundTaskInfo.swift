internal import TaskAPI

/// A background task, as the daemon tells it. What a later daemon may add to a kind, a state or an outcome is told as it
/// is.
public struct BackgroundTaskInfo: Sendable, Identifiable {
    /// Who does the work.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// A program, such as this one.
        public static let held = Kind(rawValue: "held")
        /// The daemon, which runs a command.
        public static let run = Kind(rawValue: "run")

        /// Its name in the interface.
        public let rawValue: String

        /// One by its name in the interface.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Where a task is between its beginning and its end.
    public struct State: RawRepresentable, Hashable, Sendable {
        /// It has not started.
        public static let queued = State(rawValue: "queued")
        /// Its application is in front, and no time is counted.
        public static let dormant = State(rawValue: "dormant")
        /// Its time is counted.
        public static let running = State(rawValue: "running")
        /// It was told that its time is nearly over.
        public static let expiring = State(rawValue: "expiring")
        /// It is over.
        public static let ended = State(rawValue: "ended")

        /// Its name in the interface.
        public let rawValue: String

        /// One by its name in the interface.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How a task has ended.
    public struct Outcome: RawRepresentable, Hashable, Sendable {
        /// Its work was done in time.
        public static let completed = Outcome(rawValue: "completed")
        /// Its command had another exit status than 0.
        public static let failed = Outcome(rawValue: "failed")
        /// It ended after it was told that its time is nearly over.
        public static let expired = Outcome(rawValue: "expired")
        /// It was still there at its limit.
        public static let overrun = Outcome(rawValue: "overrun")
        /// Somebody ended it.
        public static let cancelled = Outcome(rawValue: "cancelled")
        /// Who held it has gone.
        public static let abandoned = Outcome(rawValue: "abandoned")
        /// The daemon stopped.
        public static let interrupted = Outcome(rawValue: "interrupted")

        /// Its name in the interface.
        public let rawValue: String

        /// One by its name in the interface.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far a task has come, by its own account.
    public struct Progress: Hashable, Sendable {
        /// So much is done.
        public let completed: Int
        /// Of so much; `nil` if it does not know.
        public let total: Int?
    }

    /// Its number, which bgtaskctl(1) shows.
    public let id: Int
    /// What it was begun or submitted with.
    public let name: String
    /// Who does the work.
    public let kind: Kind
    /// Where it is now.
    public let state: State
    /// How it has ended; `nil` of one that has not.
    public let outcome: Outcome?
    /// More about its end, for people.
    public let reason: String?
    /// Its user.
    public let owner: Int
    /// Whose background time it shares.
    public let application: String?
    /// What the daemon runs, of one that it does.
    public let command: [String]?
    /// Its command's exit status; `nil` if a signal ended it, or it has not ended.
    public let exitStatus: Int?
    /// The signal that ended its command, such as `SIGKILL`.
    public let exitSignal: String?
    /// How long its clock has run.
    public let used: Duration?
    /// What time it has left.
    public let remaining: BackgroundTask.Remaining?
    /// What it last reported of itself.
    public let status: String?
    /// How far it has come, of one that has not ended.
    public let progress: Progress?
    /// Whose slots it uses besides the daemon's.
    public let group: String?
    /// Which attempt it is, counted from 1.
    public let attempt: Int
    /// The rule that holds a queued task back.
    public let waiting: String?
    /// How long that holds it back at least, of a rule about time.
    public let notBefore: Duration?
    /// How long ago it ended.
    public let sinceEnd: Duration?

    init(_ reply: TaskReply) {
        (id, name) = (reply.id, reply.name)
        (kind, state) = (Kind(rawValue: reply.kind), State(rawValue: reply.state))
        outcome = reply.outcome.map(Outcome.init(rawValue:))
        (reason, owner, application) = (reply.reason, reply.owner, reply.application)
        (command, exitStatus, exitSignal) = (reply.command, reply.exit?.status, reply.exit?.signal)
        used = reply.usedMs.map { .milliseconds($0) }
        remaining = reply.remaining.map {
            BackgroundTask.Remaining(
                untilExpiration: $0.ms.map { .milliseconds($0) },
                untilLimit: $0.hardMs.map { .milliseconds($0) })
        }
        status = reply.status
        progress = reply.progress.map { Progress(completed: $0.completed, total: $0.total) }
        (group, attempt, waiting) = (reply.group, reply.attempt ?? 1, reply.waiting)
        notBefore = reply.notBeforeMs.map { .milliseconds($0) }
        sinceEnd = reply.endedMs.map { .milliseconds($0) }
    }
}
