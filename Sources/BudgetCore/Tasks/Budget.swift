/// How long a background task may last, and how long before that it is told.
package struct Budget: Equatable, Sendable {
    let durationNanoseconds: Int64
    let graceNanoseconds: Int64

    /// The longest duration that may be asked for: a hundred years.
    package static let durationMax = Duration.seconds(100 * 366 * 86_400)

    /// - Parameters:
    ///   - duration: the hard limit; more than zero, at most `durationMax`.
    ///   - grace: the expiration handler fires this long before it; shorter than the duration.
    /// - Returns: `nil` where one of the two is out of its range.
    package init?(duration: Duration, grace: Duration) {
        guard duration > .zero, duration <= Budget.durationMax, grace >= .zero, grace < duration
        else { return nil }
        durationNanoseconds = duration.wholeNanoseconds
        graceNanoseconds = grace.wholeNanoseconds
    }

    package var duration: Duration { .nanoseconds(durationNanoseconds) }
    package var grace: Duration { .nanoseconds(graceNanoseconds) }
}

/// A named budget.
package struct Profile: Equatable, Sendable {
    package static let defaultName = "default"

    /// What a task is granted that asks for nothing else.
    let terms: Terms

    package init(name: String, budget: Budget, lifetimeMax: Duration?) {
        terms = Terms(
            profile: name, budget: budget, grace: budget.grace, lifetimeMax: lifetimeMax)
    }

    /// A profile without a limit.
    package init(unlimited name: String, grace: Duration) {
        terms = Terms(profile: name, budget: nil, grace: grace, lifetimeMax: nil)
    }

    package var name: String { terms.profile }
    /// `nil`: no limit, for background modes; such a task is still listed and revocable.
    package var budget: Budget? { terms.budget }
    /// What a task without a limit gets when it is stopped all the same.
    package var grace: Duration { .nanoseconds(terms.graceNanoseconds) }
    /// How long a task may last over all its extensions, counted from its begin; `nil`: no limit.
    package var lifetimeMax: Duration? { terms.lifetimeMax }
}

/// The numbers that bound the registry; each is named in the refusal that it causes (rule 12 in
/// docs/architecture.md).
package struct RegistryLimits: Equatable, Sendable {
    /// Live tasks of one owner; queued ones are not live.
    package var tasksPerOwnerMax = 1000
    package var queueDepthMax = 200_000
    package var queueDepthPerOwnerMax = 100_000
    /// Ended held tasks that can still be asked about.
    package var endedHeldMax = 10_000
    /// Ended run tasks that can still be asked about.
    package var endedRunMax = 10_000
    /// Run tasks that run at once.
    package var slots = 4
    /// Of one owner's commands that have started and not ended; `nil`: as many as there are slots, or all but one where
    /// `leavesOneSlot` says so. One that is dormant
    /// or stuck takes no slot and counts here all the same.
    package var slotsPerOwnerMax: Int?
    /// Whether nobody but root has all slots.
    package var leavesOneSlot = false
    /// The same of root's.
    package var slotsOfRootMax: Int?
    /// Who may go without a limit and have applications with a background mode, besides root.
    package var mayRunUnlimited: Set<OwnerID> = []
    /// Those of them that run at once in each group that is set.
    package var groupSlots: [String: Int] = [:]
    /// How long after its submission a task may begin at the earliest, and how long an interval may be.
    package var waitMax: Duration = .seconds(366 * 86_400)
    /// The highest priority; the lowest is as far below zero.
    package var priorityMax = 1000
    /// How many different rules of waiting an owner's tasks of one name may have: intervals, unique or not,
    /// groups and conditions. Whenever one of the tasks starts or ends, the first of each is looked at.
    package var rulesPerNameMax = 16
    /// To how many tasks that wait for others it is told in one go that one has ended; the next go is another turn's.
    package var followersToldAtOnce = 1024
    /// How many tasks that wait in vain for others are on their way to their ends at once: what they take of a turn, and
    /// of a commit, others wait for.
    package var vainEndsAtOnce = 24
    /// The age at which a task is named in the log, once.
    package var warnAfter: Duration {
        get { .nanoseconds(warnAfterNanoseconds) }
        set { warnAfterNanoseconds = newValue.wholeNanoseconds }
    }
    private(set) var warnAfterNanoseconds: Int64 = 30_000_000_000
    /// How long after its first kill a command that is still there is stuck, and gives its slot back.
    package var stuckAfter: Duration = .seconds(30)
    /// UTF-8 bytes of a task's name.
    package var nameBytesMax = 255
    /// Bytes of one submission's command, environment and directory; execve(2) takes no more.
    package var workBytesMax = 2_097_152
    /// The same of all run tasks of one owner that have not ended.
    package var workBytesPerOwnerMax = 67_108_864

    package init() {}

    /// How many commands of an owner run at once at most.
    package func slotsMax(of owner: OwnerID) -> Int {
        if owner == .root { return slotsOfRootMax ?? slots }
        return slotsPerOwnerMax ?? (leavesOneSlot ? max(slots - 1, 1) : slots)
    }

    /// Refuses a task that takes more slots than there are for its owner, in all or in its group.
    func check(slots count: Int, of group: String?, for owner: OwnerID) throws(Refusal) {
        guard count >= 1 else { throw .invalidParameter("slots") }
        guard count > 1 else { return }
        guard count <= slots else { throw .limitReached(limit: "slots", value: slots) }
        let share = slotsMax(of: owner)
        guard count <= share else { throw .limitReached(limit: "slotsPerOwnerMax", value: share) }
        guard let group, let most = groupSlots[group], count > most else { return }
        throw .limitReached(limit: "groupSlots", value: most)
    }

    /// Whether an owner's tasks may go without a limit, and their applications with a background mode.
    package func allowsUnlimited(_ owner: OwnerID) -> Bool {
        owner == .root || mayRunUnlimited.contains(owner)
    }
}
