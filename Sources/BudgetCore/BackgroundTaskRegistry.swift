/// Decides who may work on borrowed time, and until when.
///
/// Pure: performs no I/O, reads no clock, draws no random number. Each method takes what happened and
/// the instant of it, changes the registry, and appends what the shell must do, in order, to `actions`.
/// A refusal is thrown as a value and changes nothing.
///
/// There is one, and nobody copies it by mistake: it is large.
package struct BackgroundTaskRegistry: ~Copyable, Sendable {
    package var limits: RegistryLimits
    package private(set) var profiles: [String: Profile]
    /// What a task is granted that asks for nothing; `nil` where the settings have no such profile.
    private(set) var usualTerms: Terms?
    var recentTerms = RecentTerms()

    var table = TaskTable()
    var ended = EndedTasks()
    var identifiers: IdentifierSource
    var applications = ApplicationTable()
    package var applicationRules = ApplicationRules()
    var applicationClocks: [ApplicationKey: ApplicationClock] = [:]
    var ageReports = AgeReportLimit()
    /// Commands that have a slot, or had one and have not ended.
    var holders = SlotHolders()
    /// What the machine had no room for last.
    var shortage = Shortage()
    /// Commands that went back to the queue, which the disk takes for begun.
    var unstoredReturns: Set<TaskID> = []
    /// What the kernel says of the machine.
    package internal(set) var conditions: Conditions = []
    /// The same in words, for `explain`; of those that the shell looks at.
    package var conditionReadings: [Conditions: String] = [:]
    /// How long the machine has slept since it was started: how far CLOCK_BOOTTIME is ahead of
    /// CLOCK_MONOTONIC. Set by the shell before it says what happened.
    package var asleep: Duration = .zero
    /// Groups that are held back.
    var pausedGroups: Set<String> = []
    /// Orders about groups that are on their way to the disk, the oldest first.
    var orderedPauses: [String: [Bool]] = [:]
    package internal(set) var isDraining = false
    /// Whether what is queued at the end of a drain is left to the daemon after this one.
    var keepsQueue = false
    /// Why nothing can be written to disk; `nil` while it can.
    package internal(set) var storeFault: String?
    /// Ends that were told and that the disk does not know.
    var unstoredEnds: [TaskID: TaskRecord] = [:]
    /// Attempts that are over and that the disk does not know.
    var unstoredAttempts: Set<TaskID> = []
    /// Orders that a running task is not tried again which the disk does not know.
    var unstoredCancels: Set<TaskID> = []
    package var unstoredEndCount: Int { unstoredEnds.count + unstoredAttempts.count }
    package internal(set) var counts = RegistryCounts()

    /// Ids that are reserved on disk at once.
    package static var identifierBlock: UInt64 { IdentifierSource.blockSize }

    /// - Parameter identifiers: the ids that are reserved on disk for this run.
    package init(
        limits: RegistryLimits,
        profiles: [Profile],
        identifiers: ClosedRange<UInt64>
    ) {
        self.limits = limits
        self.profiles = Dictionary(profiles.map { ($0.name, $0) }) { _, last in last }
        usualTerms = self.profiles[Profile.defaultName]?.terms
        self.identifiers = IdentifierSource(identifiers)
    }

    /// Whose limits what an owner takes counts against, of what comes from now on.
    package mutating func replaceAccounts(_ accounts: Accounts) {
        table.charges.accounts = accounts
        applications.accounts = accounts
        table.queue.accounts = accounts
        ended.accounts = accounts
    }

    /// When `deadlineReached` is due next; `nil` while nothing is.
    ///
    /// Mutating, as `applicationClock(at:)` says.
    package var nextDeadline: Instant? {
        mutating get {
            var next = table.deadlines.first?.deadline ?? .never
            next = min(next, ageReports.reportAt ?? .never, applications.nextDeadline ?? .never)
            return next == .never ? nil : next
        }
    }

    /// Whether something was due by now and is not done.
    package mutating func hasOverdue(at now: Instant) -> Bool {
        nextDeadline ?? .never <= now || nextQueueDeadline ?? .never <= boot(at: now)
    }

    /// How many tasks an owner has.
    package func use(of owner: OwnerID) -> (live: Int, queued: Int) {
        let use = table[owner]
        return (use?.liveCount ?? 0, use?.queuedCount ?? 0)
    }

    package var liveCount: Int { table.liveCount }
    /// Live tasks without those whose start waits for the disk.
    package var begunCount: Int { table.liveCount - startsOnTheWay }
    /// Whether ends were told that the disk does not know.
    package var hasUnstoredEnds: Bool { unstoredEndCount > 0 }
    package var queuedCount: Int { table.queuedCount }

    /// The id that was handed out last, in this run or before it.
    package var identifierLast: TaskID { TaskID(rawValue: identifiers.lastTaken) }

    /// Does what is due, the earliest first.
    ///
    /// - Parameter limit: at most so many deadlines; what is left keeps `nextDeadline` in the past, so
    ///   that others are served in between.
    package mutating func deadlineReached(
        at now: Instant, limit: Int = .max, _ actions: inout [Action]
    ) {
        if let wake = nextQueueDeadline, wake <= boot(at: now) {
            startQueued(at: now, wakesMax: limit, &actions)
        }
        if let missed = ageReports.takeReport(at: now) { actions.append(.oldTasksNotNamed(missed)) }
        var handled = applicationsDue(at: now, limit: limit, &actions)
        while handled < limit, let (deadline, slot) = table.deadlines.first, deadline <= now {
            settle(slot, at: now, &actions)
            handled += 1
        }
    }

    /// Forgets ended tasks beyond the limits, and gives back the memory of those that are gone. The shell calls
    /// this when it has performed the actions of a turn, so that each of them still finds its task.
    ///
    /// - Returns: the run tasks among them, of which the shell may have kept something.
    @discardableResult
    package mutating func forgetExcess() -> [BackgroundTask] {
        table.releaseVacant()
        return ended.trim(heldMax: limits.endedHeldMax, runMax: limits.endedRunMax)
    }

    /// The task and all that is known of it, ended ones included as long as they are kept.
    package func record(_ id: TaskID) -> TaskRecord? {
        if let slot = table.slot(of: id) { return table.record(at: slot) }
        return ended[id] ?? unstoredEnds[id]
    }

    /// The same, where the caller may see it. What is not on disk yet does not exist for anybody.
    package func record(_ id: TaskID, for caller: Caller) throws(Refusal) -> TaskRecord {
        guard let record = record(id), record.run?.isAdmitted ?? true,
            caller.seesAll || record.task.owner == caller.owner
        else { throw .noSuchTask(id) }
        return record
    }
}

