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

extension BackgroundTaskRegistry {
    /// Takes a command in; it starts at once where a slot is free, else when its turn comes.
    ///
    /// Nobody sees it before it is on disk: then `Action.answer` says so, or refuses it after all.
    package mutating func submit(
        _ submission: Submission, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Submitted {
        let grant = try checkedGrant(
            submission.name, submission.profile, submission.budget, for: submission.owner)
        try check(application: submission.application)
        try check(submission.queueing)
        if let storeFault { throw .notAccepting(storeFault) }
        if let id = try standIn(for: submission) {
            let isAdmitted = table[run: id]?.isAdmitted == true
            return Submitted(id: id, isCoalesced: true, waits: !isAdmitted)
        }
        try checkQueueDepth(of: submission.owner)
        try checkRules(of: submission)
        try check(submission.work, of: submission.owner)
        try checkBackgroundTime(
            application: submission.application, owner: submission.owner, at: now)
        let id = try takeIdentifier(&actions)
        replace(for: submission, at: now, &actions)
        let isStarted = mayStartAtOnce(submission, at: now)
        admit(submission, grant, id, startsAtOnce: isStarted, at: now)
        actions.append(.store(.submitted(id, isStarted: isStarted)))
        return Submitted(id: id, isCoalesced: false, waits: true)
    }

    /// Takes a submission into the table, where it waits for the disk.
    private mutating func admit(
        _ submission: Submission, _ grant: consuming Grant, _ id: TaskID, startsAtOnce: Bool,
        at now: Instant
    ) {
        let isCut = grant.isCut
        var task = BackgroundTask(
            id: id, owner: submission.owner, kind: .run, name: submission.name,
            terms: terms(of: grant, submission.application), at: now)
        task.isCutByLifetime = isCut
        let run = RunTask(
            work: submission.work, queueing: submission.queueing, isGrantCut: isCut,
            notBefore: submission.queueing.wait.map { boot(at: now) + $0 },
            startsAtOnce: startsAtOnce)
        let slot = table.insertRun(task, run)
        trackName(slot)
        if startsAtOnce { takeSlot(slot) }
    }

    private func check(_ queueing: Queueing) throws(Refusal) {
        if let group = queueing.group, limits.groupSlots[group] == nil {
            throw .noSuchGroup(group)
        }
        guard (-limits.priorityMax...limits.priorityMax).contains(queueing.priority) else {
            throw .invalidParameter("priority")
        }
        try check(queueing.earliestBegin, "earliestBeginMs")
        try check(queueing.minimumInterval, "minimumIntervalMs")
        guard let retry = queueing.retry else { return }
        guard (1...Retry.attemptsMax).contains(retry.attempts) else {
            throw .invalidParameter("retry.attempts")
        }
        guard retry.delay >= .zero, retry.delay <= Retry.delayMax else {
            throw .invalidParameter("retry.delayMs")
        }
    }

    private func check(_ wait: Duration?, _ name: String) throws(Refusal) {
        guard let wait else { return }
        guard wait >= .zero, wait <= limits.waitMax else { throw .invalidParameter(name) }
    }

    private func check(_ work: Work, of owner: OwnerID) throws(Refusal) {
        let bytes = work.byteCount
        guard bytes <= limits.workBytesMax else {
            throw .limitReached(limit: "workBytesMax", value: limits.workBytesMax)
        }
        guard bytes + table.charged(to: owner).workBytes <= limits.workBytesPerOwnerMax else {
            throw .limitReached(limit: "workBytesPerOwnerMax", value: limits.workBytesPerOwnerMax)
        }
    }

    private func checkRules(of submission: Submission) throws(Refusal) {
        let name = OwnedName(submission)
        guard let line = LineKey(name, submission.queueing),
            table.queue.lineCount(with: line) > limits.rulesPerNameMax
        else { return }
        throw .limitReached(limit: "rulesPerNameMax", value: limits.rulesPerNameMax)
    }

    private func checkQueueDepth(of owner: OwnerID) throws(Refusal) {
        guard table.queuedCount < limits.queueDepthMax else {
            throw .limitReached(limit: "queueDepthMax", value: limits.queueDepthMax)
        }
        guard table.charged(to: owner).queued < limits.queueDepthPerOwnerMax else {
            throw .limitReached(
                limit: "queueDepthPerOwnerMax", value: limits.queueDepthPerOwnerMax)
        }
    }
}
