import BudgetCore

// Who may start, and what an attempt is followed by.
extension Ledger {
    /// Of the time that the daemon may take for passed.
    enum Bound {
        case least, most
    }

    // MARK: - Starts

    /// It is decided that a task starts as soon as the disk knows.
    mutating func decided(_ id: TaskID) throws {
        let fact = try fact(id)
        guard !isDraining else { throw Violation("in a drain a start is decided: \(fact)") }
        guard !fact.attempt.isDecided, !fact.hasEnded, !fact.isCancelInForce,
            !fact.attempt.wasCutOff
        else { throw Violation("a start is decided that may not be: \(fact)") }
        if let rule = hold(on: fact, .most) { throw Violation("\(rule) is broken: \(fact)") }
        let first = open.sorted().compactMap { facts[$0] }.first { other in
            other.submission.owner == fact.submission.owner && other.goesBefore(fact)
                && other !== fact && hold(on: other, .least) == nil
        }
        if let first { throw Violation("\(fact) starts before \(first)") }
        fact.attempt.isDecided = true
    }

    /// A start will not be after all: the disk refused it, or the daemon stops.
    func startUndone(_ id: TaskID) {
        facts[id]?.attempt.isDecided = false
    }

    /// What keeps a task from starting now, by what is known outside; `nil` where nothing does.
    func hold(on fact: Fact, _ bound: Bound) -> String? {
        // A start may be decided together with the submission, before that is answered.
        guard bound == .most || fact.isQueued else { return "its state" }
        let queueing = fact.queueing
        let others = open.compactMap { facts[$0] }.filter { $0 !== fact }
        let holders = others.filter { bound == .least ? $0.mayHaveSlot : $0.hasSlot }
        // What is there long after its kill may have given its slot back.
        let occupants = bound == .least ? holders : holders.filter { !mayBeStuck($0) }
        if occupants.count >= limits.slots { return "slots" }
        let own = others.count { $0.submission.owner == fact.submission.owner && $0.isLive }
        if own >= limits.tasksPerOwnerMax { return "tasksPerOwnerMax" }
        if let group = queueing.group {
            if groups.paused.contains(group) { return "the pause of group \(group)" }
            let slots = limits.groupSlots[group] ?? .max
            if occupants.count(where: { $0.queueing.group == group }) >= slots {
                return "the slots of group \(group)"
            }
        }
        if !queueing.conditions.isSubset(of: conditions) { return "a condition" }
        if wait(of: fact) > passed(since: fact.attempt.queuedAt, bound) { return "its time" }
        return nameHold(on: fact, others, holders, bound)
    }

    private func mayBeStuck(_ fact: Fact) -> Bool {
        fact.attempt.killedAt.map { machine.mostPassed(since: $0) >= .seconds(30) } ?? false
    }

    private func nameHold(
        on fact: Fact, _ others: [Fact], _ holders: [Fact], _ bound: Bound
    ) -> String? {
        let namesakes = holders.filter { $0.isNamesake(of: fact) }
        if fact.queueing.unique != nil, namesakes.contains(where: { $0.queueing.unique != nil }) {
            return "its unique name"
        }
        guard let interval = fact.queueing.minimumInterval else { return nil }
        if !namesakes.isEmpty { return "the name that keeps an interval" }
        let isOpen = others.contains { $0.isNamesake(of: fact) && $0.mayHaveCompleted }
        if isOpen, bound == .least { return "an end that is not told" }
        let isTooEarly = facts.values.contains { other in
            guard let success = other.succeededAt, other.isNamesake(of: fact) else { return false }
            return interval > passed(since: success, of: other, before: fact, bound)
        }
        return isTooEarly ? "minimumInterval" : nil
    }

    /// How long the present attempt waits.
    private func wait(of fact: Fact) -> Duration {
        guard fact.attempt.number > 1, let retry = fact.retry else {
            return fact.queueing.earliestBegin ?? .zero
        }
        return retry.delay * (1 << (fact.attempt.number - 2))
    }

    private func passed(since then: Machine.Moment, _ bound: Bound) -> Duration {
        switch bound {
        case .least: machine.leastPassed(since: then)
        case .most: machine.mostPassed(since: then)
        }
    }