/// What has been counted since the start.
package struct RegistryCounts: Equatable, Sendable {
    package internal(set) var begunHeld = 0
    package internal(set) var begunRun = 0
    package internal(set) var handlersFired = 0
    /// Attempts after which a task was queued again.
    package internal(set) var attemptsEnded = 0
    private var outcomes = Array(repeating: 0, count: Outcome.allCases.count)

    package subscript(outcome: Outcome) -> Int { outcomes[Int(outcome.rawValue)] }

    mutating func count(_ outcome: Outcome) {
        outcomes[Int(outcome.rawValue)] += 1
    }
}

extension BackgroundTaskRegistry {
    /// Whether a holder has a task that has not ended.
    package func holds(_ holder: HolderID) -> Bool {
        table.firstSlot(heldBy: holder) != nil
    }

    /// When the next handler fires or hard limit is reached; looks at every live task, and not at those that
    /// are queued.
    package var nextExpiry: Instant? {
        var next = Instant.never
        for position in 0..<table.deadlines.count {
            let slot = table.deadlines.slot(at: position)
            next = min(next, table[slot].handlerAt, table[slot].hardAt)
        }
        return next == .never ? nil : next
    }

    /// How long the live tasks, and applications that are being ended, may still last at most.
    package func longestRemaining(at now: Instant) -> Duration {
        var last: Instant?
        for position in 0..<table.deadlines.count {
            let slot = table.deadlines.slot(at: position)
            guard table[slot].hardAt != .never else { continue }
            last = max(last ?? table[slot].hardAt, table[slot].hardAt)
        }
        return max(last ?? now, applications.lastKill ?? now) - now
    }

    /// Takes new profiles for what begins from now on; tasks keep what they were granted.
    package mutating func replaceProfiles(_ profiles: [Profile]) {
        self.profiles = Dictionary(profiles.map { ($0.name, $0) }) { _, last in last }
        usualTerms = self.profiles[Profile.defaultName]?.terms
    }

    /// New limits may let tasks start that wait.
    package mutating func limitsChanged(at now: Instant, _ actions: inout [Action]) {
        startQueued(at: now, &actions)
    }
}
