import BudgetCore
import Testing

extension Clerk {
    static let carol = Caller(owner: OwnerID(rawValue: 1003))

    static func submission(
        _ name: String = "upload", by caller: Caller = ann,
        _ configure: (inout Queueing) -> Void = { _ in }
    ) -> Submission {
        var submission = Submission(
            name: name, owner: caller.owner, work: Work(command: ["upload"]))
        configure(&submission.queueing)
        return submission
    }

    /// Submits a command with what decides when it may run.
    mutating func queue(
        _ name: String = "upload", by caller: Caller = ann,
        _ configure: (inout Queueing) -> Void = { _ in }
    ) throws -> TaskID {
        try submit(Clerk.submission(name, by: caller, configure))
    }

    /// The same, where an earlier task may stand for it.
    mutating func submitted(
        _ name: String = "upload", _ configure: (inout Queueing) -> Void
    ) throws -> Submitted {
        let submission = Clerk.submission(name, configure)
        return try call { try $0.submit(submission, at: $1, &$2) }
    }

    /// The main process of a task exits, and no other is left.
    mutating func finish(_ id: TaskID, _ status: Int32 = 0) {
        exit(id, .status(status))
        gone(id)
    }

    /// The machine sleeps.
    mutating func machineSleeps(_ duration: Duration) {
        held.registry.asleep += duration
        call { $0.deadlineReached(at: $1, &$2) }
    }

    mutating func pause(_ group: String, _ isPaused: Bool = true) throws -> Bool {
        try call { registry, _, actions in
            try registry.setPaused(group, isPaused, &actions)
        }
    }

    mutating func conditions(_ conditions: Conditions) {
        call { $0.conditionsChanged(to: conditions, at: $1, &$2) }
    }

    mutating func heal() {
        call { $0.storeHealed(at: $1, &$2) }
    }

    func hold(_ id: TaskID) -> PendingReason? { held.registry.firstHold(on: id) }

    func run(_ id: TaskID) -> RunTask? { held.registry.record(id)?.run }

    func states(_ ids: [TaskID]) -> [TaskState?] { ids.map { task($0)?.state } }

    /// Lets everything that is started run to its end, one after another.
    ///
    /// - Returns: the tasks in the order of their starts.
    mutating func serveAll(of ids: [TaskID]) -> [TaskID] {
        var served: [TaskID] = []
        while let running = ids.first(where: { task($0)?.state == .running }) {
            served.append(running)
            finish(running)
        }
        return served
    }
}

extension RestoredTask {
    /// What an earlier daemon left of a submission with the default profile.
    init(_ number: UInt64, _ submission: Submission, begunAt: Instant? = nil) {
        self.init(
            id: TaskID(rawValue: number), submission: submission, profile: "default",
            budget: Budget(duration: .seconds(180), grace: .seconds(5)), grace: .seconds(5),
            lifetimeMax: .seconds(600), isCutByLifetime: false,
            submittedAt: Instant(nanoseconds: 0), begunAt: begunAt)
    }
}
