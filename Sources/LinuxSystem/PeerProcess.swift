internal import CLinux
internal import Glibc

/// The process that connected a Unix socket, whoever has that socket by now.
package final class PeerProcess {
    package let processID: Int32
    private let descriptor: OwnedDescriptor
    /// Where the descriptor is of whoever has the number now: an instant of CLOCK_BOOTTIME in nanoseconds by which it was that
    /// process's.
    private let startedBy: Int64?

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
        processID = peer.processID
        let number = clx_peer_pidfd(socket)
        let isNamed = number >= 0
        guard isNamed || errno == ENOPROTOOPT else { throw Self.gone(peer.processID) }
        descriptor = isNamed ? OwnedDescriptor(number) : try .process(peer.processID)
        startedBy = isNamed ? nil : connectedBy
        try checkIsThere()
    }

    /// Whether it is there still, so that its number has been its own all the time.
    ///
    /// - Throws: where it is gone.
    private func checkIsThere() throws(SystemError) {
        guard !descriptor.waitReadable(milliseconds: 0) else { throw Self.gone(processID) }
    }

    /// Whether what was seen of its number since it connected was seen of it.
    ///
    /// - Parameter startedAt: when that process had started, on CLOCK_BOOTTIME in nanoseconds.
    package func isOne(startedAt: Int64) -> Bool {
        let mayBe = startedBy.map { startedAt <= $0 } ?? true
        return mayBe && (try? checkIsThere()) != nil
    }

    /// What confines it, by what was seen of its number since it was opened.
    ///
    /// - Parameters:
    ///   - view: `nil`: there was no such process.
    ///   - own: what it is measured against, where that alone is asked; see ``ProcessConfinement``.
    /// - Throws: where it is gone, or may not be looked at.
    package func confinement(
        _ view: ProcessView?, beyond own: ProcessConfinement? = nil
    ) throws(SystemError) -> ProcessConfinement {
        guard let view else { throw Self.gone(processID) }
        let confinement = try ProcessConfinement(view, beyond: own)
        guard isOne(startedAt: view.startedAt) else { throw Self.gone(processID) }
        return confinement
    }

    private static func gone(_ processID: Int32) -> SystemError {
        SystemError(operation: "look at process \(processID)", errno: ESRCH, detail: "it is gone")
    }
}
