import BudgetCore
import TaskStore

// What a daemon finds at its start.
extension Ledger {
    /// Compares what a daemon has found with what is known.
    mutating func found(_ tasks: [TaskID: StoredTask], pausedGroups: [String]) throws {
        if let unknown = tasks.keys.first(where: { facts[$0] == nil }) {
            throw Violation("task \(unknown) on disk was never submitted")
        }
        conditions = []
        try groups.found(pausedGroups, of: limits.groupSlots.keys.sorted())
        for id in identifiers { try found(id, tasks[id]) }
        try checkNames()
        hasStopped = false
    }

    private mutating func found(_ id: TaskID, _ stored: StoredTask?) throws {
        let fact = try fact(id)
        guard let stored else {
            guard fact.answer != true, !fact.isFound else { throw Violation("it is lost: \(fact)") }
            fact.isLost = true
            open.remove(id)
            return
        }
        guard fact.answer != false || fact.isFound || fact.mayReturn, !fact.isLost else {
            throw Violation("it was refused and is there: \(fact)")
        }
        try checkSame(stored, fact)
        fact.cancelsWaiting = 0
        if stored.state == .ended {
            try checkEnd(stored, fact)
        } else {
            try foundLive(stored, fact)
        }
        fact.isEndTaken = stored.state == .ended
        fact.isFound = true
        fact.answeredAt = nil
        if !fact.isEndTaken || stored.end?.outcome != .completed {
            fact.succeededAt = nil
        } else if fact.succeededAt == nil {
            fact.succeededAt = fact.attempt.overAt
        }
        if stored.state == .ended { open.remove(id) } else { open.insert(id) }
        fact.stored = stored
    }

    private mutating func foundLive(_ stored: StoredTask, _ fact: Fact) throws {
        guard !fact.isCancelStored || stored.isCancelled, !fact.isEndTaken else {
            throw Violation("its end, or its cancel, is lost: \(fact)")
        }
        guard !stored.isCancelled || fact.isCancelAsked else {
            throw Violation("nobody asked to cancel it: \(fact)")
        }
        try checkAttempts(stored, fact)
        if stored.attempt > fact.attempt.number { nextAttempt(fact, stored.attempt) }
        fact.isCancelInForce = stored.isCancelled
        fact.isCancelStored = stored.isCancelled
        fact.isCancelRefused = false
        fact.attempt.isCancelled = stored.isCancelled
        fact.attempt.isDecided = stored.state == .started
        switch stored.state {
        case .queued, .ended:
            guard fact.launchedLast < stored.attempt, fact.told == nil, !stored.isCancelled else {
                throw Violation("it is queued again: \(fact)")
            }
        case .started:
            guard !hasStopped else { throw Violation("started after an orderly stop: \(fact)") }
            fact.told = nil
            fact.attempt.wasCutOff = true
            // It is over when the next daemon has seen to it.
            fact.attempt.overAt = machine.moment
            fact.attempt.use = nil
        }
    }

    /// Whether the attempts that are over are those that were seen, each followed by the next.
    private func checkAttempts(_ stored: StoredTask, _ fact: Fact) throws {
        guard stored.attempt >= fact.attempt.number, stored.attempt <= fact.retry?.attempts ?? 1,
            stored.attempts.map(\.attempt) == Array(1..<stored.attempt)
        else { throw Violation("attempt \(stored.attempt) of \(stored.attempts): \(fact)") }
        for attempt in stored.attempts {
            let outcome = attempt.end.outcome
            if let told = fact.attemptsTold[attempt.attempt] {
                guard told == outcome else {
                    throw Violation("attempt \(attempt) was told as \(told): \(fact)")
                }
            } else if attempt.attempt == fact.attempt.number, outcome != .interrupted {
                try check(outcome, of: fact)
            }
            try checkRetried(outcome, attempt.attempt, fact)
        }
    }

    private func checkEnd(_ stored: StoredTask, _ fact: Fact) throws {
        guard let end = stored.end else { return }
        if let before = fact.stored?.end, before != end {
            throw Violation("the end was \(before), and is \(end): \(fact)")
        }
        guard fact.told == nil || fact.told == end.outcome else {
            throw Violation("it was told as \(fact.told as Any), and is \(end.outcome)")
        }
        // Whether the daemon that decided it was stopping is not known any more.
        if end.outcome != .interrupted { try check(end.outcome, of: fact) }
        guard end.outcome == .completed || end.outcome == .failed else { return }
        if !fact.attempt.couldNotStart {
            guard end.exit == fact.attempt.exit, end.cpu == fact.attempt.use?.cpu else {
                throw Violation("the exit is \(end): \(fact)")
            }
        }
    }

    /// Whether nothing of a submission is missing or changed.
    private func checkSame(_ stored: StoredTask, _ fact: Fact) throws {
        let asked = fact.submission
        var isSame = stored.name == asked.name && stored.owner == asked.owner
        isSame = isSame && (stored.state == .ended || stored.work == asked.work)
        if let budget = asked.budget {
            isSame = isSame && stored.budget?.duration == budget.duration
            isSame = isSame && stored.grace == budget.grace
        }
        var queueing = asked.queueing
        // Of a later attempt it is the delay before it.
        if stored.attempt > 1 { queueing.earliestBegin = stored.queueing.earliestBegin }
        isSame = isSame && stored.queueing == queueing
        if let before = fact.stored {
            isSame = isSame && stored.submittedAt == before.submittedAt
            isSame = isSame && stored.lifetimeMax == before.lifetimeMax
            isSame = isSame && stored.profile == before.profile
        }
        guard isSame else { throw Violation("it is \(stored), and was \(asked)") }
    }

    /// Whether at most one of those that will run, or run again, has a unique name.
    private func checkNames() throws {
        let unique = open.sorted().compactMap { facts[$0] }.filter { fact in
            guard fact.isFound, fact.queueing.unique != nil, !fact.isCancelStored
            else { return false }
            return !fact.attempt.wasCutOff || comesBack(fact, after: fact.attempt.number)
        }
        for (index, fact) in unique.enumerated() {
            let other = unique[..<index].first { $0.isNamesake(of: fact) }
            if let other { throw Violation("\(fact) is there with the name of \(other)") }
        }
    }

    /// Whether a task that was running when its daemon was stopped is tried again.
    func comesBack(_ fact: Fact, after attempt: Int) -> Bool {
        fact.retry?.onInterruption == true && attempt < fact.retry?.attempts ?? 1
            && !fact.isCancelStored
    }
}
