/// One step of stopping the processes of a task. Escalation is data, which `Teardown` walks.
package struct TeardownStep: Equatable, Sendable {
    package enum Order: Equatable, Sendable {
        /// Nothing is done: it ends by itself, or waits in vain.
        case wait
        case signal(SignalNumber)
        case killAll
    }

    package let order: Order
    /// How long to wait for the processes to be gone before the next step.
    package let wait: Duration

    package static let killAll = TeardownStep(order: .killAll, wait: firstKillWait)

    /// How long after the first kill a daemon that stops waits no longer.
    package static let drainWait = Duration.seconds(5)
    private static let firstKillWait = Duration.seconds(1)
    private static let killWaitMax = Duration.seconds(60)

    /// How long to wait for a kill before it is repeated, for as long as something is left: a second, and then as
    /// long as it has lasted already, but not beyond the moment at which something follows from it.
    ///
    /// - Parameters:
    ///   - elapsed: since the first kill.
    ///   - stuckAfter: `RegistryLimits.stuckAfter`.
    static func killWait(
        after elapsed: Duration, stuckAfter: Duration, isDraining: Bool
    ) -> Duration {
        let wait = min(max(elapsed, firstKillWait), killWaitMax)
        let marks = [isDraining ? drainWait : nil, stuckAfter].compactMap { $0 }
        let next = marks.filter { $0 > elapsed }.min()
        return next.map { min(wait, $0 - elapsed) } ?? wait
    }

    /// What follows where a task has said that its work is done: its grace, kill of the group.
    static func completion(grace: Duration) -> [TeardownStep] {
        [TeardownStep(order: .wait, wait: grace), killAll]
    }

    /// What `cancel` does: a signal, the task's grace, kill of the group.
    package static func cancellation(by signal: SignalNumber, grace: Duration) -> [TeardownStep] {
        signal == .kill
            ? [killAll] : [TeardownStep(order: .signal(signal), wait: grace), killAll]
    }
}

/// How the processes of a run task are being stopped.
package struct Teardown: Equatable, Sendable {
    /// An order that the task is not tried again.
    package enum RetryBan: Equatable, Sendable {
        case none
        /// It is on its way to the disk.
        case ordered
        /// The disk has answered, or nothing was to be written.
        case taken
    }

    /// What became of a kill.
    struct Kill: Equatable, Sendable {
        /// When they were killed first.
        let since: Instant
        /// Whether it was reported that this did not end them.
        var isReported = false
        /// Whether they are still there `RegistryLimits.stuckAfter` later: the task takes no slot any more.
        var isStuck = false
    }

    /// What is done for a step.
    package struct Taken: Equatable, Sendable {
        package let order: TeardownStep.Order
        /// Whether it is to be reported that a kill did not end them.
        let isNewlyReported: Bool
        /// How long ago they were killed first.
        package let elapsed: Duration
    }

    /// The outcome that is recorded once the processes are gone.
    package private(set) var outcome: Outcome
    /// Those that are still to be taken.
    private(set) var steps: ArraySlice<TeardownStep>
    /// When the next one is due; `never` before the first, which is taken at once.
    package private(set) var nextStepAt = Instant.never
    /// `nil` before they are killed.
    private(set) var kill: Kill?
    package private(set) var retryBan: RetryBan

    package init(_ outcome: Outcome, _ steps: [TeardownStep], retryBan: RetryBan = .none) {
        self.outcome = outcome
        self.steps = steps[...]
        self.retryBan = retryBan
    }

    /// One that an earlier daemon began.
    ///
    /// - Parameters:
    ///   - killAt: when the processes are killed, or were killed first.
    ///   - isKilled: whether they were.
    init(_ outcome: Outcome, killAt: Instant, isKilled: Bool, retryBan: RetryBan) {
        self.init(outcome, isKilled ? [] : [.killAll], retryBan: retryBan)
        nextStepAt = killAt
        guard isKilled else { return }
        kill = Kill(since: killAt)
        nextStepAt = killAt + TeardownStep.killAll.wait
    }

    /// When the processes are killed, or were killed first.
    var killAt: Instant {
        if let kill { return kill.since }
        var at = nextStepAt
        for step in steps {
            if step.order == .killAll { break }
            at = at + step.wait
        }
        return at
    }

    /// The same with other steps, of which the first is taken at once.
    func anew(_ outcome: Outcome, _ steps: some Collection<TeardownStep>) -> Teardown {
        var result = self
        result.outcome = outcome
        result.steps = Array(steps)[...]
        result.nextStepAt = .never
        return result
    }

    var isStuck: Bool { kill?.isStuck ?? false }

    /// Whether no order was taken that the task is not tried again.
    var mayBeTriedAgain: Bool { outcome != .cancelled && retryBan == .none }

    /// The same after the disk has answered about the order that it is not tried again.
    var retryBanAnswered: Teardown {
        var result = self
        if retryBan == .ordered { result.retryBan = .taken }
        return result
    }

    /// The same with the order that it is not tried again.
    func forbiddingRetry(isOrdered: Bool) -> Teardown {
        var result = self
        if isOrdered {
            result.retryBan = .ordered
        } else if retryBan == .none {
            result.retryBan = .taken
        }
        return result
    }

    /// Takes the next step; the last one again, ever more slowly, for as long as something is left.
    ///
    /// - Returns: `nil` where it is not due.
    package mutating func takeStep(at now: Instant, stuckAfter: Duration, isDraining: Bool)
        -> Taken?
    {
        guard nextStepAt == .never || nextStepAt <= now else { return nil }
        let isNewlyReported = steps.isEmpty && kill?.isReported == false
        if isNewlyReported { kill?.isReported = true }
        let step = steps.popFirst() ?? .killAll
        nextStepAt = now + step.wait
        var elapsed = Duration.zero
        if step.order == .killAll {
            let since = kill?.since ?? now
            elapsed = now - since
            kill = kill ?? Kill(since: since)
            let wait = TeardownStep.killWait(
                after: elapsed, stuckAfter: stuckAfter, isDraining: isDraining)
            nextStepAt = now + wait
        }
        return Taken(order: step.order, isNewlyReported: isNewlyReported, elapsed: elapsed)
    }

    /// Leaves out what is to come before the kill.
    ///
    /// - Returns: whether it was not killed already.
    mutating func killNow(at now: Instant) -> Bool {
        guard kill == nil else { return false }
        steps = [.killAll]
        nextStepAt = now
        return true
    }

    /// What was killed before a drain began is not waited for longer than what the drain kills.
    ///
    /// - Returns: whether the next step may be due earlier by it.
    mutating func hasten(at now: Instant) -> Bool {
        guard let kill, nextStepAt != .never else { return false }
        nextStepAt = min(nextStepAt, max(kill.since + TeardownStep.drainWait, now))
        return true
    }

    /// - Returns: whether it was not stuck before.
    mutating func noteStuck() -> Bool {
        guard !isStuck else { return false }
        kill?.isStuck = true
        return true
    }
}
