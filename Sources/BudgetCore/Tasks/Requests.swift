/// What a client asks for to do work of its own.
package struct BeginRequest: Equatable, Sendable {
    package var name: String
    package var owner: OwnerID
    package var holder: HolderID
    /// The process that the holder is, where it is not a connection; for those who list tasks.
    package var holderProcess: ProcessID?
    package var application: String?
    package var profile: String?
    package var budget: RequestedBudget?

    package init(name: String, owner: OwnerID, holder: HolderID) {
        self.name = name
        self.owner = owner
        self.holder = holder
    }
}

/// A command that a client asks to have run.
package struct Submission: Equatable, Sendable {
    package var name: String
    package var owner: OwnerID
    package var application: String?
    package var profile: String?
    package var budget: RequestedBudget?
    package var work: Work
    package var queueing = Queueing()
    /// How tasks ended that it is to come after, of those that only the disk knows.
    package var earlierEnds: [TaskID: Outcome] = [:]

    package init(name: String, owner: OwnerID, work: Work) {
        self.name = name
        self.owner = owner
        self.work = work
    }
}

/// What came of a submission.
package struct Submitted: Equatable, Sendable {
    package let id: TaskID
    /// Whether it is an earlier task that stands for the one submitted.
    package let isCoalesced: Bool
    /// Whether `Action.answer` will say so; else it stands already.
    package let waits: Bool
}

extension Submission {
    /// Refuses what the limits forbid, whoever submits it.
    func check(_ limits: RegistryLimits) throws(Refusal) {
        try queueing.check(limits, for: owner)
        guard let retry = queueing.retry else { return }
        guard (1...Retry.attemptsMax).contains(retry.attempts) else {
            throw .invalidParameter("retry.attempts")
        }
        guard retry.delay >= .zero, retry.delay <= Retry.delayMax else {
            throw .invalidParameter("retry.delayMs")
        }
    }

    /// Refuses a command that is too long, or too long beside the owner's others.
    func checkWork(_ limits: RegistryLimits, ofOthers bytesOfOthers: Int) throws(Refusal) {
        let bytes = work.byteCount + queueing.byteCount
        guard bytes <= limits.workBytesMax else {
            throw .limitReached(limit: "workBytesMax", value: limits.workBytesMax)
        }
        guard bytes + bytesOfOthers <= limits.workBytesPerOwnerMax else {
            throw .limitReached(limit: "workBytesPerOwnerMax", value: limits.workBytesPerOwnerMax)
        }
    }
}

extension Queueing {
    /// Refuses what the limits forbid, but for the attempts.
    func check(_ limits: RegistryLimits, for owner: OwnerID) throws(Refusal) {
        if let group, limits.groupSlots[group] == nil { throw .noSuchGroup(group) }
        guard (-limits.priorityMax...limits.priorityMax).contains(priority) else {
            throw .invalidParameter("priority")
        }
        try check(earliestBegin, "earliestBeginMs", limits)
        try check(minimumInterval, "minimumIntervalMs", limits)
        guard after.count <= Predecessor.countMax, Set(after.map(\.id)).count == after.count
        else { throw .invalidParameter("after") }
        try limits.check(slots: slots, of: group, for: owner)
    }

    private func check(
        _ wait: Duration?, _ name: String, _ limits: RegistryLimits
    ) throws(Refusal) {
        guard let wait else { return }
        guard wait >= .zero, wait <= limits.waitMax else { throw .invalidParameter(name) }
    }
}
