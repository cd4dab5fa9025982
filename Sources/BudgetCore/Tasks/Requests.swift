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
        if let group = queueing.group, limits.groupSlots[group] == nil {
            throw .noSuchGroup(group)
        }
        guard (-limits.priorityMax...limits.priorityMax).contains(queueing.priority) else {
            throw .invalidParameter("priority")
        }
        try check(queueing.earliestBegin, "earliestBeginMs", limits)
        try check(queueing.minimumInterval, "minimumIntervalMs", limits)
        guard let retry = queueing.retry else { return }
        guard (1...Retry.attemptsMax).contains(retry.attempts) else {
            throw .invalidParameter("retry.attempts")
        }
        guard retry.delay >= .zero, retry.delay <= Retry.delayMax else {
            throw .invalidParameter("retry.delayMs")
        }
    }

    private func check(
        _ wait: Duration?, _ name: String, _ limits: RegistryLimits
    ) throws(Refusal) {
        guard let wait else { return }
        guard wait >= .zero, wait <= limits.waitMax else { throw .invalidParameter(name) }
    }

    /// Refuses a command that is too long, or too long beside the owner's others.
    func checkWork(_ limits: RegistryLimits, ofOthers bytesOfOthers: Int) throws(Refusal) {
        let bytes = work.byteCount
        guard bytes <= limits.workBytesMax else {
            throw .limitReached(limit: "workBytesMax", value: limits.workBytesMax)
        }
        guard bytes + bytesOfOthers <= limits.workBytesPerOwnerMax else {
            throw .limitReached(limit: "workBytesPerOwnerMax", value: limits.workBytesPerOwnerMax)
        }
    }
}
