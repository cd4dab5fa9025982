// Tasks that are tried again (DESIGN.md rule 27).

extension BackgroundTaskRegistry {
    /// How long after an attempt that ends like this the next one may begin; `nil` where it is the last.
    func delayBeforeRetry(_ slot: Int, _ outcome: Outcome, _ reason: Reason?) -> Duration? {
        guard let run = table[run: table[slot].id], let retry = run.queueing.retry,
            run.attempt < retry.attempts, run.verdict != .cancelled, !run.isLastAttempt,
            !isDraining || keepsQueue, reason != .queueLost
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
        guard let run = table[run: id], run.queueing.retry != nil, run.verdict != .cancelled,
            !run.isLastAttempt
        else { return table[run: id]?.isCancelOnTheWay == true }
        table[run: id]?.isLastAttempt = true
        storeCancel(id, &actions)
        return true
    }

    /// Has it on disk that a task is not tried again.
    mutating func storeCancel(_ id: TaskID, _ actions: inout [Action]) {
        table[run: id]?.isCancelOnTheWay = true
        actions.append(.store(.cancelling(id)))
    }

    /// An attempt that is not the last is over: once that is on disk the task waits for the next one.
    mutating func endAttempt(_ slot: Int, _ actions: inout [Action]) {
        counts.attemptsEnded += 1
        actions.append(.store(.attemptEnded(table[slot].id)))
    }

    mutating func attemptStored(_ id: TaskID, at now: Instant, _ actions: inout [Action]) {
        unstoredAttempts.remove(id)
        guard let slot = table.slot(of: id), let run = table[run: id],
            let conclusion = run.conclusion, let delay = conclusion.retryDelay
        else { return }
        let attempt = EndedAttempt(
            attempt: run.attempt, outcome: conclusion.outcome, reason: conclusion.reason,
            exit: run.exit, endedAt: conclusion.endedAt,
            used: table[slot].used(at: conclusion.endedAt), use: run.use)
        let notBefore = conclusion.endedAtBoot + delay
        table[run: id]?.prepareAgain(after: attempt, notBefore: notBefore)
        table[slot].prepareAgain(isCut: run.isGrantCut)
        table.reopen(slot, asLive: false)
        actions.append(.tell(.attemptEnded, id))
        if let withdrawal = run.withdrawal {
            table[run: id]?.withdrawal = nil
            conclude(
                slot, .cancelled, reason: withdrawal, isWithdrawal: true, at: now, &actions)
        } else if isDraining, !keepsQueue {
            conclude(slot, .interrupted, reason: .queueLost, at: now, &actions)
        } else {
            startQueued(at: now, &actions)
        }
    }

    /// The end of an attempt is not on disk; it is written again when the disk takes it, and nothing is
    /// known of it before.
    mutating func attemptNotStored(_ id: TaskID, _ reason: String, _ actions: inout [Action]) {
        guard table.slot(of: id) != nil else { return }
        unstoredAttempts.insert(id)
        guard table[run: id]?.withdrawal != nil else { return }
        table[run: id]?.withdrawal = nil
        actions.append(.answer(id, .notAccepting(reason)))
    }
}
