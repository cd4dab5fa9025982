// Names that have at most one task (DESIGN.md rule 26).

extension BackgroundTaskRegistry {
    /// Looks at who has the name of a submission that is to be the only one of its name.
    ///
    /// - Returns: the task that stands for it, where there is one.
    func standIn(for submission: Submission) throws(Refusal) -> TaskID? {
        guard let unique = submission.queueing.unique,
            let id = uniqueTask(OwnedName(submission))
        else { return nil }
        if let conclusion = table[run: id]?.conclusion {
            // Until the disk has answered it is not known whether that task ends.
            if conclusion.isWithdrawal || table[run: id]?.withdrawal != nil {
                throw .notAccepting("task \(id) of that name is being cancelled")
            }
            guard conclusion.retryDelay != nil else { return nil }
            guard unique == .keep else {
                throw .notAccepting("task \(id) of that name is between two attempts")
            }
        }
        guard unique == .keep, let run = table[run: id], run.verdict != .cancelled,
            !run.isLastAttempt
        else { return nil }
        return id
    }

    /// Cancels the task in whose place a submission comes. The new one waits until it is gone; one that is
    /// queued ends in the same commit in which the new one is submitted.
    mutating func replace(
        for submission: Submission, at now: Instant, _ actions: inout [Action]
    ) {
        guard submission.queueing.unique == .replace,
            let id = uniqueTask(OwnedName(submission)),
            let slot = table.slot(of: id), table[run: id]?.conclusion == nil
        else { return }
        let reason = Reason.cancelled(by: submission.owner, text: "replaced")
        if table[slot].state == .queued {
            conclude(
                slot, .cancelled, reason: reason, isWithdrawal: true, at: now, &actions)
        } else if isStopping(slot) {
            _ = forbidRetry(slot, &actions)
        } else {
            cancelRunning(slot, reason, at: now, &actions)
        }
    }

    /// The task that has a name: the newest, since those before it are being stopped in its favour.
    private func uniqueTask(_ name: OwnedName) -> TaskID? {
        table.queue.names[name]?.uniques.last
    }
}
