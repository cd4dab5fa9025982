/// How far the killing of what is left of an application has come.
struct ApplicationKill: Sendable {
    /// When it is killed, and killed again.
    private(set) var due = Instant.never
    /// When it was killed first.
    private var first: Instant?
    private var isReportedStuck = false

    var hasBegun: Bool { first != nil }

    /// When it was killed first, or is to be.
    var begunOrDue: Instant { first ?? due }

    /// Plans the first kill.
    mutating func plan(at due: Instant) { self.due = due }

    /// Nothing is left to be killed.
    mutating func cancel() { due = .never }

    /// Looks again no later than a daemon that stops waits for.
    mutating func hasten(at now: Instant) {
        guard let first else { return }
        due = min(due, max(first + ApplicationTurn.drainWait, now))
    }

    /// - Returns: whether it has to be told that a kill has not ended it, which it is once.
    mutating func reportStuck() -> Bool {
        defer { isReportedStuck = true }
        return !isReportedStuck
    }

    /// Whether it is still there when the wait for an earlier kill is over.
    func isOverdue(at now: Instant) -> Bool { hasBegun && due <= now }

    /// How long ago it was killed first.
    func elapsed(at now: Instant) -> Duration { first.map { now - $0 } ?? .zero }

    /// It is killed now, and again after a wait.
    mutating func killed(at now: Instant, wait: Duration) {
        first = first ?? now
        due = now + wait
    }
}
