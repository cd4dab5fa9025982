// Tasks that are tried again (DESIGN.md rule 27).

extension BackgroundTaskRegistry {
    /// How long after an attempt that ends like this the next one may begin; `nil` where it is the last.
    func delayBeforeRetry(_ run: RunTask, _ outcome: Outcome, _ reason: Reason?) -> Duration? {
        guard let retry = run.queueing.retry, run.attempt < retry.attempts,
            run.phase.mayBeTriedAgain, !isDraining || keepsQueue, reason != .queueLost
        else { return nil }
        switch outcome {
        case .failed, .expired, .overrun: return retry.delay(after: run.attempt)
        case .interrupted: return retry.onInterruption ? retry.delay(after: run.attempt) : nil
        case .completed, .cancelled, .abandoned: return nil
        }
    }

    /// Sees to it that a task which is being stopped already is not tried again.
    ///
    /// - Returns: whether that has to be on disk first.
    mutating func forbidRetry(_ slot: Int, _ actions: inout [Action]) -> Bool {
        let id = table[slot].id
        guard let run = table[run: id], run.queueing.retry != nil, run.phase.mayBeTriedAgain
        else { return table.phase(slot)?.teardown?.retryBan == .ordered }
        advance(slot, on: .retryForbidden(isOrdered: true))
        actions.append(.store(.cancelling(id)))
        return true
    }

    /// An attempt that is not the last is over: once that is on disk the task waits for the next one.
    mutating func endAttempt(_ slot: Int, _ actions: inout [Action]) {
        counts.attemptsEnded += 1
        actions.append(.store(.attemptEnded(table[slot].id)))
    }

    mutating func attemptStored(_ id: TaskID, at now: Instant, _ actions: inout [Action]) {
        unstoredAttempts.remove(id)
        guard let slot = table.slot(of: id), let run = table[run: id],
            case .recordingAttempt(let conclusion, let cancelledBy) = run.phase,
            let delay = conclusion.retryDelay
        else { return }
        let attempt = EndedAttempt(
            attempt: run.attempt, outcome: conclusion.outcome, reason: conclusion.reason,
            exit: run.exit, endedAt: conclusion.endedAt,
            used: table[slot].used(at: conclusion.endedAt), use: run.use)
        let notBefore = conclusion.endedAtBoot + delay
        table[run: id]?.prepareAgain(after: attempt, notBefore: notBefore)
        table[slot].prepareAgain(isCut: run.isGrantCut)
        advance(slot, on: .attemptRecorded)
        actions.append(.tell(.attemptEnded, id))
        if let cancelledBy {
            conclude(
                slot, as: RunEvent.withdrawn, .cancelled, reason: cancelledBy, at: now, &actions)
        } else if isDraining, !keepsQueue {
            loseIfDrained(slot, at: now, &actions)
        } else {
            startQueued(at: now, &actions)
        }
    }

    /// The end of an attempt is not on disk; it is written again when the disk takes it, and nothing is
    /// known of it before.
    mutating func attemptNotStored(_ id: TaskID, _ reason: String, _ actions: inout [Action]) {
        guard let slot = table.slot(of: id) else { return }
        unstoredAttempts.insert(id)
        guard case .recordingAttempt(_, cancelledBy: .some) = table.phase(slot) else { return }
        advance(slot, on: .attemptNotRecorded)
        actions.append(.answer(id, .notAccepting(reason)))
    }
}
