package import BudgetCore
package import Systemd

/// What is due when: of the core and of each part that has something to do later.
///
/// One timer is armed at the first of all, and a second one for what waits in the queue, where the time counts that
/// the machine sleeps.
package final class DeadlineTable {
    /// Something that is due at times: the next of them, and what is done then.
    private struct Deadline {
        let next: () -> Instant?
        let isDue: () -> Void
    }

    /// Deadlines of the core done in one turn; what is left waits until clients have had theirs.
    private static let countPerTurn = 512
    /// What the clients get at least between two full turns of deadlines.
    private static let clientsShare = Duration.microseconds(50)

    private let core: Core
    private let timer: TimerSource
    private let queueTimer: TimerSource
    private var deadlines: [Deadline] = []
    /// Whether the last turn left some of the core's that were due.
    private var hasOverdue = false
    /// When those have their turn, after the clients have had theirs.
    package private(set) var leftoversAt: Instant?

    /// - Parameter fired: called when something is due; what calls `fire` in a turn.
    package init(_ core: Core, _ loop: EventLoop, fired: @escaping () -> Void) throws(SystemdError)
    {
        self.core = core
        timer = try loop.addTimer(handler: fired)
        queueTimer = try loop.addTimer(on: .bootTime, handler: fired)
    }

    /// Adds something that is due at times.
    ///
    /// - Parameters:
    ///   - next: when; `nil` or `.never` while it is not.
    ///   - isDue: does it, once that is over.
    package func add(next: @escaping () -> Instant?, isDue: @escaping () -> Void) {
        deadlines.append(Deadline(next: next, isDue: isDue))
    }

    /// Does what is due by now.
    package func fire() {
        core.update { registry, now, actions in
            registry.deadlineReached(at: now, limit: Self.countPerTurn, &actions)
        }
        hasOverdue = core.update { registry, now, _ in registry.hasOverdue(at: now) }
        leftoversAt = nil
        for deadline in deadlines {
            if let next = deadline.next(), next <= core.now { deadline.isDue() }
        }
    }

    /// Arms the timers at what is due next. With deadlines left over from a full turn, the clients get theirs before
    /// the next of them.
    package func arm() throws(SystemdError) {
        // Counted once, and from the end of that turn, which may have taken longer than the clients' share: clients
        // that always have something must not put it off again with each turn.
        leftoversAt = hasOverdue ? leftoversAt ?? core.present + Self.clientsShare : nil
        try armQueueTimer()
        var next = core.update { registry, _, _ in registry.nextDeadline } ?? .never
        for deadline in deadlines {
            if let instant = deadline.next() { next = min(next, instant) }
        }
        guard next != .never else { return timer.disarm() }
        let instant = max(next, leftoversAt ?? next)
        // Where it fires too early, because what was due then is over, this is looked at again.
        try timer.arm(noLaterThanNanoseconds: UInt64(clamping: instant.nanoseconds))
    }

    private func armQueueTimer() throws(SystemdError) {
        guard let next = core.update({ registry, _, _ in registry.nextQueueDeadline }) else {
            return queueTimer.disarm()
        }
        let instant = max(next, leftoversAt.map { core.registry.boot(at: $0) } ?? next)
        try queueTimer.arm(atNanoseconds: UInt64(clamping: instant.nanoseconds))
    }
}
