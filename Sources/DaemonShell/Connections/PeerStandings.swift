package import BudgetCore
package import LinuxSystem

/// What confines the process at the other end of a connection.
///
/// It is looked at when that has a command registered, and again after a second: a program may confine itself
/// after it has connected, and what confined it before stays. What was seen before it connected does not count:
/// who has confined itself, and then lets others connect, has them confined from the first call on. Before each
/// single command it would cost more than all else that a submission does. It is the process that connected: one
/// that hands its socket to another, or leaves it to it, lends what it may do.
package struct PeerStanding {
    private static let validity = Duration.seconds(1)

    package let confinement: Result<ProcessConfinement, SystemError>
    private let until: Instant
    private let seenAt: Int64

    /// - Parameter seenAt: when it was asked for, on CLOCK_BOOTTIME in nanoseconds.
    package init(
        _ confinement: Result<ProcessConfinement, SystemError>, at now: Instant, seenAt: Int64
    ) {
        self.confinement = confinement
        self.seenAt = seenAt
        until = now + PeerStanding.validity
    }

    /// - Parameter acceptedAt: when the connection was, on CLOCK_BOOTTIME in nanoseconds.
    func isValid(at now: Instant, acceptedAt: Int64) -> Bool {
        now < until && acceptedAt <= seenAt
    }
}

/// What confines the processes that were looked at within the last second.
///
/// By process: a look at one in many groups takes the kernel milliseconds, and a process may have a thousand
/// connections.
package struct PeerStandings {
    private struct Key: Hashable {
        let processID: Int32
        /// Whether all that confines it was asked.
        let isWhole: Bool
    }

    private struct Known {
        let standing: PeerStanding
        /// When that process started.
        let startedAt: Int64
    }

    private var known: [Key: Known] = [:]
    private var sweepAt = Instant(nanoseconds: .min)

    package init() {}

    /// How many are kept.
    package var count: Int { known.count }

    /// What is known of a process that is there.
    ///
    /// - Parameters:
    ///   - isWhole: whether all that confines it is wanted.
    ///   - acceptedAt: when its connection was, on CLOCK_BOOTTIME in nanoseconds. It has its number since then, and so what
    ///     was seen of that later was seen of it.
    package func standing(
        of process: PeerProcess, isWhole: Bool, acceptedAt: Int64, at now: Instant
    ) -> PeerStanding? {
        guard let known = known[Key(processID: process.processID, isWhole: isWhole)],
            known.standing.isValid(at: now, acceptedAt: acceptedAt),
            process.isOne(startedAt: known.startedAt)
        else { return nil }
        return known.standing
    }

    /// Keeps what was seen of a process.
    package mutating func learn(
        _ standing: PeerStanding, of processID: Int32, isWhole: Bool, startedAt: Int64,
        at now: Instant
    ) {
        forgetOld(at: now)
        known[Key(processID: processID, isWhole: isWhole)] = Known(
            standing: standing, startedAt: startedAt)
    }

    /// How many are kept at most.
    package static let countMax = 4096

    /// Once a second, so that many processes are not gone through for each other.
    private mutating func forgetOld(at now: Instant) {
        if known.count >= Self.countMax { known = [:] }
        guard now >= sweepAt else { return }
        known = known.filter { $0.value.standing.isValid(at: now, acceptedAt: 0) }
        sweepAt = now + .seconds(1)
    }
}
