/// One step of stopping the processes of a task. Escalation is data, walked by the registry.
package struct TeardownStep: Equatable, Sendable {
    package enum Order: Equatable, Sendable {
        case signal(SignalNumber)
        case killAll
    }

    package let order: Order
    /// How long to wait for the processes to be gone before the next step.
    package let wait: Duration

    static let killAll = TeardownStep(order: .killAll, wait: firstKillWait)

    /// How long after the first kill a daemon that stops waits no longer.
    static let drainWait = Duration.seconds(5)
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

    /// What `cancel` does: SIGTERM, the task's grace, kill of the group.
    static func cancellation(grace: Duration) -> [TeardownStep] {
        [TeardownStep(order: .signal(.terminate), wait: grace), killAll]
    }
}
