internal import Glibc
internal import TaskAPI

/// A command that the daemon is to run; what is not given is as the daemon's settings say.
public struct BackgroundCommand: Sendable {
    /// What must be so before a command starts, as the kernel reports it.
    public enum Condition: Sendable {
        /// There is a default route.
        case network
        /// The machine is not on battery.
        case externalPower
        /// The machine has little else to do.
        case idle
    }

    /// What is done if there is a task of the same name that was submitted as unique and has not ended.
    public enum Unique: Sendable {
        /// That task is used instead.
        case keep
        /// That task is cancelled, and the new one starts when it is gone.
        case replace
        /// That task is cancelled where it has not started; where it runs the new one starts when it is gone.
        case replaceQueued
    }

    /// That a command is tried again if it has failed, or its time was up.
    public struct Retry: Sendable {
        /// How often it is tried in all, 1 to 100.
        public var attempts: Int
        /// How long it is until the second attempt; it doubles after each. 30 s if not given.
        public var delay: Duration?
        /// Also if the daemon or the machine stopped while it ran.
        public var afterInterruption: Bool

        /// That it is tried so often in all.
        public init(attempts: Int, delay: Duration? = nil, afterInterruption: Bool = false) {
            (self.attempts, self.delay) = (attempts, delay)
            self.afterInterruption = afterInterruption
        }
    }

    /// The program, and its arguments.
    public var command: [String]
    /// For people, and for ``unique`` and ``minimumInterval``.
    public var name: String
    /// All of its time.
    public var budget: Duration?
    /// The part of the budget that is left when it is told; a quarter of it if not given, 5 s at most.
    public var grace: Duration?
    /// The signal that tells it that its time is nearly over, such as `SIGINT`; SIGTERM if not given.
    public var expirySignal: String?
    /// Which limits apply.
    public var profile: String?
    /// Whose background time it shares.
    public var application: String?
    /// Where it runs: the working directory of this process if not given.
    public var directory: String?
    /// Added to the small environment that the daemon gives it.
    public var environment: [String: String] = [:]
    /// What it reads as its standard input, 1 MiB at most.
    public var input: [UInt8] = []
    /// Whose slots it uses besides the daemon's.
    public var group: String?
    /// Among the tasks of one user the higher runs first, -1000 to 1000.
    public var priority: Int?
    /// How many slots it uses.
    public var slots: Int?
    /// Not before this time is over, counted from the submission.
    public var earliestBegin: Duration?
    /// Not while one of these fails.
    public var conditions: [Condition] = []
    /// Not before this time is over, counted from the last success of its name.
    public var minimumInterval: Duration?
    /// What is done if there is one of its name.
    public var unique: Unique?
    /// Whether it is tried again.
    public var retry: Retry?
    /// Tasks that must have completed before it starts.
    public var after: [Int] = []
    /// Tasks that must have ended before it starts, however.
    public var afterAny: [Int] = []
    /// Not before it is resumed.
    public var isPaused = false

    /// - Parameters:
    ///   - command: the program, and its arguments.
    ///   - name: that of the program if not given.
    ///   - budget: all of its time; the profile's if not given.
    public init(_ command: [String], name: String? = nil, budget: Duration? = nil) {
        self.command = command
        self.name = name ?? command.first?.split(separator: "/").last.map(String.init) ?? ""
        self.budget = budget
    }

    var wire: Tasks.Work {
        var work = Tasks.Work()
        (work.name, work.command, work.profile) = (name, command, profile)
        work.budget = BudgetRequest(budget, grace).wire
        work.expiration = expirySignal.map {
            var handler = Tasks.ExpirationHandler()
            handler.signal = $0
            return handler
        }
        work.application = application
        work.directory = directory ?? Self.workingDirectory
        work.environment = environment.isEmpty ? nil : environment
        work.input = input.isEmpty ? nil : Base64.encode(input)
        (work.group, work.priority, work.slots) = (group, priority, slots)
        work.earliestBeginMs = earliestBegin?.milliseconds
        work.conditions = conditions.isEmpty ? nil : conditions.map(\.wire)
        work.minimumIntervalMs = minimumInterval?.milliseconds
        (work.unique, work.retry) = (unique?.wire, retry?.wire)
        work.after = after.isEmpty ? nil : after
        work.afterAny = afterAny.isEmpty ? nil : afterAny
        work.paused = isPaused ? true : nil
        return work
    }

    private static var workingDirectory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}

extension BackgroundCommand.Condition {
    fileprivate var wire: Tasks.Condition {
        switch self {
        case .network: .network
        case .externalPower: .externalPower
        case .idle: .idle
        }
    }
}

extension BackgroundCommand.Unique {
    fileprivate var wire: Tasks.Unique {
        switch self {
        case .keep: .keep
        case .replace: .replace
        case .replaceQueued: .replaceQueued
        }
    }
}

extension BackgroundCommand.Retry {
    fileprivate var wire: Tasks.Retry {
        var retry = Tasks.Retry()
        (retry.attempts, retry.delayMs) = (attempts, delay?.milliseconds)
        retry.onInterruption = afterInterruption ? true : nil
        return retry
    }
}
