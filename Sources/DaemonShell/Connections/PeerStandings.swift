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
    /// On CLOCK_BOOTTIME, in nanoseconds.
    private let seenAt: Int64

    init(
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
        let process: PeerProcess.Identity
        /// Whether all that confines it was asked.
        let isWhole: Bool
    }

    private var standings: [Key: PeerStanding] = [:]
    private var sweepAt = Instant(nanoseconds: .min)

    package init() {}

    /// How many are kept.
    package var count: Int { standings.count }

    /// What confines a client's process.
    ///
    /// - Parameter own: what it is measured against; `nil` where all that confines it is asked.
    package mutating func standing(
        of client: Client, beyond own: ProcessConfinement?, at now: Instant
    ) -> PeerStanding {
        do throws(SystemError) {
            let process = try PeerProcess(
                of: client.descriptor, client.credentials,
                connectedBy: client.acceptedAt)
            return standing(
                of: process.identity, isWhole: own == nil, acceptedAt: client.acceptedAt, at: now,
                seenAt: BootTimeClock.now()
            ) { () throws(SystemError) in try process.confinement(beyond: own) }
        } catch {
            return PeerStanding(.failure(error), at: now, seenAt: client.acceptedAt)
        }
    }

    /// What is known of a process, or else what a look at it shows.
    ///
    /// - Parameters:
    ///   - acceptedAt: when the connection was, on CLOCK_BOOTTIME in nanoseconds.
    ///   - seenAt: what that clock says now.
    package mutating func standing(
        of process: PeerProcess.Identity, isWhole: Bool, acceptedAt: Int64, at now: Instant,
        seenAt: Int64, look: () throws(SystemError) -> ProcessConfinement
    ) -> PeerStanding {
        let key = Key(process: process, isWhole: isWhole)
        if let known = standings[key], known.isValid(at: now, acceptedAt: acceptedAt) {
            return known
        }
        forgetOld(at: now)
        let standing = PeerStanding(Result(catching: look), at: now, seenAt: seenAt)
        standings[key] = standing
        return standing
    }

    /// How many are kept at most.
    package static let countMax = 4096

    /// Once a second, so that many processes are not gone through for each other.
    private mutating func forgetOld(at now: Instant) {
        if standings.count >= Self.countMax { standings = [:] }
        guard now >= sweepAt else { return }
        standings = standings.filter { $0.value.isValid(at: now, acceptedAt: 0) }
        sweepAt = now + .seconds(1)
    }
}
