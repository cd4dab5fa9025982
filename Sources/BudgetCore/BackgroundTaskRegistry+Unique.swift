// Names that have at most one task (DESIGN.md rule 26).

extension BackgroundTaskRegistry {
    /// Looks at who has the name of a submission that is to be the only one of its name.
    ///
    /// - Returns: the task that stands for it, where there is one.
    func standIn(for submission: Submission) throws(Refusal) -> TaskID? {
        guard let unique = submission.queueing.unique,
            let id = uniqueTask(OwnedName(submission))
        else { return nil }
        switch table[run: id]?.phase {
        // Until the disk has answered it is not known whether that task ends.
        case .withdrawing, .recordingAttempt(_, cancelledBy: .some):
            throw .notAccepting("task \(id) of that name is being cancelled")
        case .recordingAttempt(_, cancelledBy: nil):
            guard unique == .keep else {
                throw .notAccepting("task \(id) of that name is between two attempts")
            }
            return id
        case .recordingEnd, .ended, nil: return nil
        case .some(let phase): return unique == .keep && phase.mayBeTriedAgain ? id : nil
        }
    }

    /// Cancels the task in whose place a submission comes. The new one waits until it is gone; one that is
    /// queued ends in the same commit in which the new one is submitted.
    mutating func replace(
        for submission: Submission, at now: Instant, _ actions: inout [Action]
    ) {
        guard submission.queueing.unique == .replace,
            let id = uniqueTask(OwnedName(submission)),
            let slot = table.slot(of: id), let phase = table.phase(slot)
        else { return }
        let reason = Reason.cancelled(by: submission.owner, text: "replaced")
        switch phase {
        case .submitting, .restored, .waiting, .starting:
            conclude(slot, as: RunEvent.withdrawn, .cancelled, reason: reason, at: now, &actions)
        case .launching, .running, .outlived: cancelRunning(slot, reason, at: now, &actions)
        case .stopping, .reaping: _ = forbidRetry(slot, &actions)
        case .withdrawing, .recordingAttempt, .recordingEnd, .ended: break
        }
    }

    /// The task that has a name: the newest, since those before it are being stopped in its favour.
    private func uniqueTask(_ name: OwnedName) -> TaskID? {
        table.queue.names[name]?.uniques.last
    }
}