    /// A daemon may have learned of a success from the disk: at its start, or when it took the task in.
    private func passed(
        since then: Machine.Moment, of other: Fact, before fact: Fact, _ bound: Bound
    ) -> Duration {
        switch bound {
        case .least:
            let learned = fact.answeredAt.map { machine.leastPassed(since: $0) }
            let least = machine.leastPassed(since: then)
            return learned.map { min($0, least) } ?? least
        case .most:
            // Of a name without rules nobody takes note.
            let queueing = other.queueing
            let isFollowed = queueing.minimumInterval != nil || queueing.unique != nil
            return machine.mostPassed(sinceSuccess: then, isFollowed: isFollowed)
        }
    }

    // MARK: - Attempts

    /// Its process is made, or is found not to be possible.
    mutating func launched(_ id: TaskID, _ number: Int, couldStart: Bool) throws {
        let fact = try fact(id)
        guard number == fact.attempt.number, number > fact.launchedLast,
            number <= fact.retry?.attempts ?? 1, fact.attempt.isDecided, !fact.attempt.isLaunched
        else { throw Violation("attempt \(number) is launched: \(fact)") }
        guard !fact.hasEnded, !fact.isCancelStored, fact.isTakenIn else {
            throw Violation("it is launched, and may not run: \(fact)")
        }
        let other = open.compactMap { facts[$0] }.first { other in
            other.isNamesake(of: fact) && fact.queueing.unique != nil
                && other.queueing.unique != nil && other.hasSlot && other.attempt.isLaunched
        }
        if let other { throw Violation("\(fact) is launched while \(other) runs") }
        fact.attempt.isLaunched = true
        fact.attempt.couldNotStart = !couldStart
        fact.launchedLast = number
        if !couldStart { fact.attempt.overAt = machine.moment }
        count(number == 1 ? "launched" : "launched again")
    }

    /// All of its processes are to be killed.
    func killed(_ id: TaskID) {
        guard let fact = facts[id], fact.attempt.killedAt == nil else { return }
        fact.attempt.killedAt = machine.moment
    }

    func exited(_ id: TaskID, _ exit: ProcessExit) {
        facts[id]?.attempt.exit = exit
    }

    /// No process of the present attempt is left.
    func gone(_ id: TaskID, _ use: ResourceUse) {
        facts[id]?.attempt.overAt = machine.moment
        facts[id]?.attempt.use = use
    }

    func handlerFired(_ id: TaskID) throws {
        // Nobody follows held tasks.
        guard let fact = facts[id] else { return }
        guard fact.told == nil else { throw Violation("a handler fires after the end: \(fact)") }
        fact.attempt.hasHandlerFired = true
    }

    /// It was told that an attempt is over, and another one follows.
    mutating func attemptEnded(_ id: TaskID, _ ended: EndedAttempt) throws {
        let fact = try fact(id)
        let attempt = fact.attempt
        guard ended.attempt == attempt.number, attempt.wasCutOff || ended.exit == attempt.exit,
            ended.use == attempt.use
        else { throw Violation("\(ended) is told of \(fact)") }
        guard !attempt.isCancelled, !fact.isCancelStored else {
            throw Violation("it was cancelled, and waits for another attempt: \(fact)")
        }
        try check(ended.outcome, of: fact)
        try checkRetried(ended.outcome, ended.attempt, fact)
        fact.attemptsTold[ended.attempt] = ended.outcome
        nextAttempt(fact, ended.attempt + 1)
        count("tried again after \(ended.outcome)")
    }

    /// Whether another attempt may follow one that ended like this.
    func checkRetried(_ outcome: Outcome, _ number: Int, _ fact: Fact) throws {
        let isAllowed =
            switch outcome {
            case .failed, .expired, .overrun: true
            case .interrupted: fact.retry?.onInterruption == true
            case .completed, .cancelled, .abandoned: false
            }
        guard isAllowed, number < fact.retry?.attempts ?? 1 else {
            throw Violation("it is tried again after \(outcome): \(fact)")
        }
    }

    /// The delay before it counts from the end of the one before, which may be a daemon's start.
    func nextAttempt(_ fact: Fact, _ number: Int) {
        let queuedAt = fact.attempt.overAt ?? machine.daemonStart
        fact.attempt = Fact.Attempt(number: number, queuedAt: queuedAt)
    }
}
