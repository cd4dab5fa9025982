internal import CLinux
internal import Glibc

/// The process that connected a Unix socket, whoever has that socket by now.
package struct PeerProcess: ~Copyable {
    /// Names one process for as long as the machine runs.
    package struct Identity: Hashable, Sendable {
        let processID: Int32
        /// Clock ticks since boot.
        let startTime: Int64

        package init(processID: Int32, startTime: Int64) {
            self.processID = processID
            self.startTime = startTime
        }
    }

    package let identity: Identity
    private let descriptor: OwnedDescriptor

    /// - Parameter connectedBy: an instant of CLOCK_BOOTTIME in nanoseconds by which it was connected; for
    ///   kernels that do not know the process but by its number (SO_PEERPIDFD, Linux 6.5).
    /// - Throws: where it is gone, or is of a PID namespace that is not seen from here.
    package init(
        of socket: Int32, _ peer: PeerCredentials, connectedBy: Int64
    ) throws(SystemError) {
        guard peer.processID > 0 else {
            throw SystemError(
                operation: "look at the caller", errno: ESRCH,
                detail: "it is in a PID namespace that is not seen from here")
        }
        let number = clx_peer_pidfd(socket)
        let isNamed = number >= 0
        guard isNamed || errno == ENOPROTOOPT else { throw Self.gone(peer.processID) }
        let process = isNamed ? OwnedDescriptor(number) : try .process(peer.processID)
        let stat = try ProcessStat(of: peer.processID)
        if !isNamed, stat.startedAt > connectedBy { throw Self.gone(peer.processID) }
        // It has lived until after the reading, so that the number was its own.
        guard !process.waitReadable(milliseconds: 0) else { throw Self.gone(peer.processID) }
        identity = Identity(processID: peer.processID, startTime: stat.startTime)
        descriptor = process
    }

    /// What holds now for the process.
    ///
    /// - Parameter own: what it is measured against, where that alone is asked; see `ProcessConfinement.read`.
    /// - Throws: where it is gone, or may not be looked at.
    package func confinement(
        beyond own: ProcessConfinement? = nil
    ) throws(SystemError) -> ProcessConfinement {
        let confinement = try ProcessConfinement.read(of: "\(identity.processID)", beyond: own)
        guard !descriptor.waitReadable(milliseconds: 0) else {
            throw Self.gone(identity.processID)
        }
        return confinement
    }

    private static func gone(_ processID: Int32) -> SystemError {
        SystemError(operation: "look at process \(processID)", errno: ESRCH, detail: "it is gone")
    }
}
